import { describeDemo } from './demo.ts';

/** The other faults, and the limit that comes by itself, are the long test's. */
describeDemo({ rollsOver: false, faults: ['revoke', 'max-duration', 'network-drop'] });
