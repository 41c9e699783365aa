import { describe } from 'vitest';
import { MORE_CASES, testPowerCuts } from './power-cuts.ts';

describe('a power cut at any operation, with any legal loss, of more updates', () =>
  testPowerCuts(MORE_CASES));
