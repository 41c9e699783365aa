import { describe } from 'vitest';
import { testRoom, testTokens } from './one-stream.ts';

describe('an account with room for one stream', () => {
  testTokens({ atUpgrade: 25, inMessage: 22, limitMs: 120_000 });
  testRoom(120_000);
});
