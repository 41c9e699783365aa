/** What thousands of messages cost in events and log lines. */
import { describe, expect, it } from 'vitest';
import { createRepeatFilter } from '../../src/agent/repeat-filter.ts';
import type { StreamMessage } from '../../src/ports/stream.ts';
import { stateSchema } from '../../src/protocol/mqtt/device.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { BASE, createFakeDeps } from './fake-deps.ts';

const MESSAGES = 3000;
const MOST_EVENTS = 6;
const MOST_LOG_BYTES = 10_000;

/** A sentence of this length. */
const sentence =
  (ms: number) =>
  (i: number): StreamMessage => ({
    ...{ message_type: 'output_audio', pcm: new Uint8Array(ms * 48), sentence: `s${i}` },
    ...{ language: null, utterance: `u${i}`, last: true },
  });

const floods: readonly [string, (index: number) => StreamMessage][] = [
  [
    'warnings',
    (i) => ({ message_type: 'warning', data: { code: `W${i}`, message: `${'x'.repeat(300)}${i}` } }),
  ],
  ['errors', (i) => ({ message_type: 'error', data: { code: `E${i}`, desc: `${'x'.repeat(300)}${i}` } })],
  ['rejections', (i) => ({ message_type: 'error', data: { code: 'VALIDATION_ERROR', desc: `x${i}` } })],
  ['sentences faster than they can be spoken', sentence(200)],
];

async function live() {
  const deps = createFakeDeps();
  await deps.goLive();
  return deps;
}
type Fake = Awaited<ReturnType<typeof live>>;

/** What has been told since; the first call begins. */
function tally(deps: Fake) {
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

describe('3,000 commands too large to be read', () => {
  it('are told in two lines a minute', async () => {
    const deps = await live();
    const told = tally(deps);
    for (let i = 0; i < MESSAGES; i++) deps.oversized(`${BASE}/cmd/x${i}`, 300_000);
    const { clock } = deps;
    clock.advance(70_000);
    const lines = told().lines.filter(([, sentence]) => String(sentence).includes('too large to be read'));
    expect(lines.map(([, , fields]) => fields)).toEqual([
      { topic: `${BASE}/cmd/x0`, bytes: 300_000 },
      { topic: `${BASE}/cmd/x${MESSAGES - 1}`, bytes: 300_000, repeated: MESSAGES - 1 },
    ]);
  });
});

describe('3,000 messages of the service', () => {
  it.each(floods)('%s: a handful of events and lines', async (_name, make) => {
    const deps = await live();
    const told = tally(deps);
    for (let i = 0; i < MESSAGES; i++) {
      deps.service(make(i));
      deps.clock.advance(3);
    }
    expect(told().events.length).toBeLessThanOrEqual(MOST_EVENTS);
    expect(told().logBytes).toBeLessThan(MOST_LOG_BYTES);
    expect(told().states.length).toBeLessThanOrEqual(MESSAGES * 0.003 + 2);
  });

  it('tell the sum of what they had dropped, in events and in state', async () => {
    const deps = await live();
    for (let i = 0; i < 60; i++) {
      deps.service(sentence(2000)(i));
      deps.clock.advance(3);
    }
    deps.clock.advance(70_000);
    const told = deps.published
      .filter(({ topic }) => topic.endsWith('/event/speech_dropped'))
      .map(({ body }) => body as { dropped_ms: number; sentences: number; repeated?: number });
    const [last] = told.slice(-1);
    expect(last?.repeated).toBeGreaterThan(10);
    expect(last?.sentences).toBeGreaterThanOrEqual(last?.repeated ?? 0);
    const sumOf = (of: (one: (typeof told)[number]) => number): number =>
      told.reduce((sum, one) => sum + of(one), 0);
    const { lanes } = stateSchema.parse(deps.sent('state').at(-1)?.body);
    expect(lanes[0]?.speech_dropped_ms).toBeGreaterThan(0);
    expect(sumOf(({ dropped_ms: ms }) => ms)).toBe(lanes[0]?.speech_dropped_ms);
  });

  it('leave the state exact', async () => {
    const deps = await live();
    for (let i = 0; i < MESSAGES; i++) {
      deps.service({ message_type: 'warning', data: { code: `W${i}`, message: 'x' } });
    }
    deps.clock.advance(1000);
    const { lanes } = stateSchema.parse(deps.sent('state').at(-1)?.body);
    expect(lanes[0]?.last_warning?.code).toBe(`service_w${MESSAGES - 1}`);
  });

  it('that nobody expects cost one line a minute', async () => {
    const deps = await live();
    const told = tally(deps);
    for (let i = 0; i < MESSAGES; i++) deps.lastStream().listener.oddity(`unknown message ${i}`);
    expect(told().lines).toHaveLength(1);
  });

  it('that nobody can read are told once, in one event and one warning', async () => {
    const deps = await live();
    const told = tally(deps);
    const { listener } = deps.lastStream();
    for (let i = 0; i < MESSAGES; i++) listener.unreadable('speech', `sound without data ${i}`);
    const { events, lines } = told();
    expect(events.map(({ topic }) => topic)).toEqual([`${BASE}/event/messages_unreadable`]);
    expect(lines).toMatchObject([
      ['warn', 'event messages_unreadable', { message: 'the service sends sound without data 0' }],
    ]);
    deps.clock.advance(2000);
    expect(deps.sent('status').at(-1)?.body).toMatchObject({ status: 'degraded', reasons: ['unreadable'] });
  });
});

describe('3,000 messages on the topics of the device', () => {
  it('that are no token answer, or none of ours, cost a line of each kind', async () => {
    const deps = await live();
    const told = tally(deps);
    for (let i = 0; i < MESSAGES; i++) {
      deps.deliver(`${BASE}/token/res`, 'no json');
      deps.deliver(`${BASE}/token/res`, { id: `x${i}`, ok: true });
      deps.deliver(`${BASE}/token/res`, { id: `x${i}`, ok: false }, { retain: true });
      deps.deliver(`${BASE}/other/${i}`, '');
    }
    expect(told().lines.length).toBeLessThanOrEqual(5);
    expect(told().logBytes).toBeLessThan(1000);
  });
});

describe('what is counted', () => {
  it('is told at the end of the minute: the last one, when it happened, and how many there were', async () => {
    const deps = await live();
    const told = tally(deps);
    for (let i = 0; i < 20; i++) {
      deps.service(sentence(2000)(i));
      deps.clock.advance(10);
    }
    const inTheMinute = told().events.length;
    const lastAt = deps.clock.wall();
    deps.clock.advance(66_000);
    const late = told()
      .events.slice(inTheMinute)
      .filter(({ topic }) => topic.endsWith('speech_dropped'));
    expect(inTheMinute).toBe(5);
    expect(late).toHaveLength(1);
    expect(late[0]?.body['repeated']).toBeGreaterThan(0);
    expect(Date.parse(String(late[0]?.body['ts']))).toBeLessThanOrEqual(lastAt ?? 0);
    deps.clock.advance(600_000);
    expect(told().events.filter(({ topic }) => topic.endsWith('speech_dropped'))).toHaveLength(6);
  });

  it('is told at the end of the agent, too', async () => {
    const deps = await live();
    for (let i = 0; i < 9; i++) deps.command('mute', 'no json');
    const stopped = deps.agent.stop();
    deps.lastStream().listener.ended(1000, '');
    await deps.clock.elapse(10_000);
    await stopped;
    const lines = deps.logged.filter(([, sentence]) => String(sentence).includes('usable id'));
    expect(lines.map(([, , fields]) => fields)).toEqual([
      { command: 'mute' },
      { command: 'mute', repeated: 8 },
    ]);
  });

  it('behind the end costs its first one, and no timer that would outlive the agent', () => {
    const clock = createVirtualClock();
    const repeats = createRepeatFilter(clock);
    repeats.close();
    const told: number[] = [];
    for (let i = 0; i < 5; i++) repeats.tell('late', (repeated) => told.push(repeated));
    expect(told).toEqual([0]);
    expect(clock.armed).toBe(0);
  });
});
