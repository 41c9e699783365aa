import { describeRenewal } from './renewal.ts';

describeRenewal(['dynsec']);
