import { afterEach, describe, expect, it } from 'vitest';
import {
  type Ask,
  type Tokens,
  type TokensEffect,
  type TokensEvent,
  type TokensFacts,
  tokensMachine,
} from '../../../src/device/tokens/tokens-machine.ts';
import type { Opening } from '../../../src/ports/signature.ts';
import { MOST_ENDED } from '../../../src/protocol/mqtt/token.ts';
import { type Driver, drive } from '../../machine/drive.ts';

const BASE = 'dragoman/v1/museum/kiosk-01';
const TOKEN = 'tok_SECRET-0123456789';
const SESSION = 'session-id-that-is-long';

type Device = Driver<Tokens, TokensEvent, TokensEffect, TokensFacts>;
type Lane = TokensFacts['lanes'][number];

const devices: Device[] = [];
afterEach(() => {
  // A state can be logged.
  for (const { state } of devices.splice(0)) expect(JSON.stringify(state)).not.toMatch(`${TOKEN}|${SESSION}`);
});

const waits = (request: string, lane = 'main'): Lane => ({
  lane,
  request,
  isWaiting: true,
  isResting: false,
});
const idle: Lane = { lane: 'main', request: null, isWaiting: false, isResting: false };
const rests: Lane = { ...idle, lane: 'desk', isResting: true };

/** A device that draws the ids `wire-1`, `wire-2` and so on. */
function device(facts: Partial<TokensFacts> = {}): Device {
  let ids = 0;
  const driver = drive(tokensMachine({ base: BASE, seed: 7 }), {
    lanes: [],
    trials: [],
    hasKeys: false,
    ...facts,
  }).answer((effect) => {
    if (effect.type !== 'draw_id') return null;
    ids += 1;
    return { type: 'id_drawn', ask: effect.ask, id: `wire-${ids}` };
  });
  devices.push(driver);
  return driver;
}

const ask = (request: string, more: { lane?: string; attempt?: number } = {}): Ask & { by: 'lane' } => ({
  by: 'lane',
  lane: 'main',
  request,
  reason: 'start',
  attempt: 1,
  ...more,
});
const requests = (...asks: Ask[]): TokensEvent[] => asks.map((one) => ({ type: 'request', ask: one }));

/** A device whose lane has sent `wire-1`. */
function asking(facts: Partial<TokensFacts> = {}): Device {
  const driver = device({ lanes: [waits('r1')], ...facts }).post(...requests(ask('r1')));
  driver.fresh();
  return driver;
}

const answer = (body: unknown, retained = false): TokensEvent => ({
  type: 'answer',
  message: { payload: typeof body === 'string' ? body : JSON.stringify(body), retained },
});
const session = (more: object = {}) => ({
  id: SESSION,
  token: TOKEN,
  intent: 's2s',
  connection_type: 'ws',
  single_use: true,
  status: 'pending',
  created_at: '2026-01-15T09:00:00.000Z',
  connect_by: '2026-01-15T09:01:00.000Z',
  ...more,
});
const grant = (id: string, more: object = {}) => ({
  id,
  ok: true,
  session: session(more),
  stream_url: 'wss://service.example/{random_hash}/v1',
});
const denial = (id: string, more: object = {}) => ({
  id,
  ok: false,
  error: { code: 'busy', title: 'Busy', detail: 'later', final: false, ...more },
});
const types = (effects: readonly TokensEffect[]): string[] => effects.map(({ type }) => type);
const logged = (driver: Device): string[] => driver.all('log').map(({ level, kind }) => `${level} ${kind}`);

describe('the grants of one request', () => {
  it('are taken one at a time: a second one does not replace a token on its way to the lane', () => {
    const driver = asking().post(
      answer(grant('wire-1')),
      answer(grant('wire-1', { token: 'another-token' })),
    );
    expect(driver.all('grant').map(({ secret }) => secret.token)).toEqual([TOKEN]);
    expect(logged(driver)).toEqual(['debug token_answer:late']);
  });

  it('are late when the lane waits no more, and show that the backend lives', () => {
    const driver = asking()
      .see({ lanes: [idle] })
      .pass(100)
      .post(answer(grant('wire-1')));
    expect(types(driver.fresh())).toEqual(['log']);
    expect(logged(driver)).toEqual(['debug token_answer:late']);
    expect(driver.state.watch.answeredAt).toBe(driver.now);
  });

  it('are late when the lane has given up that request for another', () => {
    const driver = asking()
      .post(...requests(ask('r2')))
      .see({ lanes: [waits('r2')] });
    driver.post(answer(grant('wire-1')), answer(grant('wire-2')));
    expect(driver.all('grant').map(({ id, grant }) => [id, grant.id])).toEqual([['wire-2', 'r2']]);
  });

  it.each<[string, TokensEvent | { type: 'failed'; effect: TokensEffect }]>([
    ['the lane could not use the first', { type: 'lane_informed', id: 'wire-1' }],
    ['the lane asks again, because it got none', { type: 'request', ask: ask('r1', { attempt: 2 }) }],
  ])('are taken again when %s', (_, event) => {
    const driver = asking().post(answer(grant('wire-1')), event as TokensEvent, answer(grant('wire-1')));
    expect(driver.all('grant')).toHaveLength(2);
    expect(logged(driver)).toEqual([]);
  });

  it('are taken again when the first could not be stored', () => {
    const driver = asking().post(answer(grant('wire-1')));
    for (const effect of driver.fresh()) driver.post({ type: 'failed', effect });
    expect(driver.post(answer(grant('wire-1'))).all('grant')).toHaveLength(2);
  });

  it('go to the lane that asked', () => {
    const lanes = [waits('r1'), waits('r1', 'desk')];
    const driver = asking({ lanes }).post(...requests(ask('r1', { lane: 'desk' })));
    driver.post(answer(grant('wire-2')));
    expect(driver.all('grant').map(({ lane }) => lane)).toEqual(['desk']);
    expect(driver.state.requests.map(({ isGranted }) => isGranted)).toEqual([false, true]);
  });

  it('carry the token for the store, and for the lane what it may know', () => {
    const driver = asking().post(answer(grant('wire-1', { max_session_duration_seconds: 600 })));
    expect(driver.all('grant')).toMatchObject([
      {
        lane: 'main',
        grant: {
          id: 'r1',
          session: 'session-...',
          windowMs: 60_000,
          maxDurationMs: 600_000,
          intent: 's2s',
          connectionType: 'ws',
        },
        secret: { token: TOKEN, session: SESSION, urlTemplate: 'wss://service.example/{random_hash}/v1' },
        addressField: 'stream_url',
      },
    ]);
  });

  it('may be of a legacy session', () => {
    const legacy = { id: SESSION, publisher: TOKEN, ws_url: 'wss://legacy.example/s' };
    const driver = asking().post(answer({ id: 'wire-1', ok: true, session: legacy }));
    expect(driver.all('grant')).toMatchObject([
      {
        grant: { id: 'r1', session: 'session-...', windowMs: 60_000, maxDurationMs: null, intent: 's2s' },
        secret: { token: TOKEN, session: SESSION, urlTemplate: 'wss://legacy.example/s' },
        addressField: 'ws_url',
      },
    ]);
  });
});

describe('another answer to a lane', () => {
  it.each([
    [{ retry_after_s: 30 }, { code: 'busy', message: 'later', final: false, retryAfterMs: 30_000 }],
    [
      { retry_after_s: null, final: true },
      { final: true, retryAfterMs: null },
    ],
    [{ detail: '' }, { message: 'Busy', retryAfterMs: null }],
  ])('is a denial with %j', (error, expected) => {
    const driver = asking().post(answer(denial('wire-1', error)));
    expect(driver.all('deny')).toMatchObject([{ lane: 'main', request: 'r1', denial: expected }]);
    // Only a grant may be followed by no other answer.
    expect(driver.post(answer(grant('wire-1'))).all('grant')).toHaveLength(1);
  });

  it.each([
    [{ status: 'expired' }, /^the session in the backend's answer has the status "expired": give a session/],
    [{ status: 'used' }, /has the status "used"/],
    [
      { max_session_duration_seconds: 19 },
      /may last 19 s only \(max_session_duration_seconds\): give it 20 s/,
    ],
    [{ status: 'used', single_use: false }, null],
    [{ max_session_duration_seconds: 20 }, null],
  ])('has a session with %j', (more, why) => {
    const driver = asking().post(answer(grant('wire-1', more)));
    expect(types(driver.fresh())).toEqual([why === null ? 'grant' : 'unusable']);
    if (why !== null) expect(driver.all('unusable')[0]).toMatchObject({ request: 'r1', message: why });
  });

  it.each([
    [
      'a session of the wrong kind',
      { ...grant('wire-1', { token: 7, connect_by: 'soon' }) },
      'session.token',
    ],
    ['a token too long to send', grant('wire-1', { token: 't'.repeat(45_000) }), 'session.token'],
    ['a session with an invalid id', grant('wire-1', { id: 's'.repeat(45_000) }), 'session.id'],
    ['no address', { ...grant('wire-1'), stream_url: undefined }, 'stream_url'],
    ['a denial without a code', denial('wire-1', { code: undefined }), 'error.code'],
    ['a list', [1], '(not a JSON object)'],
  ])('is ignored and reported when it has %s', (_, body, field) => {
    const driver = asking().post(answer(body));
    expect(driver.fresh()).toMatchObject([{ type: 'log', level: 'warn', fields: { field } }]);
    expect(driver.state.watch).toMatchObject({ malformed: { field }, answeredAt: null });
    expect(driver.post(answer(grant('wire-1'))).all('grant')).toHaveLength(1);
  });

  it('is ignored when there was no request, and shows nothing of the backend', () => {
    const driver = asking().post(answer(grant('wire-9')));
    expect(types(driver.fresh())).toEqual(['log']);
    expect(logged(driver)).toEqual(['debug token_answer:unasked']);
    expect(driver.state.watch.answeredAt).toBeNull();
  });

  it('is missed after 20 s when one of the lanes waits, while another rests', () => {
    const driver = device({ lanes: [waits('r1'), rests] });
    driver.post({ type: 'broker', up: true }, { type: 'lanes_changed' });
    expect(driver.state.watch).toMatchObject({ waiting: true, resting: true });
    driver.see({ lanes: [idle, idle] }).post({ type: 'lanes_changed' });
    expect(driver.state.watch).toMatchObject({ waiting: false, resting: false });
  });

  it('tells that the backend is back before the lane is told the rest', () => {
    const driver = asking().post({ type: 'broker', up: true }, { type: 'lanes_changed' }).pass(20_000);
    expect(types(driver.fresh())).toEqual(['silent']);
    expect(types(driver.post(answer(denial('wire-1'))).fresh())).toEqual(['back', 'deny']);
  });
});

describe('a request', () => {
  it('keeps its id when it is repeated, and each lane and request has one of its own', () => {
    const driver = device().post(
      ...requests(ask('r1'), ask('r1', { attempt: 2 }), ask('r1', { lane: 'desk' }), ask('r2')),
    );
    expect(driver.all('publish').map(({ id, lane, attempt }) => [id, lane, attempt])).toEqual([
      ['wire-1', 'main', 1],
      ['wire-1', 'main', 2],
      ['wire-2', 'desk', 1],
      ['wire-3', 'main', 1],
    ]);
    expect(driver.all('publish')[0]).toMatchObject({ reason: 'start', probe: null, ended: [], expiryS: 30 });
  });

  it('keeps its id when it is repeated before one was drawn', () => {
    const driver = device().answer(() => null);
    const [first, again] = [ask('r1'), ask('r1', { attempt: 2 })];
    driver.post(...requests(first, again));
    driver.post({ type: 'id_drawn', ask: first, id: 'a' }, { type: 'id_drawn', ask: again, id: 'b' });
    expect(driver.all('publish').map(({ id, attempt }) => [id, attempt])).toEqual([
      ['a', 1],
      ['a', 2],
    ]);
  });

  it('draws another id when the first draw failed', () => {
    const driver = device().answer(() => null);
    driver.post(...requests(ask('r1'))).post({ type: 'failed', effect: { type: 'draw_id', ask: ask('r1') } });
    driver.post(...requests(ask('r1', { attempt: 2 })));
    expect(types(driver.effects)).toEqual(['draw_id', 'draw_id']);
  });

  it('is recognised as one of the last 64', () => {
    const lanes = Array.from({ length: 65 }, (_, n) => waits(`r${n + 1}`));
    const driver = device({ lanes, hasKeys: true }).post(
      ...lanes.flatMap(({ request }) => requests(ask(request ?? ''))),
    );
    const checked = (id: number): boolean => {
      const before = driver.all('check').length;
      return driver.post(answer({ id: `wire-${id}`, jws: 'a.b.c' })).all('check').length > before;
    };
    expect([checked(1), checked(2), checked(65), checked(66)]).toEqual([false, true, true, false]);
  });

  it('that the broker refuses is counted, and reported until the next is accepted', () => {
    const driver = asking();
    for (const allowed of [false, false, true]) driver.post({ type: 'published', allowed });
    expect(driver.all('may_ask').map(({ may }) => may)).toEqual([false, true]);
    expect(driver.state.refusals).toBe(2);
  });
});

describe('the signature of an answer', () => {
  const signed = (id = 'wire-1') => ({ id, jws: 'a.b.c' });
  const opening = (body: object, typ = 'dragoman+token'): Opening => ({
    ok: true,
    content: { typ, payload: JSON.stringify({ device: BASE, iat: 0, ...body }) },
  });
  const checked = (opening: Opening, id = 'wire-1'): TokensEvent[] => [
    { type: 'check_ended' },
    { type: 'checked', id, opening },
  ];

  it('is required when there are keys', () => {
    const driver = asking({ hasKeys: true }).post(answer(grant('wire-1')));
    expect(driver.state.refusedAnswers).toEqual({ unsigned: 1 });
    driver.see({ hasKeys: false }).post(answer(grant('wire-1')));
    expect(driver.all('grant')).toHaveLength(1);
  });

  it.each([[true], [false]])('is checked before anything else; keys: %s', (hasKeys) => {
    const driver = asking({ hasKeys }).post(answer({ ...grant('wire-1'), ...signed() }));
    expect(driver.fresh()).toEqual([{ type: 'check', id: 'wire-1', jws: 'a.b.c' }]);
    driver.post(...checked(opening(grant('wire-1'))));
    expect(types(driver.fresh())).toEqual(['grant']);
  });

  it('comes too late when the lane has given up meanwhile', () => {
    const driver = asking({ hasKeys: true })
      .post(answer(signed()))
      .see({ lanes: [idle] });
    driver.post(...checked(opening(grant('wire-1'))));
    expect(logged(driver)).toEqual(['debug token_answer:late']);
  });

  it('counts once: of two answers that are checked at the same time, the first is taken', () => {
    const driver = asking({ hasKeys: true }).post(answer(signed()), answer(signed()));
    const second = grant('wire-1', { token: 'another-token' });
    driver.post(...checked(opening(grant('wire-1'))), ...checked(opening(second)));
    expect(driver.all('grant').map(({ secret }) => secret.token)).toEqual([TOKEN]);
  });

  it.each<[string, string, Opening]>([
    ['is wrong', 'signature', { ok: false, why: 'signature' }],
    ['is for another device', 'device', opening({ ...grant('wire-1'), device: `${BASE}2` })],
    ['is for another request', 'id', opening(grant('wire-2'))],
    ['is of another kind of message', 'type', opening(grant('wire-1'), 'dragoman+command')],
  ])('that %s is refused, and the backend watch and the doctor learn it', (_, fault, wrong) => {
    const driver = asking({ hasKeys: true }).post(answer(signed()), ...checked(wrong));
    expect(types(driver.fresh())).toEqual(['check', 'log', 'warn_doctor']);
    expect(logged(driver)).toEqual([`warn token_answer:${fault}`]);
    expect(driver.state.refusedAnswers).toEqual({ [fault]: 1 });
    expect(driver.state.watch.malformed).toEqual({ field: 'jws' });
  });

  it('is not checked when no request waits for the answer, which happens with late ones', () => {
    const driver = asking({ hasKeys: true }).post(answer(signed('wire-9')));
    driver.see({ lanes: [idle] }).post(answer(signed()));
    expect(types(driver.fresh())).toEqual(['log', 'log']);
    expect(logged(driver)).toEqual(['debug token_answer:unasked', 'debug token_answer:unasked']);
    expect(driver.state).toMatchObject({ refusedAnswers: { unasked: 2 }, watch: { malformed: null } });
  });

  it.each<[string, TokensEvent, string, string]>([
    ['was retained by the broker', answer(grant('wire-1'), true), 'retained', '(retained)'],
    ['is not JSON', answer('{"id":'), 'malformed', '(not a JSON object)'],
    [
      'is too long',
      answer(grant('wire-1', { token: 't'.repeat(70_000) })),
      'oversized',
      '(more than 65536 characters)',
    ],
    ['is nested too deeply', answer('['.repeat(500) + ']'.repeat(500)), 'nested', '(nested too deeply)'],
    ['has no id beside it', answer({ jws: 'a.b.c' }), 'malformed', '(not a JSON object)'],
  ])('is not reached when the answer %s', (_, event, fault, field) => {
    const driver = asking().post(event);
    expect(types(driver.fresh())).toEqual(['log', 'warn_doctor']);
    expect(driver.state).toMatchObject({ refusedAnswers: { [fault]: 1 }, watch: { malformed: { field } } });
  });

  it('is refused in a flood of more than 32, and checked again after them', () => {
    const flood = (driver: Device): Device =>
      driver.post(...Array.from({ length: 33 }, () => answer(signed())));
    const driver = flood(asking({ hasKeys: true }));
    expect(driver.all('check')).toHaveLength(32);
    expect(driver.state.refusedAnswers).toEqual({ flood: 1 });
    for (let n = 0; n < 31; n += 1) driver.post({ type: 'check_ended' });
    driver.post({ type: 'failed', effect: { type: 'check', id: 'wire-1', jws: 'a.b.c' } });
    expect(flood(driver).all('check')).toHaveLength(64);
  });

  it('costs nothing without keys, so that there is no flood', () => {
    const driver = asking().post(...Array.from({ length: 33 }, () => answer(signed())));
    expect(driver.all('check')).toHaveLength(33);
  });

  it('keeps its place among the 32 no longer when its answer throws', () => {
    const driver = asking({ hasKeys: true }).post(answer(signed()));
    const [ended, broken] = checked({ ok: true, content: null as never });
    driver.post(ended as TokensEvent);
    expect(() => driver.post(broken as TokensEvent)).toThrow();
    expect(driver.state.checks).toBe(0);
  });
});

describe('a probe of the backend', () => {
  /** A lane waits for a voice, and the first probe is sent. */
  const resting = (): Device =>
    device({ lanes: [rests] })
      .post({ type: 'broker', up: true }, { type: 'lanes_changed' })
      .wake();
  const alive = { id: 'wire-1', ok: true, probe: { session: 'none' }, stream_url: 'wss://x.example/' };

  it('keeps its id when it is repeated; the next kind has another', () => {
    const driver = resting().wake().wake().wake();
    expect(driver.all('publish').map(({ id, probe, attempt }) => [id, probe, attempt])).toEqual([
      ['wire-1', 'backend', 1],
      ['wire-1', 'backend', 2],
      ['wire-1', 'backend', 3],
      ['wire-2', 'service', 1],
    ]);
    expect(driver.all('publish')[0]).toMatchObject({ lane: 'desk', reason: 'start', expiryS: 20 });
  });

  it('is answered once: the same answer again is not a sign of life', () => {
    const driver = resting().post(answer(alive));
    const { answeredAt } = driver.state.watch;
    expect(answeredAt).toBe(driver.now);
    driver.pass(1000).post(answer(alive));
    expect(driver.state.watch.answeredAt).toBe(answeredAt);
    expect(logged(driver)).toEqual([]);
  });

  it('is still answered after a malformed answer', () => {
    const driver = resting().post(answer({ ...alive, probe: 'yes' }));
    expect(driver.state.watch).toMatchObject({ malformed: { field: 'session' }, answeredAt: null });
    expect(driver.post(answer(alive)).state.watch.answeredAt).toBe(driver.now);
  });

  it('gives no lane the session that an older backend grants', () => {
    const driver = resting();
    driver.fresh();
    expect(types(driver.post(answer(grant('wire-1'))).fresh())).toEqual(['probes_unknown']);
    expect(
      types(
        resting()
          .post(answer(denial('wire-1')))
          .fresh()
          .slice(2),
      ),
    ).toEqual([]);
  });

  it('is recognised by a late answer, as one of the last 8', () => {
    const driver = resting();
    while (driver.all('publish').at(-1)?.id !== 'wire-9') driver.wake();
    const { length } = driver.all('log');
    driver.post(answer(denial('wire-2')));
    expect(driver.state.watch.answeredAt).toBe(driver.now);
    driver.post(answer(denial('wire-1')));
    expect(logged(driver).slice(length)).toEqual(['debug token_answer:unasked']);
  });

  it('has the signature of its answer checked', () => {
    const driver = resting()
      .see({ hasKeys: true })
      .post(answer({ id: 'wire-1', jws: 'a.b.c' }));
    expect(driver.all('check')).toHaveLength(1);
  });

  it('is not sent while no lane rests', () => {
    const driver = device({ lanes: [rests, idle] }).post(
      { type: 'broker', up: true },
      { type: 'lanes_changed' },
    );
    driver
      .see({ lanes: [idle, idle] })
      .post({ type: 'lanes_changed' })
      .pass(3_600_000);
    expect(driver.effects).toEqual([]);
  });
});

describe('a trial of the doctor', () => {
  const trial = { id: 'trial', ok: true, probe: { session: 'deleted' }, stream_url: 'wss://x.example/' };

  it('gets its answer, whatever it is, and no lane gets it', () => {
    const driver = asking({ trials: ['trial'] });
    for (const body of [trial, grant('trial'), { id: 'trial' }]) driver.post(answer(body));
    expect(driver.fresh()).toEqual([
      { type: 'answer_doctor', body: trial },
      { type: 'answer_doctor', body: grant('trial') },
      { type: 'answer_doctor', body: { id: 'trial' } },
    ]);
    expect(driver.state.watch.answeredAt).toBeNull();
  });

  it('has its signature checked', () => {
    const driver = asking({ trials: ['trial'], hasKeys: true }).post(answer({ id: 'trial', jws: 'a.b.c' }));
    expect(types(driver.fresh())).toEqual(['check']);
  });

  it('is not told of a late answer', () => {
    expect(asking().post(answer(trial)).fresh()).toEqual([]);
  });
});

describe('ended streams', () => {
  const HOUR_MS = 3_600_000;
  const ends = (number: number, more: object = {}): TokensEvent => ({
    type: 'stream_ended',
    lane: 'main',
    detail: { session: `s${number}...`, cause: 'stopped', live_ms: 1000, ...more },
  });
  /** The sessions that the next request reports. */
  const reported = (driver: Device, request: string): string[] => {
    driver.post(...requests(ask(request)));
    return (driver.all('publish').at(-1)?.ended ?? []).map(({ session }) => session);
  };
  const confirm = (id: string, ...recorded: string[]): TokensEvent => answer({ id, recorded });

  it('are in each request until the backend confirms them, and a confirmation is not an answer', () => {
    const driver = asking().post(ends(1));
    expect([reported(driver, 'r2'), reported(driver, 'r3')]).toEqual([['s1...'], ['s1...']]);
    expect(driver.all('publish').at(-1)?.ended).toEqual([{ lane: 'main', session: 's1...', live_ms: 1000 }]);
    driver.fresh();
    driver.post(confirm('wire-3', 's1...'));
    expect(driver.fresh()).toEqual([]);
    expect(driver.state.watch.answeredAt).toBeNull();
    expect(reported(driver, 'r4')).toEqual([]);
  });

  it.each([
    ['another stream', confirm('wire-2', 'other...')],
    ['another request', confirm('wire-9', 's1...')],
    ['a damaged confirmation', answer({ id: 'wire-2', recorded: 's1...' })],
    ['a grant', answer(grant('wire-2'))],
  ])('are not forgotten because of %s', (_, event) => {
    const driver = asking().post(ends(1));
    reported(driver, 'r2');
    expect(reported(driver.post(event), 'r3')).toEqual(['s1...']);
  });

  it('are confirmed within a grant too, which the lane gets', () => {
    const driver = asking().post(ends(1));
    reported(driver, 'r2');
    driver.see({ lanes: [waits('r2')] }).post(answer({ ...grant('wire-2'), recorded: ['s1...'] }));
    expect(driver.all('grant')).toHaveLength(1);
    expect(reported(driver, 'r3')).toEqual([]);
  });

  it('have the signature of a confirmation checked, after the answer for the lane too', () => {
    const driver = asking({ hasKeys: true }).post(ends(1));
    reported(driver, 'r2');
    driver.see({ lanes: [idle] }).post(answer({ id: 'wire-2', jws: 'a.b.c' }));
    expect(driver.all('check')).toHaveLength(1);
  });

  it('are reported eight at a time, oldest first; the newest 64 are kept', () => {
    const driver = device();
    for (let number = 0; number < 100; number += 1) driver.post(ends(number));
    const seen: string[] = [];
    for (let request = 1; request <= 9; request += 1) {
      const sessions = reported(driver, `r${request}`);
      expect(sessions).toHaveLength(request < 9 ? MOST_ENDED : 0);
      seen.push(...sessions);
      driver.post(confirm(`wire-${request}`, ...sessions));
    }
    expect(seen).toEqual(Array.from({ length: 64 }, (_, index) => `s${index + 36}...`));
  });

  it('are confirmed once by each request, of the last sixteen', () => {
    const driver = device().post(ends(1));
    for (let request = 1; request <= 17; request += 1) reported(driver, `r${request}`);
    expect(reported(driver.post(confirm('wire-1', 's1...')), 'r17')).toEqual(['s1...']);
    expect(reported(driver.post(confirm('wire-17', 's1...'), ends(1)), 'r2')).toEqual(['s1...']);
    expect(reported(driver.post(confirm('wire-17', 's1...')), 'r2')).toEqual(['s1...']);
  });

  it('are confirmed by an earlier request too, however often the later one was repeated', () => {
    const driver = device().post(ends(1));
    reported(driver, 'r1');
    for (let attempt = 1; attempt <= 16; attempt += 1) reported(driver, 'r2');
    expect(reported(driver.post(confirm('wire-1', 's1...')), 'r3')).toEqual([]);
  });

  it('are in the probes of a device that waits for a voice', () => {
    const driver = device({ lanes: [rests] }).post(
      ends(1),
      { type: 'broker', up: true },
      { type: 'lanes_changed' },
    );
    expect(driver.wake().all('publish')).toMatchObject([{ probe: 'backend', ended: [{ session: 's1...' }] }]);
  });

  it('are kept for 66 hours', () => {
    const driver = device()
      .post(ends(1))
      .pass(66 * HOUR_MS - 1);
    expect(reported(driver, 'r1')).toEqual(['s1...']);
    expect(reported(driver.pass(1), 'r2')).toEqual([]);
  });

  it('are left out when the backend could not read them', () => {
    const driver = device().post(ends(1, { session: 'a\0b' }), ends(2, { live_ms: Number.NaN }));
    expect(reported(driver, 'r1')).toEqual([]);
    expect(driver.state.ended.reportedBy).toEqual([]);
  });
});
