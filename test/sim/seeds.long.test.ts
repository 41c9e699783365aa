import { describe } from 'vitest';
import { CANCELLING_SEEDS, HOURS, REGRESSION_HOURS, SEEDS } from './fixed-seeds.ts';
import {
  testCancellingSeeds,
  testLessGated,
  testMostIsSaid,
  testRegressions,
  testRepeats,
  testSeeds,
} from './seed-tests.ts';

describe('the simulated world', () => {
  testSeeds(SEEDS, HOURS);
  testCancellingSeeds(CANCELLING_SEEDS, HOURS);
  testLessGated([4200, 4203], HOURS);
  testRegressions(REGRESSION_HOURS);
  testMostIsSaid(4200, HOURS);
  testRepeats(4200, 4201, HOURS);
});
