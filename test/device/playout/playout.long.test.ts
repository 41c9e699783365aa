import { describe } from 'vitest';
import { testAnyInput } from './playout-tests.ts';

describe('with any input', () => testAnyInput(60));
