/**
 * Tests that compare sound in real time to the millisecond: they need the machine for themselves (`npm run test:card`), and
 * would mostly be skipped beside others.
 */
export const ALONE = ['test/card/cancel.test.ts', 'test/card/loop-delay.test.ts'];
