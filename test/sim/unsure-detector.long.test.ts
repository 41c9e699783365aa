import { describeUnsureDetector } from './unsure-detector.ts';

describeUnsureDetector([4203, 4208]);
