import { testSilentMinutes } from './silent-minutes.ts';

testSilentMinutes(50_005, 1);
