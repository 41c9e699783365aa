import { describeNames } from './hostile-fields.ts';

describeNames(60);
