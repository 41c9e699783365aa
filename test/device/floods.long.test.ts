import { describeFloods } from './floods.ts';

describeFloods(3000);
