/** The room that a flood leaves in the queue to the broker. */
import { describe, expect, it } from 'vitest';
import { createQueue, expectKeptBeside, expectRoomsUnder } from './flooded-outbox.ts';

describe('the shares of the outbox', () => {
  it('deliver every answer, and a token request within 1 s, under 3,000 messages in 3 s', () => {
    expectRoomsUnder(3000);
  });

  it('keep an hour’s answers and requests beside any number of events while the broker is away', () => {
    expectKeptBeside(2000);
  });

  it('keep a place in the window for a token request', () => {
    const queue = createQueue(60_000_000);
    for (let i = 0; i < 100; i += 1) queue.publish('general', 'general');
    expect(queue.arrived).toHaveLength(15);
    queue.publish('token', 'tokens');
    expect(queue.arrived.at(-1)?.topic).toBe('token');
    queue.publish('token', 'tokens');
    expect(queue.arrived).toHaveLength(16);
  });
});
