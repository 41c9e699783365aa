import { describeRenewal } from './renewal.ts';

describeRenewal(['acl']);
