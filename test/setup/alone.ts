/**
 * Tests of minutes of sound in real time, sample by sample: they need the machine for themselves (`npm run test:card`), and
 * would be skipped or fail beside others.
 */
export const ALONE = ['cancel', 'loop-delay', 'kiosk', 'program'].map((name) => `test/card/${name}.test.ts`);
