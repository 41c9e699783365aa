import { describe, expect, it } from 'vitest';
import type { LaneRunner, LaneStep } from '../../../src/device/lane/runner/lane-runner.ts';
import type { LaneEvent } from '../../../src/device/lane/state/lane-event.ts';
import { createTokenStore } from '../../../src/device/tokens/token-store.ts';
import { runTokens } from '../../../src/device/tokens/tokens.ts';
import { createEventLoop } from '../../../src/machine/event-loop.ts';
import { createRepeatFilter } from '../../../src/machine/repeat-filter.ts';
import { createRunner } from '../../../src/machine/runner.ts';
import type { Bus, PublishOptions } from '../../../src/ports/bus.ts';
import { deviceTopics } from '../../../src/protocol/mqtt/topics.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const TOPICS = deviceTopics({ prefix: 'dragoman/v1', tenant: 'museum', device: 'kiosk-01' });
const TOKEN = 'tok_SECRET-0123456789';

/** The tokens of one lane, which waits for `r1`. */
function start(phase = 'acquiring', attempt = 1) {
  const clock = createVirtualClock();
  const silent = (): void => {};
  const log = { trace: silent, debug: silent, info: silent, warn: silent, error: silent };
  const raise = (error: unknown): void => {
    throw error;
  };
  const runner = createRunner({
    clock,
    loop: createEventLoop(raise),
    defects: (_where, error) => raise(error),
  });
  const tokenStore = createTokenStore(() => 'h', ['*.service.example']);
  const sent: { body: Record<string, unknown>; options: PublishOptions }[] = [];
  const bus = {
    publish: (_topic: string, text: string, options: PublishOptions = {}) =>
      void sent.push({ body: JSON.parse(text), options }),
  } as unknown as Bus;
  const told: LaneEvent[] = [];
  const request = { id: 'r1', attempt };
  const lane = {
    id: 'main',
    phase,
    openRequest: request,
    tokenRequest: phase === 'standby' ? null : request,
    post: (event: LaneEvent) => void told.push(event),
  } as unknown as LaneRunner;
  const mayAsk: boolean[] = [];
  const outages: unknown[] = [];
  const tokens = runTokens({
    runner,
    topics: TOPICS,
    tokenStore,
    clock,
    log,
    repeats: createRepeatFilter(clock),
    seed: 7,
    signatures: null,
    newId: () => `wire-id-${sent.length + 1}`,
    bus: () => bus,
    lanes: [lane],
    trials: { pending: [], receive: silent, refused: silent },
    backendChanged: (outage) => void outages.push(outage),
    mayAsk: (may) => void mayAsk.push(may),
  });
  const ask = (attempt = 1): void => tokens.request('main', { id: 'r1', reason: 'start', attempt });
  const answer = (body: object): void => {
    const payload = JSON.stringify({ ts: null, id: 'wire-id-1', ...body });
    tokens.receive({ topic: TOPICS.tokenResponse, payload, retain: false });
  };
  const grant = (host: string): void =>
    answer({
      ok: true,
      session: {
        id: 'session-id-that-is-long',
        token: TOKEN,
        intent: 's2s',
        connection_type: 'ws',
        single_use: true,
        status: 'pending',
        created_at: '2026-01-15T09:00:00.000Z',
        connect_by: '2026-01-15T09:01:00.000Z',
      },
      stream_url: `wss://${host}/{random_hash}`,
    });
  return { clock, sent, told, tokens, tokenStore, ask, answer, grant, mayAsk, outages };
}

/** A step of the lane in which its phase changed. */
const rested = {
  lane: 'main',
  effects: [],
  before: { session: { kind: 'idle' } },
  after: { session: { kind: 'standby' } },
} as unknown as LaneStep;

describe('a request for a token', () => {
  it('goes out with QoS 1, in the share of tokens, and the broker drops it when it is too old', () => {
    const { sent, ask } = start();
    ask(2);
    expect(sent[0]?.body).toEqual({
      ts: expect.anything(),
      id: 'wire-id-1',
      lane: 'main',
      intent: 's2s',
      connection_type: 'ws',
      reason: 'start',
      attempt: 2,
    });
    expect(sent[0]?.options).toMatchObject({
      qos: 1,
      share: 'tokens',
      properties: {
        responseTopic: TOPICS.tokenResponse,
        correlationData: new TextEncoder().encode('wire-id-1'),
        expiryS: 30,
      },
    });
    expect(sent[0]?.options.retain ?? false).toBe(false);
  });

  it('is not in that share when it is a probe', () => {
    const { clock, sent, tokens } = start('standby');
    tokens.connected();
    tokens.onStep({ lane: 'main', effects: [], before: { session: {} }, after: { session: {} } } as never);
    expect(clock.armed).toBe(0);
    tokens.onStep(rested);
    clock.advance(61_000);
    expect(sent[0]?.body).toMatchObject({ probe: 'backend', reason: 'start', lane: 'main' });
    expect(sent[0]?.options).not.toHaveProperty('share');
    expect(sent[0]?.options.properties?.expiryS).toBe(20);
  });

  it('shows that the broker accepts requests again only when it was delivered', () => {
    const { sent, ask, tokens, mayAsk } = start();
    ask();
    tokens.lost({ topic: TOPICS.tokenRequest, why: 'refused' });
    sent[0]?.options.ended?.(false);
    expect(mayAsk).toEqual([false]);
    expect(tokens.counts.refusals).toBe(1);
    sent[0]?.options.ended?.(true);
    expect(mayAsk).toEqual([false, true]);
  });
});

describe('the backend', () => {
  it.each([
    [0, 0],
    [1, 1],
  ])('of a lane that has asked %i times is reported silent %i times', (attempt, times) => {
    const { clock, outages, tokens } = start('acquiring', attempt);
    tokens.connected();
    tokens.onStep(rested);
    clock.advance(20_000);
    expect(outages).toHaveLength(times);
  });
});

describe('an answer for the lane', () => {
  it('is a grant without the token, which the store keeps', () => {
    const { ask, grant, told, tokenStore } = start();
    ask();
    grant('eu.service.example');
    expect(told).toMatchObject([{ type: 'granted', grant: { id: 'r1', streamHost: 'eu.service.example' } }]);
    expect(JSON.stringify(told)).not.toContain(TOKEN);
    expect(tokenStore.target('r1')).toEqual({ address: 'wss://eu.service.example/h', token: TOKEN });
  });

  it('is unusable when the token must not be sent there, and names the host without the token', () => {
    const { ask, grant, told, tokenStore } = start();
    ask();
    grant(`${TOKEN}.evil.example`);
    grant('evil.example');
    expect(told).toMatchObject([
      { type: 'unusable', id: 'r1', message: expect.stringContaining('leads to [redacted].evil.example') },
      {
        type: 'unusable',
        id: 'r1',
        message: expect.stringMatching(/^the stream_url .* leads to evil\.example/),
      },
    ]);
    expect(tokenStore.target('r1')).toBeNull();
    grant('eu.service.example');
    expect(told.at(-1)).toMatchObject({ type: 'granted' });
  });

  it.each([
    ['so '.repeat(200), 'so '.repeat(200).slice(0, 200)],
    ['wire-id-1 is known', '[redacted] is known'],
  ])('is a denial whose text %j is shown as %j', (detail, message) => {
    const { ask, answer, told } = start();
    ask();
    answer({ ok: false, error: { code: 'busy'.repeat(20), title: 'Busy', detail, final: false } });
    const denial = { code: 'busy'.repeat(15), message, final: false, retryAfterMs: null };
    expect(told).toEqual([{ type: 'denied', id: 'r1', denial }]);
  });
});
