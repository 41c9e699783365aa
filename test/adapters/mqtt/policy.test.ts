import { describe, expect, it } from 'vitest';
import { createOutbox, expiryLeftS, type OutboxLimits } from '../../../src/adapters/mqtt/outbox.ts';
import {
  ASK_AGAIN_AFTER_MS,
  chooseVersion,
  noteFinding,
  UNKNOWN_BROKER,
} from '../../../src/adapters/mqtt/protocol-version.ts';
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
  for (let time = 0; time < times; time += 1) next = noteDown(next.state, { problem, protocol: 5 }, 0);
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
        return noteDown(first, { problem: 'unreachable', protocol: 5 }, lastedMs).waitMs;
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
      let { state, waitMs } = noteDown(beginReconnect(seed), { problem: 'unreachable', protocol: 5 }, 0);
      let now = waitMs;
      while (now < 4000) {
        ({ state, waitMs } = noteDown(state, { problem: 'unreachable', protocol: 5 }, now));
        now += waitMs;
      }
      expect(now).toBeLessThanOrEqual(8000);
    }
  });

  it('resets the wait only after a connection of one minute', () => {
    const tired = fail(beginReconnect(1), 6).state;
    const short = noteDown(
      noteUp(tired, 1000),
      { problem: 'unreachable', protocol: 5 },
      1000 + STABLE_AFTER_MS - 1,
    );
    expect(short.state.failures).toBe(7);
    const long = noteDown(
      noteUp(tired, 1000),
      { problem: 'unreachable', protocol: 5 },
      1000 + STABLE_AFTER_MS,
    );
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

  it('counts only quick silent closes in a row', () => {
    const close = (state: ReconnectState, lastedMs: number, silent: boolean) =>
      noteDown(noteUp(state, 0), { problem: 'unreachable', protocol: 5, ...(silent && { silent }) }, lastedMs)
        .state;
    const two = close(close(beginReconnect(1), 10, true), 10, true);
    expect(two.quickCloses).toBe(2);
    expect(close(two, 10, false).quickCloses).toBe(0);
    expect(close(close(beginReconnect(1), 10, true), STABLE_AFTER_MS, true).quickCloses).toBe(0);
    expect(noteDown(two, { problem: 'unreachable', silent: true, protocol: 5 }, 5).state.quickCloses).toBe(0);
  });
});

describe('protocol version', () => {
  it('tries 5 first, and again an hour after a refusal', () => {
    expect(chooseVersion(UNKNOWN_BROKER, 0)).toBe(5);
    const refused = noteFinding(UNKNOWN_BROKER, 5, 'unsupported', 100);
    expect(chooseVersion(refused, 100)).toBe(4);
    expect(chooseVersion(refused, 100 + ASK_AGAIN_AFTER_MS - 1)).toBe(4);
    expect(chooseVersion(refused, 100 + ASK_AGAIN_AFTER_MS)).toBe(5);
    expect(noteFinding(refused, 5, 'accepted', 0)).toEqual({ ...UNKNOWN_BROKER, has5: true });
    expect(noteFinding(refused, 4, 'accepted', 0)).toEqual(refused);
  });

  it('does not suspect a broker known for MQTT 5 before five hang-ups in a row', () => {
    let memory = noteFinding(UNKNOWN_BROKER, 5, 'accepted', 0);
    for (let time = 0; time < 4; time += 1) memory = noteFinding(memory, 5, 'hung_up', 0);
    expect(chooseVersion(memory, 0)).toBe(5);
    expect(chooseVersion(noteFinding(noteFinding(memory, 5, 'other', 0), 5, 'hung_up', 0), 0)).toBe(5);
    expect(chooseVersion(noteFinding(memory, 5, 'hung_up', 0), 0)).toBe(4);
  });

  it('suspects after a silent hang-up, which 3.1.1 must confirm', () => {
    const suspected = noteFinding(UNKNOWN_BROKER, 5, 'hung_up', 0);
    expect(chooseVersion(suspected, 0)).toBe(4);
    expect(chooseVersion(noteFinding(suspected, 4, 'hung_up', 0), 0)).toBe(5);
    expect(chooseVersion(noteFinding(suspected, 4, 'other', 0), 0)).toBe(5);
    const confirmed = noteFinding(suspected, 4, 'accepted', 50);
    expect(chooseVersion(confirmed, 60)).toBe(4);
    expect(noteFinding(UNKNOWN_BROKER, 5, 'other', 0)).toEqual(UNKNOWN_BROKER);
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

  it('drops a message after three lost connections', () => {
    const outbox = createOutbox(each({ messages: 9, bytes: 1000 }));
    outbox.add('t', 'poison', plain, 0);
    for (let connection = 0; connection < 3; connection += 1) {
      expect(outbox.take(0)?.payload).toBe('poison');
      outbox.unsend();
    }
    expect(outbox.take(0)).toBeNull();
    expect(outbox.counts.dropped).toBe(1);
  });

  it.each([
    ['before it was sent again', false],
    ['while it was in flight', true],
  ])(
    'carries the lost connections of a retained message over to the one that replaced it %s',
    (_, isEarly) => {
      const outbox = createOutbox(each({ messages: 9, bytes: 1000 }));
      outbox.add('s', 'old', kept, 0);
      outbox.take(0);
      expect(outbox.suspect(0, false)).toBeNull();
      if (isEarly) outbox.add('s', 'new', kept, 0);
      outbox.unsend();
      if (!isEarly) outbox.add('s', 'new', kept, 0);
      expect(outbox.isSuspicious(0)).toBe(true);
      expect(outbox.take(0)?.payload).toBe('new');
      expect(outbox.suspect(0, false)).toBe('s');
      outbox.add('other', 'x', plain, 0);
      outbox.take(0);
      expect(outbox.suspect(0, false)).toBeNull();
    },
  );

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
        const flying: NonNullable<ReturnType<typeof outbox.take>>[] = [];
        for (const { kind, size } of acts) {
          if (kind === 'add') {
            outbox.add('t', 'x'.repeat(size), plain, 0);
            added += 1;
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
          expect(waiting + inFlight).toBeLessThanOrEqual(10 + 4);
          expect(inFlight).toBe(flying.length);
        }
      }),
    );
  });
});
