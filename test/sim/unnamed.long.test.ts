import { describe } from 'vitest';
import { testUnnamed } from './unnamed-worlds.ts';

describe('speech in doubt', () => {
  testUnnamed(20, 0.3);
});
