import { describe, it } from 'vitest';
import { expectKeptBeside, expectRoomsUnder } from './flooded-outbox.ts';

describe('the shares of the outbox', () => {
  it('deliver every answer, and a token request within 1 s, under 10,000 messages in 10 s', () => {
    expectRoomsUnder(10_000);
  });

  it('keep an hour’s answers and requests beside 10,000 events while the broker is away', () => {
    expectKeptBeside(10_000);
  });
});
