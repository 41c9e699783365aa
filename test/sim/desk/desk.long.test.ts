import { describe } from 'vitest';
import { testConversations } from './conversations.ts';

describe('a desk, long', () =>
  testConversations([1, 2, ...Array.from({ length: 30 }, (_, index) => 100 + index)]));
