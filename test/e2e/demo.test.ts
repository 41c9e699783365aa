import { describeDemo } from './demo.ts';

/** The long test covers the other faults and the session limit. */
describeDemo({ rollsOver: false, faults: ['revoke', 'max-duration', 'network-drop'] });
