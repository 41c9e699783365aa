import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { bearerOf, identify, streamSecretOf } from '../../../src/emulator/core/credentials.ts';
import { createSessionRegistry, objectTo, statusOf } from '../../../src/emulator/core/sessions.ts';
import {
  type CreateSessionInput,
  createSessionRequestSchema,
} from '../../../src/protocol/service/session.ts';

const AT = Date.UTC(2026, 0, 15, 9);
const MINUTE = 60_000;

function registry() {
  const sessions = createSessionRegistry(seededRandom(1));
  const create = (input: Partial<CreateSessionInput> = {}, at = AT) =>
    sessions.create(
      createSessionRequestSchema.parse({ intent: 's2s', expires_in_seconds: 60, ...input }),
      at,
    );
  return { sessions, create };
}

describe('3.1 session status', () => {
  test('is pending until the connect window has passed, then expired', () => {
    const session = registry().create();
    expect(statusOf(session, AT)).toBe('pending');
    expect(statusOf(session, AT + MINUTE - 1)).toBe('pending');
    expect(statusOf(session, AT + MINUTE)).toBe('expired');
  });

  test('does not interrupt a running stream when the connect window closes', () => {
    const { sessions, create } = registry();
    const session = create();
    sessions.opened(session, AT + 1);
    expect(statusOf(session, AT + 2 * MINUTE)).toBe('running');
    sessions.finished(session, AT + 3 * MINUTE);
    expect(statusOf(session, AT + 3 * MINUTE)).toBe('expired');
  });

  test('single use: becomes used when the stream ends, and stays used after the connect window', () => {
    const { sessions, create } = registry();
    const session = create({ single_use: true });
    sessions.opened(session, AT);
    expect(objectTo(session, 's2s', 'ws', AT)).toBe('session_already_used');
    sessions.finished(session, AT + 1000);
    expect(statusOf(session, AT + 1000)).toBe('used');
    expect(statusOf(session, AT + 2 * MINUTE)).toBe('used');
  });

  test('single use: becomes used when a stream ends after the connect window', () => {
    const { sessions, create } = registry();
    const session = create({ single_use: true });
    sessions.opened(session, AT);
    sessions.finished(session, AT + 2 * MINUTE);
    expect(statusOf(session, AT + 3 * MINUTE)).toBe('used');
  });

  test('counts several streams on one token', () => {
    const { sessions, create } = registry();
    const session = create();
    sessions.opened(session, AT + 5);
    sessions.opened(session, AT + 9);
    expect([session.activeStreams, session.firstConnectedAt]).toEqual([2, AT + 5]);
    sessions.finished(session, AT + 10);
    expect(session.activeStreams).toBe(1);
    expect(objectTo(session, 's2s', 'ws', AT + 11)).toBeNull();
  });
});

describe('5 rule 1: what a token may not do', () => {
  test.each([
    [{}, 'stt', 'ws', 0, 'intent_mismatch'],
    [{ intent: 'tts' }, 's2s', 'ws', 0, 'intent_mismatch'],
    [{ connection_type: 'webrtc' }, 's2s', 'ws', 0, 'connection_type_mismatch'],
    [{}, 's2s', 'ws', MINUTE, 'connect_window_expired'],
    [{}, 's2s', 'ws', MINUTE - 1, null],
  ] as const)('%j used for %s over %s after %i ms: %s', (input, intent, transport, after, reason) => {
    expect(objectTo(registry().create(input), intent, transport, AT + after)).toBe(reason);
  });

  test('a revoked token opens no stream, whatever else is wrong with it', () => {
    const { sessions, create } = registry();
    const session = create();
    sessions.revoked(session);
    expect(objectTo(session, 'stt', 'ws', AT + MINUTE)).toBe('session_revoked');
    expect(statusOf(session, AT)).toBe('revoked');
  });
});

describe('the register of sessions', () => {
  test('counts sessions that are created but unused', () => {
    const { sessions, create } = registry();
    const [connected, revoked] = [create(), create(), create()];
    create({ expires_in_seconds: 3600 });
    sessions.createAutomatic(AT);
    expect(sessions.countPending(AT)).toBe(4);
    if (connected) sessions.opened(connected, AT);
    if (revoked) sessions.revoked(revoked);
    expect(sessions.countPending(AT)).toBe(2);
    expect(sessions.countPending(AT + MINUTE)).toBe(1);
  });

  test('removes the session of an API key when its stream ends', () => {
    const { sessions } = registry();
    const session = sessions.createAutomatic(AT);
    sessions.opened(session, AT);
    expect(sessions.get(session.id)).toBe(session);
    sessions.finished(session, AT);
    expect(sessions.get(session.id)).toBeUndefined();
    expect(sessions.withToken(session.token)).toBeUndefined();
  });

  test('makes URL-safe tokens that are all different', () => {
    const { create } = registry();
    const tokens = Array.from({ length: 500 }, () => create().token);
    expect(tokens.every((token) => /^[\w-]{32,}$/.test(token))).toBe(true);
    expect(new Set(tokens).size).toBe(500);
  });

  test('is bounded', () => {
    const { sessions, create } = registry();
    for (let count = 0; count < 21_000; count++) create();
    expect(sessions.size).toBeLessThanOrEqual(20_000);
  });

  test('forgets finished sessions after an hour, and never running ones', () => {
    const { sessions, create } = registry();
    const running = create({ expires_in_seconds: 3600 });
    sessions.opened(running, AT);
    const old = create();
    create({}, AT + 200 * MINUTE);
    expect(sessions.get(old.id)).toBeUndefined();
    expect(sessions.get(running.id)).toBe(running);
  });
});

describe('credentials', () => {
  const keys = { apiKeys: ['key'], jwts: ['j.w.t'], clients: [] };

  test('identifies the kind of a secret', () => {
    const { sessions, create } = registry();
    const session = create();
    const kindOf = (secret: string | null) => identify(secret, keys, sessions).kind;
    expect(['key', 'j.w.t', session.token, 'guess', '', null].map(kindOf)).toEqual([
      'api_key',
      'jwt',
      'session',
      'unknown',
      'none',
      'none',
    ]);
  });

  test.each([
    ['Bearer abc', 'abc'],
    ['bearer   abc ', 'abc'],
    ['abc', null],
    ['Basic abc', null],
    ['Bearerabc', null],
    ['Bearer a b', null],
    ['Bearer', null],
    ['', null],
    [undefined, null],
  ])('the secret in %j is %j', (header, secret) => {
    expect(bearerOf(header)).toBe(secret);
  });

  test.each([
    ['Bearer abc', 'abc'],
    ['abc', 'abc'],
    ['Basic abc', null],
    ['Bearer', null],
    ['', null],
    [undefined, null],
  ])('the secret for a stream in %j is %j', (header, secret) => {
    expect(streamSecretOf(header)).toBe(secret);
  });
});
