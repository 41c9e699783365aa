import { describe } from 'vitest';
import { testInstances, testManyKills } from './instances-tests.ts';

describe('two backends with one store', () => {
  testInstances(20);
  testManyKills();
});
