/** Guessing passwords, and the lock that stops it, on both databases. */
import { describe, expect, it } from 'vitest';
import type { PasswordHasher } from '../../../src/adapters/console/password-hash.ts';
import { createLogger } from '../../../src/adapters/log.ts';
import { createAudit } from '../../../src/backend/console/audit.ts';
import { Refusal } from '../../../src/backend/console/refusal.ts';
import { publicRoutes } from '../../../src/backend/console/routes-people.ts';
import { createSignIn } from '../../../src/backend/console/sign-in.ts';
import { createConsoleStore } from '../../../src/backend/store/console-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import { MEMORY_STORE } from '../../../src/protocol/backend-config.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { type Database, onBothStores } from '../store/both-stores.ts';
import { PASSWORD as STORE_PASSWORD } from '../store/postgres-server.ts';
import { type ConsoleFixture, consoleOfEachTest, PASSWORD } from './console-on-loopback.ts';

const { start } = consoleOfEachTest();
const PROXIED = { console: { listen: '127.0.0.1:0', trustedProxies: ['127.0.0.1'] } };

function attempt(fixture: ConsoleFixture, name: string, password = 'a wrong password', from = '192.0.2.1') {
  const headers = { 'x-forwarded-for': from };
  return fixture.ask(null, 'POST', '/api/sign-in', { name, password }, headers);
}
/** An address of its own for each number. */
const addressOf = (number: number): string => `198.51.${number >> 8}.${number & 255}`;

/** Each from another address, all at once. */
async function guess(fixture: ConsoleFixture, names: readonly string[]) {
  const answers = await Promise.all(
    names.map((name, index) => attempt(fixture, name, 'a wrong password', addressOf(index))),
  );
  return answers.map(({ status }) => status);
}
const fill = (length: number, name: string): string[] => Array.from({ length }, () => name);
const countOf = (statuses: readonly number[], wanted: number): number =>
  statuses.filter((status) => status === wanted).length;

onBothStores((maker) => {
  const open = async (database?: Database, signedIn: readonly string[] = []): Promise<ConsoleFixture> => {
    const { config } = database ?? (await maker.make());
    return start({ store: config, storePassword: STORE_PASSWORD, config: PROXIED }, signedIn);
  };

  it('refuses a name with a control character before it looks for the person', async () => {
    const fixture = await open();
    for (const name of ['vic\0x', 'vic\0', '\0vic', 'vic\n', 'vic\u0085', 'v\u001bic']) {
      const answer = await attempt(fixture, name, PASSWORD);
      expect([name, answer.status, answer.json.error]).toMatchObject([
        name,
        400,
        {
          code: 'invalid',
          faults: [{ pointer: '/name', message: expect.stringMatching(/control characters/) }],
        },
      ]);
    }
    expect(await fixture.signIn('vic')).toBe(200);
  });

  it('refuses control characters in an address, and leaves the person alone', async () => {
    const fixture = await open(undefined, ['ann']);
    for (const [method, path] of [
      ['POST', '/api/people/vic%00x/remove'],
      ['POST', '/api/people/vic%00x'],
      ['POST', '/api/people/vic%00x/unlock'],
      ['GET', '/api/jobs/%00'],
      ['POST', '/api/jobs/x%0a/stop'],
      ['GET', '/api/audit?who=vic%00x'],
      ['GET', '/api/audit?before=%00'],
    ] as const) {
      const body = method === 'POST' ? { role: 'viewer' } : undefined;
      const answer = await fixture.ask('ann', method, path, body);
      expect([path, answer.status, answer.json.error.code]).toEqual([path, 400, 'invalid']);
    }
    expect(await fixture.signIn('vic')).toBe(200);
  });

  it('checks ten of forty guesses that arrive at once', async () => {
    const fixture = await open();
    const statuses = await guess(fixture, fill(40, 'vic'));
    expect([countOf(statuses, 401), countOf(statuses, 429)]).toEqual([10, 30]);
    const right = await attempt(fixture, 'vic', PASSWORD, '203.0.113.1');
    expect(right).toMatchObject({ status: 429, json: { error: { code: 'too_often' } } });
    expect(right.json.error.message).toMatch(/try again in 15 minutes, or ask an administrator to unlock/);
    expect(right.json.error.retryAfterS).toBeGreaterThan(840);
  });

  it('remembers a lock over a restart, and forgets nine wrong passwords after the right one', async () => {
    const fixture = await open();
    const nine = fill(9, 'otto');
    expect(countOf(await guess(fixture, nine), 401)).toBe(9);
    expect(await fixture.signIn('otto')).toBe(200);
    expect(countOf(await guess(fixture, nine), 401)).toBe(9);
    await guess(fixture, ['otto']);
    await fixture.restart();
    expect((await attempt(fixture, 'otto', PASSWORD, '203.0.113.1')).status).toBe(429);
  });

  it('lets an administrator lift a lock, and a new password lifts it, too', async () => {
    const fixture = await open(undefined, ['ann']);
    const lockedUntil = async (name: string): Promise<string | null> => {
      const { people } = (await fixture.ask('ann', 'GET', '/api/people')).json;
      return people.find((person: { name: string }) => person.name === name).lockedUntil;
    };
    const lock = (name: string) => guess(fixture, fill(10, name));
    await guess(fixture, fill(9, 'vic'));
    expect(await lockedUntil('vic')).toBeNull();
    await lock('vic');
    const until = Date.parse((await lockedUntil('vic')) ?? '') - Date.now();
    expect(until).toBeGreaterThan(13 * 60_000);
    expect(until).toBeLessThanOrEqual(15 * 60_000);
    expect((await fixture.ask('ann', 'POST', '/api/people/nobody/unlock', {})).status).toBe(404);
    const lifted = await fixture.ask('ann', 'POST', '/api/people/vic/unlock', {});
    expect(lifted).toMatchObject({ status: 200, json: { name: 'vic', lockedUntil: null } });
    expect(await fixture.signIn('vic')).toBe(200);
    const audit = await fixture.ask('ann', 'GET', '/api/audit?what=people.unlock');
    expect(audit.json.lines).toMatchObject([
      { who: 'ann', on: 'vic', result: { ok: true, text: 'unlocked' } },
    ]);

    // A change of the role is not one of the password.
    await lock('otto');
    await fixture.ask('ann', 'POST', '/api/people/otto', { role: 'viewer' });
    expect(await lockedUntil('otto')).not.toBeNull();
    const password = 'a new password of otto';
    await fixture.ask('ann', 'POST', '/api/people/otto', { password });
    expect(await fixture.signIn('otto', password)).toBe(200);
  });
});

describe('the door', () => {
  /** The route alone, with a hasher that takes no time. */
  async function openDoor() {
    const store = createConsoleStore(createSqliteEngine(MEMORY_STORE));
    await store.open();
    const people = ['vic', 'otto'];
    for (const name of people) await store.addPerson({ name, role: 'viewer', passwordHash: PASSWORD });
    const clock = createVirtualClock();
    const lines: string[] = [];
    const log = createLogger({ level: 'trace', format: 'json', sink: { write: (line) => lines.push(line) } });
    const hasher: PasswordHasher = {
      hash: async (password) => password,
      check: async (password, hash) => password === hash,
    };
    const signIn = createSignIn(store, hasher, clock);
    const audit = createAudit(store, log);
    const routes = publicRoutes({ store, signIn, hasher, audit, clock, sessionsEnded: () => {} });
    const ask = async (name: string, password: string, address: string): Promise<number> => {
      const body = async () => JSON.stringify({ name, password });
      const request = {
        method: 'POST',
        path: '/api/sign-in',
        query: new URLSearchParams(),
        headers: {},
        address,
        origin: 'http://localhost',
        isSecure: false,
        body,
        know: () => {},
      };
      const done = routes['POST /api/sign-in']({ request, params: {} });
      return done.then(
        () => 200,
        (error: unknown) => (error instanceof Refusal ? error.status : 500),
      );
    };
    const fail = async (count: number, name: (index: number) => string, from: (index: number) => string) => {
      const all = Array.from({ length: count }, (_, index) => ask(name(index), 'wrong', from(index)));
      return countOf(await Promise.all(all), 401);
    };
    return { store, clock, lines, ask, fail };
  }
  const any = (index: number): string => `guess-${index}`;

  it('checks as many guesses for an unknown name as for a person', async () => {
    const { fail } = await openDoor();
    expect(await fail(40, () => 'nobody', addressOf)).toBe(10);
    expect(await fail(40, () => 'vic', addressOf)).toBe(10);
  });

  it.each([
    [
      'a /64 of IPv6',
      (index: number) => `2001:db8:1:2:${index}::1`,
      '2001:0DB8:0001:2:ffff::',
      '2001:db8:1:3::1',
    ],
    ['IPv4', () => '192.0.2.1', '::ffff:c000:0201', '192.0.2.2'],
    ['IPv4 in IPv6', () => '0:0:0:0:0:ffff:192.0.2.1', '192.0.2.1', '::ffff:192.0.2.2'],
  ])('checks thirty guesses of an address in all its spellings: %s', async (_what, from, locked, other) => {
    const { ask, fail, clock } = await openDoor();
    // A success counts as nothing, and lifts nothing.
    expect(await fail(15, any, from)).toBe(15);
    expect(await ask('vic', PASSWORD, from(0))).toBe(200);
    expect(await fail(25, any, from)).toBe(15);
    expect(await ask('vic', PASSWORD, locked)).toBe(429);
    expect(await ask('vic', PASSWORD, other)).toBe(200);
    clock.advance(15 * 60_000 - 1);
    expect(await ask('vic', PASSWORD, locked)).toBe(429);
    clock.advance(1);
    expect(await ask('vic', PASSWORD, locked)).toBe(200);
  });

  it('does not lock the address of a person whose name is locked', async () => {
    const { ask, fail } = await openDoor();
    expect(
      await fail(
        60,
        () => 'vic',
        () => '192.0.2.1',
      ),
    ).toBe(10);
    expect(await ask('otto', PASSWORD, '192.0.2.1')).toBe(200);
  });

  it('writes a hundred lines about unknown names a day into the audit, without what was typed', async () => {
    const { store, clock, lines, fail } = await openDoor();
    const typed = (index: number): string => `Passw0rd-${index}`;
    const noted = async (): Promise<number> => (await store.audit({ who: '(unknown name)' }, 1000)).length;
    await fail(99, typed, addressOf);
    expect(await noted()).toBe(99);
    await fail(50, typed, addressOf);
    expect(await noted()).toBe(100);
    const [line] = await store.audit({}, 1);
    expect(line).toMatchObject({
      what: 'sign-in',
      from: expect.stringMatching(/^198\.51\./),
      result: { ok: false },
    });
    // Attempts with the name of a person are still noted.
    await fail(1, () => 'vic', addressOf);
    expect(await store.audit({ who: 'vic' }, 10)).toHaveLength(1);
    clock.advance(24 * 3_600_000);
    await fail(1, typed, addressOf);
    expect(await noted()).toBe(101);
    const kept = [JSON.stringify(await store.audit({}, 1000)), ...lines].join('');
    expect(kept).not.toContain('Passw0rd');
  });
});
