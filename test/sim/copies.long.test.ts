import { describe } from 'vitest';
import { testCopies } from './copies.ts';

describe('a step, which changes its draft in place', () => {
  testCopies([[1_013_000_277, 1]]);
});
