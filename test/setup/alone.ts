/**
 * Tests of minutes of sound in real time, sample by sample. They need an otherwise idle machine (`npm run test:card`); beside
 * other tests they would be skipped or fail.
 */
export const ALONE = ['cancel', 'loop-delay', 'kiosk', 'program'].map((name) => `test/card/${name}.test.ts`);
