import { describeSecondAuthority } from './second-authority.ts';

describeSecondAuthority([
  ['dynsec', 'certificate'],
  ['acl', 'certificate'],
  ['dynsec', 'password'],
]);
