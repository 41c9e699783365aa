/** What a flood leaves of the queue to the broker. */
import { describe, expect, it } from 'vitest';
import { createQueue, expectKeptBeside, expectRoomsUnder } from './flooded-outbox.ts';

describe('the rooms of the outbox', () => {
  it('under 3,000 messages in 3 s: every answer arrives, and a token request leaves within 1 s', () => {
    expectRoomsUnder(3000);
  });

  it('while the broker is away: answers and requests of an hour wait, however many events come', () => {
    expectKeptBeside(2000);
  });

  it('keeps a place in the window for a token request', () => {
    const queue = createQueue(60_000_000);
    for (let i = 0; i < 100; i += 1) queue.publish('general', 'general');
    expect(queue.arrived).toHaveLength(15);
    queue.publish('token', 'tokens');
    expect(queue.arrived.at(-1)?.topic).toBe('token');
    queue.publish('token', 'tokens');
    expect(queue.arrived).toHaveLength(16);
  });
});
