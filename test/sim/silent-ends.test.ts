import { testSilentMinutes } from './silent-ends-tests.ts';

testSilentMinutes(50_002, 0.25);
