import { describeDemo } from './demo.ts';

/** `demo.long.test.ts` has the other faults, and the session limit that is reached without a fault. */
describeDemo({ rollsOver: false, faults: ['network-drop'] });
