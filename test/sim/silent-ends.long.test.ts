import { testSilentMinutes } from './silent-ends-tests.ts';

testSilentMinutes(50_005, 1);
