import { describeHostileDevice } from './hostile-device.ts';

/** The long test covers the other combinations. */
describeHostileDevice([
  ['dynsec', 'certificate', 1],
  ['acl', 'password', 4],
]);
