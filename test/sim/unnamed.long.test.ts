import { describe } from 'vitest';
import { testUnnamed } from './unnamed-tests.ts';

describe('speech in doubt', () => {
  testUnnamed(20, 0.3);
});
