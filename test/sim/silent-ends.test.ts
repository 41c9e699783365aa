import { testSilentMinutes } from './silent-minutes.ts';

testSilentMinutes(50_002, 0.25);
