import { describe } from 'vitest';
import { QUICK_CANCELLING_SEEDS, QUICK_HOURS, QUICK_SEEDS } from './fixed-seeds.ts';
import { testCancellingSeeds, testLessGated, testMostIsSaid, testRepeats, testSeeds } from './seed-tests.ts';

describe('the simulated world', () => {
  testSeeds(QUICK_SEEDS, QUICK_HOURS);
  testCancellingSeeds(QUICK_CANCELLING_SEEDS, QUICK_HOURS);
  testLessGated([4200], QUICK_HOURS);
  testMostIsSaid(4200, QUICK_HOURS);
  testRepeats(4205, 4200, QUICK_HOURS);
});
