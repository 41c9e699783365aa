import { describeHostileDevice } from './hostile-device.ts';

/** The others are the long test's. */
describeHostileDevice([
  ['dynsec', 'certificate'],
  ['acl', 'password'],
]);
