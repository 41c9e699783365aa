import { describe } from 'vitest';
import { testNotice } from './notice-tests.ts';

describe('the notice of a conversation, in the simulated world', () => testNotice([1], 0.75));
