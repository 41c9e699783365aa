import { describe } from 'vitest';
import { testConversations } from './conversations.ts';

describe('a desk', () => testConversations([1]));
