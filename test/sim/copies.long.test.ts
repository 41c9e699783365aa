import { describe } from 'vitest';
import { testCopies } from './copies.ts';

describe('a lane step that changes its draft in place', () => {
  testCopies([[1_013_000_277, 1]]);
});
