import { describeHostileDevice } from './hostile-device.ts';

describeHostileDevice([
  ['dynsec', 'password'],
  ['dynsec', 'certificate'],
  ['acl', 'password'],
  ['acl', 'certificate'],
]);
