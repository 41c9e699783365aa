/** A flood of messages, and the room that it leaves in the queue. */

import { expect } from 'vitest';
import { ALL_ALLOWED } from '../../../src/adapters/mqtt/allowances.ts';
import type { Link, Outgoing } from '../../../src/adapters/mqtt/link.ts';
import { createOutbox } from '../../../src/adapters/mqtt/outbox.ts';
import { createSender } from '../../../src/adapters/mqtt/sender.ts';
import type { LostMessage, QueueShare } from '../../../src/ports/bus.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const LIMITS = { messages: 500, bytes: 1_048_576 };
const TOKENS = { messages: 64, bytes: 131_072 };

/** A queue to a broker that acknowledges one message each `ackMs`. */
export function createQueue(ackMs: number) {
  const clock = createVirtualClock();
  const lost: LostMessage[] = [];
  const arrived: { topic: string; at: number }[] = [];
  const outbox = createOutbox({ general: LIMITS, answers: LIMITS, tokens: TOKENS }, (each) =>
    lost.push(each),
  );
  const sender = createSender(
    outbox,
    clock,
    () => false,
    () => {},
  );
  let freeAt = clock.now();
  const link: Link = {
    broker: 'the broker',
    version: 5,
    accepted: true,
    window: 16,
    largestPacketBytes: Number.POSITIVE_INFINITY,
    allowed: ALL_ALLOWED,
    congested: false,
    publish({ topic }: Outgoing, done) {
      arrived.push({ topic, at: clock.now() });
      freeAt = Math.max(freeAt, clock.now()) + ackMs;
      clock.at(freeAt, () => done(null));
    },
    subscribe: () => {},
    unsubscribe: (_subscriptions, done) => done(),
    end: () => {},
    destroy: () => {},
  };
  sender.attach(link);
  const publish = (topic: string, share: QueueShare, payload = '{}'): void => {
    outbox.add(topic, payload, { retain: false, properties: {}, share }, clock.now());
    sender.pump();
  };
  return { clock, lost, arrived, outbox, sender, publish };
}

/** Sends this many messages, one each millisecond: every answer arrives, and a token request leaves within 1 s. */
export function expectRoomsUnder(messages: number): void {
  // 50 ms each: 20 a second, a fiftieth of the input.
  const queue = createQueue(50);
  const asked: number[] = [];
  let answers = 0;
  for (let i = 0; i < messages; i += 1) {
    queue.publish('general', 'general');
    if (i % 100 === 0) queue.publish(`answer ${answers++}`, 'answers');
    if (i % 1000 === 500) {
      queue.publish(`token ${asked.length}`, 'tokens');
      asked.push(queue.clock.now());
    }
    queue.clock.advance(1);
  }
  queue.clock.advance(60_000);
  const at = (topic: string): number => queue.arrived.find((each) => each.topic === topic)?.at ?? Infinity;
  expect(asked).toHaveLength(messages / 1000);
  for (const [index, since] of asked.entries())
    expect(at(`token ${index}`) - since).toBeLessThanOrEqual(1000);
  expect(answers).toBe(messages / 100);
  for (let i = 0; i < answers; i += 1) expect(at(`answer ${i}`)).toBeLessThan(Infinity);
  expect(new Set(queue.lost.map(({ topic }) => topic))).toEqual(new Set(['general']));
  const general = queue.arrived.filter(({ topic }) => topic === 'general').length;
  expect(queue.outbox.counts).toMatchObject({ depth: 0, dropped: messages - general });
  expect(queue.lost).toHaveLength(messages - general);
}

/** While the broker is away, an hour's answers and requests stay queued, for any number of events. */
export function expectKeptBeside(events: number): void {
  const queue = createQueue(1);
  queue.sender.detach();
  queue.publish('token', 'tokens');
  for (let i = 0; i < 400; i += 1) queue.publish(`answer ${i}`, 'answers');
  for (let i = 0; i < events; i += 1) queue.publish('general', 'general', 'x'.repeat(5000));
  expect(queue.outbox.counts.depth).toBeLessThanOrEqual(401 + LIMITS.bytes / 5000);
  const kept: string[] = [];
  for (let message = queue.outbox.take(0); message !== null; message = queue.outbox.take(0))
    kept.push(message.topic);
  expect(kept.slice(0, 2)).toEqual(['token', 'answer 0']);
  expect(kept.filter((topic) => topic.startsWith('answer'))).toHaveLength(400);
}
