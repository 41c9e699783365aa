/** The cost of thousands of messages, in events and log lines. */
import { describe, expect, it } from 'vitest';
import type { ServiceEvent } from '../../src/ports/stream.ts';
import { stateSchema } from '../../src/protocol/mqtt/device.ts';
import { rejected, spoke, warned } from '../service-events.ts';
import { BASE, createFakeDeps } from './fake-deps.ts';

const MOST_EVENTS = 6;
const MOST_LOG_BYTES = 10_000;

/** A sentence of this length. */
export const sentence =
  (ms: number) =>
  (i: number): ServiceEvent =>
    spoke(new Uint8Array(ms * 48), { sentence: `s${i}`, utterance: `u${i}`, last: true });

const floods: readonly [string, (index: number) => ServiceEvent][] = [
  ['warnings', (i) => warned('warning', { code: `W${i}`, text: `${'x'.repeat(300)}${i}` })],
  ['errors', (i) => warned('error', { code: `E${i}`, text: `${'x'.repeat(300)}${i}` })],
  ['rejections', (i) => rejected(`x${i}`)],
  ['sentences faster than they can be spoken', sentence(200)],
];

export async function live() {
  const deps = createFakeDeps();
  await deps.goLive();
  return deps;
}
type Fake = Awaited<ReturnType<typeof live>>;

/** The events and lines since the last call; the first call starts the count. */
export function tally(deps: Fake) {
  const from = { published: deps.published.length, logged: deps.logged.length };
  return () => {
    const published = deps.published.slice(from.published);
    const logged = deps.logged.slice(from.logged);
    return {
      events: published.filter(({ topic }) => topic.includes('/event/')),
      states: published.filter(({ topic }) => topic.endsWith('/state')),
      lines: logged,
      logBytes: JSON.stringify(logged).length,
    };
  };
}

export function describeFloods(messages: number): void {
  describe(`${messages} commands too large to be read`, () => {
    it('cost two log lines a minute', async () => {
      const deps = await live();
      const told = tally(deps);
      for (let i = 0; i < messages; i++) deps.oversized(`${BASE}/cmd/x${i}`, 300_000);
      const { clock } = deps;
      clock.advance(70_000);
      const lines = told().lines.filter(([, sentence]) => String(sentence).includes('too large'));
      expect(lines.map(([, , fields]) => fields)).toEqual([
        { topic: `${BASE}/cmd/x0`, bytes: 300_000 },
        { topic: `${BASE}/cmd/x${messages - 1}`, bytes: 300_000, repeated: messages - 1 },
      ]);
    });
  });

  describe(`${messages} messages of the service`, () => {
    it.each(floods)('cause only a few events and log lines: %s', async (_name, make) => {
      const deps = await live();
      const told = tally(deps);
      for (let i = 0; i < messages; i++) {
        deps.service(make(i));
        deps.clock.advance(3);
      }
      expect(told().events.length).toBeLessThanOrEqual(MOST_EVENTS);
      expect(told().logBytes).toBeLessThan(MOST_LOG_BYTES);
      expect(told().states.length).toBeLessThanOrEqual(messages * 0.003 + 2);
    });

    it('report the sum of dropped speech, in events and in the state', async () => {
      const deps = await live();
      for (let i = 0; i < 60; i++) {
        deps.service(sentence(2000)(i));
        deps.clock.advance(3);
      }
      for (let i = 0; i < 220; i++) {
        deps.clock.advance(320);
        deps.speak(0, 1);
      }
      const told = deps.published
        .filter(({ topic }) => topic.endsWith('/event/speech_dropped'))
        .map(({ body }) => body as { dropped_ms: number; sentences: number });
      expect(told).toHaveLength(1);
      expect(told[0]?.sentences).toBeGreaterThan(10);
      const sumOf = (of: (one: (typeof told)[number]) => number): number =>
        told.reduce((sum, one) => sum + of(one), 0);
      const { lanes } = stateSchema.parse(deps.sent('state').at(-1)?.body);
      expect(lanes[0]?.speech_dropped_ms).toBeGreaterThan(0);
      expect(sumOf(({ dropped_ms: ms }) => ms)).toBe(lanes[0]?.speech_dropped_ms);
    });

    it('keep the state exact', async () => {
      const deps = await live();
      for (let i = 0; i < messages; i++) {
        deps.service(warned('warning', { code: `W${i}`, text: 'x' }));
      }
      deps.clock.advance(1000);
      const { lanes } = stateSchema.parse(deps.sent('state').at(-1)?.body);
      expect(lanes[0]?.last_warning?.code).toBe(`service_w${messages - 1}`);
    });

    it('cost one line a minute when they match no request', async () => {
      const deps = await live();
      const told = tally(deps);
      for (let i = 0; i < messages; i++) deps.lastStream().listener.oddity(`unknown message ${i}`);
      expect(told().lines).toHaveLength(1);
    });

    it('cost one event and one warning when they are unreadable', async () => {
      const deps = await live();
      const told = tally(deps);
      const { listener } = deps.lastStream();
      for (let i = 0; i < messages; i++) listener.unreadable('speech', `sound without data ${i}`);
      const { events, lines } = told();
      expect(events.map(({ topic }) => topic)).toEqual([`${BASE}/event/messages_unreadable`]);
      expect(lines).toMatchObject([
        ['warn', 'event messages_unreadable', { message: 'the service sends sound without data 0' }],
      ]);
      deps.clock.advance(2000);
      expect(deps.sent('status').at(-1)?.body).toMatchObject({ status: 'degraded', reasons: ['unreadable'] });
    });
  });

  describe(`${messages} messages on the topics of the device`, () => {
    it('cost one line of each kind when they are neither a token answer nor a known message', async () => {
      const deps = await live();
      const told = tally(deps);
      for (let i = 0; i < messages; i++) {
        deps.deliver(`${BASE}/token/res`, 'no json');
        deps.deliver(`${BASE}/token/res`, { id: `x${i}`, ok: true });
        deps.deliver(`${BASE}/token/res`, { id: `x${i}`, ok: false }, { retain: true });
        deps.deliver(`${BASE}/other/${i}`, '');
      }
      expect(told().lines.length).toBeLessThanOrEqual(5);
      expect(told().logBytes).toBeLessThan(1000);
    });
  });
}
