import { describe, expect, it } from 'vitest';
import type { Ask, IssuerEffect } from '../../../src/backend/issuing/issue-event.ts';
import { createIssuer } from '../../../src/backend/issuing/issuer.ts';
import type { Trouble } from '../../../src/backend/service/service-trouble.ts';
import { makeAsk, makeConfig, makeSession, trouble } from './issuer-parts.ts';
import { testAnyOrder } from './issuer-tests.ts';
import { createIssuerWithBooks } from './memory-books.ts';

/** An issuer with direct control; `effects` are those of the last event. */
function drive(more: object = {}) {
  const issuer = createIssuerWithBooks(makeConfig(more));
  let now = 1000;
  const kinds = (effects: IssuerEffect[]) => effects.map((effect) => effect.type);
  return {
    issuer,
    kinds,
    pass(ms: number) {
      now += ms;
    },
    ask: (ask: Ask, draw = 0) => issuer.handle({ type: 'asked', ask, draw }, now),
    malformed: (device: string) =>
      issuer.handle(
        {
          type: 'malformed',
          who: { tenant: 'museum', device },
          id: 'x',
          reply: { topic: 't' },
          detail: 'wrong',
        },
        now,
      ),
    created: (job: number, id: string) =>
      issuer.handle({ type: 'created', job, session: makeSession(id), draw: 0 }, now),
    failed: (job: number, what: Trouble) =>
      issuer.handle({ type: 'failed', job, trouble: what, draw: 0 }, now),
    ended(job: number, ids: readonly string[] = []) {
      issuer.gone({ tenant: 'museum', device: 'kiosk' }, ids, now);
      return issuer.handle({ type: 'ended', job, draw: 0 }, now);
    },
    /** Sends a request and lets the service create the session at once. */
    grant(ask: Ask, sessionId: string): IssuerEffect | undefined {
      const effects = this.ask(ask);
      const job = jobOf(effects);
      const made = effects[0]?.type === 'end' ? jobOf(this.ended(job)) : job;
      return this.created(made, sessionId)[0];
    },
  };
}

const jobOf = (effects: IssuerEffect[]): number => {
  const effect = effects.find((candidate) => 'job' in candidate);
  if (effect === undefined || !('job' in effect)) throw new Error('no job was begun');
  return effect.job;
};
const errorOf = (effect: IssuerEffect | undefined) =>
  effect?.type === 'answer' && !effect.answer.ok ? effect.answer.error : null;
const tokenOf = (effect: IssuerEffect | undefined) =>
  effect?.type === 'answer' && effect.answer.ok ? effect.answer.session.token : null;

describe('issuer', () => {
  it('makes a session on the configured terms, labelled with the lane, and answers at the reply address', () => {
    const harness = drive({ session: { expiresInSeconds: 90, maxSessionDurationSeconds: 600 } });
    const ask = makeAsk('r1');
    const [create] = harness.ask(ask);
    expect(create).toEqual({
      type: 'create',
      job: 1,
      input: {
        intent: 's2s',
        connection_type: 'ws',
        expires_in_seconds: 90,
        max_session_duration_seconds: 600,
        single_use: true,
        client_reference_id: 'museum/kiosk/main',
      },
    });
    const [answer] = harness.created(1, 's1');
    expect(answer).toMatchObject({ type: 'answer', id: 'r1', reply: ask.reply, repeated: false });
    expect(tokenOf(answer)).toBe('token-of-s1');
    expect(harness.issuer.jobs).toBe(0);
  });

  it('repeats a fresh answer to the same request without a new session', () => {
    const harness = drive();
    harness.grant(makeAsk('r1'), 's1');
    harness.pass(20_000);
    const again = harness.ask(makeAsk('r1', { attempt: 2 }));
    expect(harness.kinds(again)).toEqual(['answer']);
    expect(tokenOf(again[0])).toBe('token-of-s1');
    expect(again[0]).toMatchObject({ repeated: true });
  });

  it('replaces the unused session when its answer is too old to repeat', () => {
    const harness = drive();
    harness.grant(makeAsk('r1'), 's1');
    harness.pass(40_000);
    const effects = harness.ask(makeAsk('r1'));
    expect(effects).toMatchObject([{ type: 'end', job: 2, lane: 'main', sessionId: 's1' }]);
    expect(harness.kinds(harness.ended(2))).toEqual(['create']);
  });

  it('answers once, at the newest reply topic, when a request is repeated during session creation', () => {
    const harness = drive();
    harness.ask(makeAsk('r1'));
    const repeated = { ...makeAsk('r1', { attempt: 2 }), reply: { topic: 'p/museum/kiosk/token/res/2' } };
    expect(harness.ask(repeated)).toMatchObject([{ type: 'ignore', why: 'in_progress' }]);
    expect(harness.created(1, 's1')).toMatchObject([{ type: 'answer', reply: repeated.reply }]);
  });

  it('gives the session to the newer request when a lane asks again during session creation', () => {
    const harness = drive();
    harness.ask(makeAsk('r1'));
    expect(harness.ask(makeAsk('r2'))).toMatchObject([{ type: 'ignore', id: 'r1', why: 'superseded' }]);
    expect(harness.created(1, 's1')).toMatchObject([{ type: 'answer', id: 'r2' }]);
  });

  it('ends an unused session before it makes another for the lane, unless its window is over', () => {
    const harness = drive();
    harness.grant(makeAsk('r1'), 's1');
    expect(harness.ask(makeAsk('r2', { reason: 'rollover' }))[0]).toMatchObject({
      type: 'end',
      sessionId: 's1',
    });
    expect(harness.kinds(harness.ask(makeAsk('r3', { lane: 'second' })))).toEqual(['create']);
    harness.ended(2, ['s1']);
    harness.created(2, 's2');
    harness.pass(60_000);
    expect(harness.kinds(harness.ask(makeAsk('r4')))).toEqual(['create']);
  });

  it('looks for unknown sessions when the first answer seems lost', () => {
    const harness = drive();
    expect(harness.ask(makeAsk('r1', { attempt: 2 }))[0]).toMatchObject({
      type: 'end',
      who: { device: 'kiosk' },
      lane: 'main',
      sessionId: null,
    });
  });

  it.each([
    ['device_not_allowed', {}, { tenant: 'elsewhere', device: 'kiosk' }, {}],
    ['device_disabled', { devices: { 'museum/kiosk': { disabled: true } } }, null, {}],
    ['intent_not_allowed', {}, null, { intent: 'tts' }],
    ['connection_type_not_allowed', {}, null, { connection_type: 'webrtc' }],
  ] as const)('denies with %s without asking the service', (code, config, who, request) => {
    const harness = drive(config);
    const ask = makeAsk('r1', request);
    const effects = harness.ask(who === null ? ask : { ...ask, who });
    expect(harness.kinds(effects)).toEqual(['answer']);
    expect(errorOf(effects[0])).toMatchObject({ code, final: true });
    expect(errorOf(effects[0])?.retry_after_s).toBeGreaterThanOrEqual(60);
  });

  it('applies the terms of one device to it alone', () => {
    const harness = drive({
      devices: { 'museum/kiosk': { session: { singleUse: false, intents: ['tts'], expiresInSeconds: 120 } } },
    });
    expect(harness.ask(makeAsk('r1', { intent: 'tts' }))[0]).toMatchObject({
      input: { intent: 'tts', single_use: false, expires_in_seconds: 120 },
    });
    expect(harness.ask(makeAsk('r2', {}, 'other'))[0]).toMatchObject({
      input: { single_use: true, expires_in_seconds: 60 },
    });
  });

  it('limits the requests of one device only, with a wait in the denial', () => {
    const harness = drive({ limits: { burst: 2, perMinute: 6, lanes: 3 } });
    harness.ask(makeAsk('r1', { lane: 'a' }));
    harness.ask(makeAsk('r2', { lane: 'b' }));
    const denied = errorOf(harness.ask(makeAsk('r3', { lane: 'c' }))[0]);
    expect(denied).toMatchObject({ code: 'too_many_requests', final: false, retry_after_s: 10 });
    expect(harness.kinds(harness.ask(makeAsk('r1', {}, 'other')))).toEqual(['create']);
    harness.pass(10_000);
    expect(harness.kinds(harness.ask(makeAsk('r4', { lane: 'c' })))).toEqual(['create']);
  });

  it('stops answering a flood', () => {
    const harness = drive({ limits: { burst: 2, perMinute: 6 } });
    const kinds = Array.from({ length: 100 }, (_, index) => harness.ask(makeAsk(`r${index}`))).flat();
    expect(kinds.filter((effect) => effect.type === 'answer').length).toBeLessThanOrEqual(8);
    expect(kinds.filter((effect) => effect.type === 'create')).toHaveLength(1);
    expect(kinds.at(-1)).toMatchObject({ type: 'ignore', why: 'flood' });
    expect(harness.malformed('kiosk')).toMatchObject([{ why: 'flood' }]);
  });

  it.each([
    ['are not allowed', [{}], { allow: ['museum/known'] }],
    ['ask again and again', [{}, {}, {}, {}], { limits: { burst: 1 } }],
    [
      'ask for two kinds of session',
      [{}, { intent: 'tts' }, { intent: 'tts' }],
      { session: { intents: ['s2s', 'tts'] } },
    ],
    ['send what is not a request', [null], {}],
  ] as const)(
    'denies 50 at once and ten a second of all devices without a session that %s',
    (_, asks, more) => {
      const harness = drive(more);
      harness.issuer.know([{ tenant: 'museum', device: 'known' }], 1000);
      const invented = (round: string): number => {
        const effects = Array.from({ length: 500 }, (_, name) =>
          asks.map((ask, at) => {
            const device = `${round}-${name}`;
            return ask === null ? harness.malformed(device) : harness.ask(makeAsk(`r${at}`, ask, device));
          }),
        );
        return effects.flat(2).filter((effect) => effect.type === 'answer').length;
      };
      expect(invented('first')).toBe(50);
      harness.pass(1000);
      expect(invented('second')).toBe(10);
      // The others get theirs.
      expect(harness.malformed('known')).toMatchObject([{ type: 'answer' }]);
    },
  );

  it('queues jobs above the concurrency limit and runs them in order', () => {
    // Devices that never had a session get half of it.
    const harness = drive({ limits: { concurrency: 4 } });
    const first = ['a', 'b', 'c', 'd'].map((device) => harness.ask(makeAsk('r', {}, device)));
    expect(first.map((effects) => effects.length)).toEqual([1, 1, 0, 0]);
    expect(harness.created(1, 's1')).toMatchObject([
      { type: 'answer', who: { device: 'a' } },
      { type: 'create', input: { client_reference_id: 'museum/c/main' } },
    ]);
  });

  it('drops jobs that waited too long', () => {
    const harness = drive({ limits: { concurrency: 1 } });
    harness.ask(makeAsk('r', {}, 'a'));
    harness.ask(makeAsk('r', {}, 'b'));
    harness.pass(21_000);
    expect(harness.created(1, 's1')).toMatchObject([
      { type: 'answer' },
      { type: 'ignore', why: 'stale', who: { device: 'b' } },
    ]);
    expect(harness.issuer.jobs).toBe(0);
  });

  it('keeps a job whose lane has asked again, as long as its newest request may wait', () => {
    const harness = drive({ limits: { concurrency: 1 } });
    harness.ask(makeAsk('r', {}, 'a'));
    harness.ask(makeAsk('r1', {}, 'b'));
    harness.pass(19_000);
    expect(harness.ask(makeAsk('r2', {}, 'b'))).toMatchObject([{ id: 'r1', why: 'superseded' }]);
    harness.pass(2000);
    expect(harness.created(1, 's1')).toMatchObject([{ type: 'answer' }, { type: 'create', job: 2 }]);
  });

  it('looks again for the newer request of a lane when another backend has replaced the older one', () => {
    const issuer = createIssuer(makeConfig(), 'here');
    const ask = (id: string) => issuer.handle({ type: 'asked', ask: makeAsk(id), draw: 0 }, 1000);
    const claimed = () =>
      issuer.handle({ type: 'claimed', job: 1, claim: { kind: 'superseded' }, draw: 0 }, 1000);
    ask('r1');
    ask('r3');
    expect(claimed()).toMatchObject([{ type: 'claim', job: 1, wanted: { request: { id: 'r3' } } }]);
    expect(claimed()).toMatchObject([{ type: 'ignore', id: 'r3', why: 'superseded' }]);
    expect(issuer.jobs).toBe(0);
  });

  it('pauses for the whole fleet when the service asks for it, as long as its Retry-After', () => {
    const harness = drive({ limits: { concurrency: 1 } });
    harness.ask(makeAsk('r1', {}, 'a'));
    harness.ask(makeAsk('r1', {}, 'waiting'));
    const effects = harness.failed(1, trouble('rate_limited', 40));
    expect(effects.map((effect) => [effect.type, 'who' in effect && effect.who.device])).toEqual([
      ['answer', 'a'],
      ['answer', 'waiting'],
    ]);
    for (const effect of effects) {
      expect(errorOf(effect)).toMatchObject({ code: 'service_rate_limited', final: false });
      expect(errorOf(effect)?.retry_after_s).toBeGreaterThanOrEqual(40);
    }
    harness.pass(30_000);
    const late = errorOf(harness.ask(makeAsk('r1', {}, 'b'), 0.5)[0]);
    expect(late?.retry_after_s).toBeGreaterThanOrEqual(10);
    harness.pass(10_001);
    expect(harness.kinds(harness.ask(makeAsk('r2', {}, 'b')))).toEqual(['create']);
  });

  it('serves an unknown device while known ones take half of the parallel requests', () => {
    const harness = drive({ limits: { concurrency: 4 } });
    const known = ['a', 'b'].map((device) => ({ tenant: 'museum', device }));
    harness.issuer.know(known, 1000);
    for (const { device } of known) harness.ask(makeAsk('r1', {}, device));
    expect(harness.kinds(harness.ask(makeAsk('r1', {}, 'new')))).toEqual(['create']);
  });

  it('keeps the longer of two pauses', () => {
    const harness = drive();
    harness.ask(makeAsk('r1', {}, 'a'));
    harness.ask(makeAsk('r1', {}, 'b'));
    harness.failed(1, trouble('rate_limited', 40));
    harness.failed(2, trouble('rate_limited', 5));
    harness.pass(39_000);
    expect(errorOf(harness.ask(makeAsk('r1', {}, 'c'))[0])).toMatchObject({ code: 'service_rate_limited' });
    harness.pass(1001);
    expect(harness.kinds(harness.ask(makeAsk('r1', {}, 'd')))).toEqual(['create']);
  });

  it('lets others begin while another backend works on a request, and looks again later', () => {
    const issuer = createIssuer(makeConfig({ limits: { concurrency: 1 } }), 'here');
    const ask = (device: string) =>
      issuer.handle({ type: 'asked', ask: makeAsk('r1', {}, device), draw: 0 }, 1000);
    expect(ask('a')).toMatchObject([{ type: 'claim', job: 1 }]);
    expect(ask('b')).toEqual([]);
    const claimed = (job: number) =>
      issuer.handle({ type: 'claimed', job, claim: { kind: 'wait', ms: 500 }, draw: 0 }, 1000);
    expect(claimed(1)).toMatchObject([
      { type: 'ignore', why: 'elsewhere' },
      { type: 'hold', job: 1, afterMs: 500 },
      { type: 'claim', job: 2 },
    ]);
    claimed(2);
    expect(issuer.handle({ type: 'held', job: 1, draw: 0 }, 1500)).toMatchObject([{ type: 'claim', job: 1 }]);
  });

  it.each([
    ['the store is down', null, { type: 'answer', answer: { error: { code: 'store_unavailable' } } }],
    ['another backend has taken over', false, { type: 'ignore', why: 'elsewhere' }],
  ] as const)('ends a session that no device hears of when %s', (_what, kept, said) => {
    const issuer = createIssuer(makeConfig(), 'here');
    issuer.handle({ type: 'asked', ask: makeAsk('r1'), draw: 0 }, 1000);
    const settled = { type: 'settled', job: 1, session: makeSession('s1'), kept, draw: 0 } as const;
    expect(issuer.handle(settled, 1000)).toMatchObject([{ type: 'discard', id: 's1' }, said]);
    expect(issuer.jobs).toBe(0);
  });

  it('repeats a denial to the same request until the device may retry', () => {
    const harness = drive();
    harness.ask(makeAsk('r1'));
    expect(errorOf(harness.failed(1, trouble('unavailable'))[0])).toMatchObject({
      code: 'service_unavailable',
      final: false,
    });
    harness.pass(4999);
    expect(harness.ask(makeAsk('r1'))[0]).toMatchObject({ type: 'answer', repeated: true });
    harness.pass(1);
    expect(harness.kinds(harness.ask(makeAsk('r1')))).toEqual(['create']);
  });

  it('spreads the retries of a fleet that is denied at once', () => {
    const waits = [0, 0.25, 0.5, 1].map((draw) => {
      const harness = drive();
      harness.ask(makeAsk('r1'));
      const event = { type: 'failed', job: 1, trouble: trouble('session_limit'), draw } as const;
      return errorOf(harness.issuer.handle(event, 1000)[0])?.retry_after_s;
    });
    expect(waits).toEqual([30, 34, 38, 45]);
  });

  it('ignores results of unknown jobs', () => {
    const harness = drive();
    expect(harness.created(99, 's')).toEqual([]);
    expect(harness.failed(99, trouble('timeout'))).toEqual([]);
    expect(harness.ended(99)).toEqual([]);
  });

  testAnyOrder(60);
});
