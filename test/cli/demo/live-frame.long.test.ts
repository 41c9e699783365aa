import { describe } from 'vitest';
import { testAnyText } from './live-frame-tests.ts';

describe('the output to the terminal', () => testAnyText(200));
