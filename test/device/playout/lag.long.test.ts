import { describe } from 'vitest';
import { testAnySentences } from './lag-tests.ts';

describe('with any input', () => testAnySentences(150));
