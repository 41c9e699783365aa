import { describeHostileDevice } from './hostile-device.ts';

describeHostileDevice([
  ['dynsec', 'password', 1],
  ['dynsec', 'certificate', 1],
  ['acl', 'password', 1],
  ['acl', 'certificate', 1],
]);
