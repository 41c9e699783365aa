import { describeHostileDevice } from './hostile-device.ts';

/** The others are the long test's. */
describeHostileDevice([
  ['dynsec', 'certificate', 1],
  ['acl', 'password', 4],
]);
