import { describe, it } from 'vitest';
import { expectKeptBeside, expectRoomsUnder } from './flooded-outbox.ts';

describe('the rooms of the outbox', () => {
  it('under 10,000 messages in 10 s: every answer arrives, and a token request leaves within 1 s', () => {
    expectRoomsUnder(10_000);
  });

  it('while the broker is away: answers and requests of an hour wait, beside 10,000 events', () => {
    expectKeptBeside(10_000);
  });
});
