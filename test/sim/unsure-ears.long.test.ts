import { describeUnsureEars } from './unsure-ears.ts';

describeUnsureEars([4203, 4206]);
