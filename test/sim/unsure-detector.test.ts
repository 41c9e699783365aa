import { describeUnsureDetector } from './unsure-detector.ts';

describeUnsureDetector([4202], 0.15);
