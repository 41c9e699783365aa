import { describe, expect, it } from 'vitest';
import { createOutbox, expiryLeftS, type OutboxLimits } from '../../../src/adapters/mqtt/outbox.ts';
import { ASK_AGAIN_AFTER_MS, createVersionChoice } from '../../../src/adapters/mqtt/protocol-version.ts';
import { createVersionMemory } from '../../../src/adapters/mqtt/version-memory.ts';
import {
  beginReconnect,
  noteDown,
  noteUp,
  type ReconnectState,
  SLOW_BACKOFF,
  STABLE_AFTER_MS,
  UNREACHABLE_BACKOFF,
} from '../../../src/core/retry/reconnect.ts';
import type { BusProblem } from '../../../src/ports/bus.ts';
import { fc } from '../../properties.ts';

const fail = (state: ReconnectState, times: number, problem: BusProblem = 'unreachable') => {
  let next = { state, waitMs: 0 };
  for (let time = 0; time < times; time += 1) next = noteDown(next.state, { problem }, 0);
  return next;
};

describe('reconnecting', () => {
  it('waits a random part of the outage so far, bounded by 1 s and 120 s', () => {
    for (const [lastedMs, boundMs] of [
      [0, 1000],
      [700, 1000],
      [16_000, 16_000],
      [119_000, 119_000],
      [3_600_000, 120_000],
    ] as const) {
      const waits = Array.from({ length: 300 }, (_, seed) => {
        const first = fail(beginReconnect(seed * 7919), 3).state;
        return noteDown(first, { problem: 'unreachable' }, lastedMs).waitMs;
      });
      expect(Math.max(...waits)).toBeLessThanOrEqual(boundMs);
      expect(Math.max(...waits)).toBeGreaterThan(boundMs * 0.9);
      expect(Math.min(...waits)).toBeLessThan(boundMs * 0.1 + UNREACHABLE_BACKOFF.floorMs);
      const mean = waits.reduce((sum, wait) => sum + wait, 0) / waits.length;
      expect(mean / boundMs).toBeGreaterThan(0.4);
      expect(mean / boundMs).toBeLessThan(0.6);
    }
  });

  it('reconnects soon after a short outage, for any number of attempts', () => {
    for (let seed = 0; seed < 200; seed += 1) {
      let { state, waitMs } = noteDown(beginReconnect(seed), { problem: 'unreachable' }, 0);
      let now = waitMs;
      while (now < 4000) {
        ({ state, waitMs } = noteDown(state, { problem: 'unreachable' }, now));
        now += waitMs;
      }
      expect(now).toBeLessThanOrEqual(8000);
    }
  });

  it('resets the wait only after a connection of one minute', () => {
    const tired = fail(beginReconnect(1), 6).state;
    const short = noteDown(noteUp(tired, 1000), { problem: 'unreachable' }, 1000 + STABLE_AFTER_MS - 1);
    expect(short.state.failures).toBe(7);
    const long = noteDown(noteUp(tired, 1000), { problem: 'unreachable' }, 1000 + STABLE_AFTER_MS);
    expect(long.state.failures).toBe(1);
  });

  it('waits long after a refusal', () => {
    for (let seed = 0; seed < 100; seed += 1) {
      const first = fail(beginReconnect(seed), 1, 'refused').waitMs;
      expect(first).toBeGreaterThanOrEqual(30_000);
      expect(first).toBeLessThanOrEqual(60_000);
      expect(fail(beginReconnect(seed), 20, 'refused').waitMs).toBeLessThanOrEqual(SLOW_BACKOFF.capMs);
    }
  });
});

describe('protocol version', () => {
  it('is 5, but 3.1.1 for an hour after the broker answered that it does not know 5', () => {
    const versions = createVersionChoice(createVersionMemory());
    const broker = { url: 'mqtt://one.example' };
    expect(versions.choose(broker, 0)).toBe(5);
    expect(versions.failed(broker, 5, { lacks5: true }, 100)).toBe(true);
    expect(versions.choose(broker, 100)).toBe(4);
    expect(versions.choose(broker, 100 + ASK_AGAIN_AFTER_MS - 1)).toBe(4);
    expect(versions.choose(broker, 100 + ASK_AGAIN_AFTER_MS)).toBe(5);
    expect(versions.choose({ url: 'mqtt://two.example' }, 100)).toBe(5);
  });
});

const each = (limits: OutboxLimits) => ({ general: limits, answers: limits, tokens: limits });
const plain = { retain: false, properties: {} };
const kept = { retain: true, properties: {} };

describe('outbox', () => {
  it('drops and counts the oldest waiting message when full, never one in flight', () => {
    const outbox = createOutbox(each({ messages: 3, bytes: 1000 }));
    outbox.add('a', '1', plain, 0);
    const first = outbox.take(0);
    for (const payload of ['2', '3', '4', '5']) outbox.add('a', payload, plain, 0);
    expect(outbox.counts).toEqual({ waiting: 2, inFlight: 1, depth: 3, dropped: 2, expired: 0 });
    expect([outbox.take(0)?.payload, outbox.take(0)?.payload, outbox.take(0)]).toEqual(['4', '5', null]);
    if (first) outbox.settle(first);
    expect(outbox.counts).toMatchObject({ waiting: 0, inFlight: 2 });
  });

  it('bounds bytes too, and drops only a message that is larger than the queue', () => {
    const outbox = createOutbox(each({ messages: 100, bytes: 100 }));
    outbox.add('t', 'x'.repeat(60), plain, 0);
    outbox.add('t', 'x'.repeat(200), plain, 0);
    expect(outbox.counts).toMatchObject({ waiting: 1, dropped: 1 });
    outbox.add('t', 'ü'.repeat(30), plain, 0);
    expect(outbox.counts).toMatchObject({ waiting: 1, dropped: 2 });
  });

  it('replaces only a waiting retained message', () => {
    const outbox = createOutbox(each({ messages: 9, bytes: 1000 }));
    outbox.add('s', 'old', kept, 0);
    outbox.add('s', 'event', plain, 0);
    outbox.add('s', 'mid', kept, 0);
    expect(outbox.take(0)?.payload).toBe('event');
    expect(outbox.take(0)?.payload).toBe('mid');
    outbox.add('s', 'new', kept, 0);
    expect(outbox.counts).toMatchObject({ waiting: 1, inFlight: 2, dropped: 0 });
    outbox.unsend();
    expect([outbox.take(0)?.payload, outbox.take(0)?.payload, outbox.take(0)]).toEqual([
      'event',
      'new',
      null,
    ]);
    expect(outbox.counts.dropped).toBe(0);
  });

  it('skips expired messages, and returns the remaining expiry', () => {
    const outbox = createOutbox(each({ messages: 9, bytes: 1000 }));
    outbox.add('t', 'short', { retain: false, properties: { expiryS: 10 } }, 0);
    outbox.add('t', 'long', { retain: false, properties: { expiryS: 60 } }, 0);
    const message = outbox.take(10_000);
    expect(message?.payload).toBe('long');
    expect(message && expiryLeftS(message, 10_400)).toBe(50);
    expect(message && expiryLeftS(message, 59_990)).toBe(1);
    expect(outbox.counts.expired).toBe(1);
  });

  it('drops a message after ten lost connections', () => {
    const outbox = createOutbox(each({ messages: 9, bytes: 1000 }));
    outbox.add('t', 'poison', plain, 0);
    for (let connection = 0; connection < 10; connection += 1) {
      expect(outbox.take(0)?.payload).toBe('poison');
      outbox.unsend();
    }
    expect(outbox.take(0)).toBeNull();
    expect(outbox.counts.dropped).toBe(1);
  });

  it('sends one message at a time after a lost connection, so that only the cause loses many', () => {
    const outbox = createOutbox(each({ messages: 9, bytes: 1000 }));
    outbox.add('a', 'x', plain, 0);
    outbox.add('b', 'x', plain, 0);
    outbox.take(0);
    expect([outbox.isSuspicious(), outbox.unansweredTopic()]).toEqual([false, 'a']);
    outbox.take(0);
    expect(outbox.unansweredTopic()).toBeNull();
    outbox.unsend();
    expect(outbox.isSuspicious()).toBe(true);
  });

  it('drops the messages on a blocked topic for four minutes, and token requests for 15 s', () => {
    const lost: string[] = [];
    const outbox = createOutbox(each({ messages: 9, bytes: 1000 }), ({ topic }) => void lost.push(topic));
    outbox.block({ topic: 'state', share: 'general' }, 0);
    outbox.block({ topic: 'token/req', share: 'tokens' }, 0);
    // A second message was on its way when the first was refused.
    outbox.block({ topic: 'state', share: 'general' }, 40);
    const addBoth = (now: number): void => {
      for (const topic of ['state', 'token/req']) outbox.add(topic, 'x', plain, now);
    };
    addBoth(14_999);
    expect(lost).toEqual(['state', 'token/req']);
    addBoth(15_000);
    expect(lost).toEqual(['state', 'token/req', 'state']);
    addBoth(240_000);
    expect(lost).toHaveLength(3);
  });

  it('accounts for every message and stays within its bounds, for any order of calls', () => {
    const act = fc.oneof(
      fc.record({ kind: fc.constant('add' as const), size: fc.integer({ min: 1, max: 50 }) }),
      fc.record({
        kind: fc.constantFrom('take' as const, 'settle' as const, 'unsend' as const),
        size: fc.constant(0),
      }),
    );
    void fc.assert(
      fc.property(fc.array(act, { maxLength: 200 }), (acts) => {
        const outbox = createOutbox(each({ messages: 10, bytes: 200 }));
        let added = 0;
        let settled = 0;
        const ended: number[] = [];
        const flying: NonNullable<ReturnType<typeof outbox.take>>[] = [];
        for (const { kind, size } of acts) {
          if (kind === 'add') {
            const number = added++;
            outbox.add('t', 'x'.repeat(size), { ...plain, ended: () => ended.push(number) }, 0);
          } else if (kind === 'take') {
            const message = flying.length < 4 ? outbox.take(0) : null;
            if (message) flying.push(message);
          } else if (kind === 'settle') {
            const message = flying.shift();
            if (message) {
              outbox.settle(message);
              settled += 1;
            }
          } else {
            outbox.unsend();
            flying.length = 0;
          }
          const { waiting, inFlight, dropped } = outbox.counts;
          expect(waiting + inFlight + dropped + settled).toBe(added);
          // What waits for the end of a message, such as an answer, is forgotten with it.
          expect(new Set(ended).size).toBe(dropped + settled);
          expect(ended.length).toBe(dropped + settled);
          expect(waiting + inFlight).toBeLessThanOrEqual(10 + 4);
          expect(inFlight).toBe(flying.length);
        }
      }),
    );
  });
});
