import { describe } from 'vitest';
import { testCopies } from './copies.ts';

describe('a step, which changes its draft in place', () => {
  testCopies([[50_003, 0.1]]);
});
