import { describeUnsureDetector } from './unsure-detector.ts';

describeUnsureDetector([4200]);
