import { describe, expect, test } from 'vitest';
import { seededRandom } from '../../../src/core/random.ts';
import { bearerOf, identify, streamSecretOf } from '../../../src/emulator/core/credentials.ts';
import { createSessionRegistry } from '../../../src/emulator/core/sessions.ts';
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
