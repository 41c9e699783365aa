import { describeUnsureEars } from './unsure-ears.ts';

describeUnsureEars([4200]);
