import { describe } from 'vitest';
import { testConversations } from './conversations.ts';

describe('a desk, long', () => testConversations(Array.from({ length: 30 }, (_, index) => 100 + index)));
