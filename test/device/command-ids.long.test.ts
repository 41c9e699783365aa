import { describeKillMoments } from './kill-moments.ts';

describeKillMoments(1);
