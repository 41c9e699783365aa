import { describeUnsureDetector } from './unsure-detector.ts';

describeUnsureDetector([4200, 4203, 4208], 0.5);
