/** The audit: nothing is done without its line, and its pages leave nothing out. */
import { describe, expect, it } from 'vitest';
import { Busy, type PasswordHasher } from '../../../src/adapters/console/password-hash.ts';
import { createLogger } from '../../../src/adapters/log.ts';
import { createAudit } from '../../../src/backend/console/audit.ts';
import type { Call } from '../../../src/backend/console/call.ts';
import { Refusal } from '../../../src/backend/console/refusal.ts';
import { peopleRoutes, publicRoutes } from '../../../src/backend/console/routes-people.ts';
import { createSignIn } from '../../../src/backend/console/sign-in.ts';
import { createConsoleStore } from '../../../src/backend/store/console-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import type { AuditEntry, ConsoleStore } from '../../../src/ports/console-store.ts';
import { StoreDown } from '../../../src/ports/store.ts';
import { MEMORY_STORE } from '../../../src/protocol/backend-config.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const ACTION = { who: 'ann', from: '192.0.2.1', what: 'people.remove', on: 'vic' };
const log = createLogger({ level: 'info', format: 'json', sink: { write: () => {} } });

/** What happens, in order. @param down the writes that fail */
function openAudit(down: readonly ('begin' | 'end')[] = []) {
  const order: string[] = [];
  const entries: AuditEntry[] = [];
  const store = {
    async beginAudit(entry: AuditEntry) {
      if (down.includes('begin')) throw new StoreDown('the disk is full');
      order.push('begin');
      entries.push(entry);
      return 'line-1';
    },
    async endAudit(id: string, ok: boolean, text: string) {
      if (down.includes('end')) throw new StoreDown('the disk is full');
      order.push(`end ${id} ${ok}: ${text}`);
    },
  } as unknown as ConsoleStore;
  const act = (work: () => Promise<{ result: string }>, args = {}) =>
    createAudit(store, log).act({ ...ACTION, args }, () => {
      order.push('act');
      return work();
    });
  return { act, order, entries };
}

describe('an action', () => {
  it('is written down before it is done, and its result after it', async () => {
    const { act, order, entries } = openAudit();
    await act(async () => ({ result: 'removed' }));
    expect(order).toEqual(['begin', 'act', 'end line-1 true: removed']);
    expect(entries).toEqual([{ ...ACTION, args: '{}' }]);
  });

  it('is not done when it cannot be written down', async () => {
    const { act, order } = openAudit(['begin']);
    await expect(act(async () => ({ result: 'removed' }))).rejects.toThrow('the disk is full');
    expect(order).toEqual([]);
  });

  it.each([
    [
      new Refusal(400, 'invalid', 'password: "hunter2" is too short'),
      'it was refused: the input was not valid',
    ],
    [new Refusal(409, 'exists', 'there is a person "vic" already'), 'there is a person "vic" already'],
    [new TypeError('hunter2 is undefined'), 'it failed: the log of the backend says why'],
  ])('that fails (%s) has the result "%s"', async (error, text) => {
    const { act, order } = openAudit();
    await expect(act(() => Promise.reject(error))).rejects.toBe(error);
    expect(order).toEqual(['begin', 'act', `end line-1 false: ${text}`]);
    // A person reads of the fault, and not that it could not be written down.
    const silent = openAudit(['end']);
    await expect(silent.act(() => Promise.reject(error))).rejects.toBe(error);
  });

  it('has a result of 400 characters at most', async () => {
    const { act, order } = openAudit();
    await act(async () => ({ result: 'so '.repeat(200) }));
    expect(order.at(-1)).toBe(`end line-1 true: ${'so '.repeat(200).slice(0, 400)}...`);
  });

  it('keeps 16,384 characters of its arguments, and of longer ones that they were shortened', async () => {
    const { act, entries } = openAudit();
    // {"a":[...],"b":"..."}: 27 texts of 600 characters make 16,295 with an empty b.
    const args = (rest: number) => ({
      a: Array.from({ length: 27 }, () => 'so '.repeat(200)),
      b: 'a b c d e '.repeat(9).slice(0, rest),
    });
    for (const rest of [89, 90]) await act(async () => ({ result: 'done' }), args(rest));
    expect(entries.map(({ args: text }) => text.length)).toEqual([16_384, 18]);
    expect(entries[1]?.args).toBe('{"shortened":true}');
  });
});

/** @param times of what is written, in turn; left out: now */
function openRoutes(hasher = {} as PasswordHasher, times: string[] = []) {
  const engine = createSqliteEngine(MEMORY_STORE);
  const store = createConsoleStore({
    ...engine,
    get now() {
      return String(Date.parse(times[0] ?? '') || engine.now);
    },
  });
  const clock = createVirtualClock();
  const signIn = createSignIn(store, hasher, clock);
  const audit = createAudit(store, log);
  const parts = { store, signIn, hasher, audit, clock, sessionsEnded: () => {} };
  return { store, routes: peopleRoutes(parts), open: publicRoutes(parts) };
}

describe('a password, while too many others are checked,', () => {
  it('is refused with the words to try again in two seconds, and nothing is changed', async () => {
    const busy = () => Promise.reject(new Busy('too many people sign in at once'));
    const { store, routes, open } = openRoutes({ hash: busy, check: busy });
    await store.addPerson({ name: 'ann', role: 'administrator', passwordHash: 'hash-a' });
    const call = (body: object) =>
      ({
        request: { address: '192.0.2.1', body: async () => JSON.stringify(body) },
        params: { name: 'ann' },
        session: { key: 'k', who: { name: 'ann', role: 'administrator', endsAt: 0 } },
      }) as unknown as Call;
    const password = 'a new long password';
    for (const done of [
      () => open['POST /api/sign-in'](call({ name: 'ann', password })),
      () => routes['POST /api/me/password'](call({ old: password, new: password })),
      () => routes['POST /api/people'](call({ name: 'eve', role: 'viewer', password })),
      () => routes['POST /api/people/:name'](call({ password })),
    ])
      await expect(done()).rejects.toMatchObject({
        status: 429,
        problem: { code: 'too_often', retryAfterS: 2 },
      });
    expect(await store.people()).toMatchObject([{ name: 'ann', passwordHash: 'hash-a' }]);
    const results = (await store.audit({}, 10)).map(({ what, result }) => [what, result?.ok]);
    expect(results.sort()).toEqual([
      ['people.add', false],
      ['people.password', false],
      ['people.password', false],
      ['sign-in', false],
    ]);
  });
});

describe('the pages of the audit', () => {
  async function openRoute(count: number, times: string[] = []) {
    const { store, routes } = openRoutes(undefined, times);
    await store.open();
    for (let index = 0; index < count; index += 1) {
      await store.beginAudit({ who: 'ann', from: '', what: `act.${index}`, on: null, args: '{}' });
      times.shift();
    }
    return async (query: string) => {
      const request = { query: new URLSearchParams(query) };
      const reply = await routes['GET /api/audit']({ request, params: {} } as unknown as Call);
      return (reply as unknown as { json: { lines: { what: string; at: string }[]; before: string | null } })
        .json;
    };
  }

  it.each([
    [99, [99]],
    [100, [100]],
    [101, [100, 1]],
    [200, [100, 100]],
    [250, [100, 100, 50]],
  ])('of %i lines are %j, each line once', async (count, sizes) => {
    const ask = await openRoute(count);
    const pages: string[][] = [];
    let before: string | null = '~';
    while (before !== null) {
      const page = await ask(`before=${before}`);
      pages.push(page.lines.map(({ what }) => what));
      before = page.before;
    }
    expect(pages.map(({ length }) => length)).toEqual(sizes);
    expect(new Set(pages.flat()).size).toBe(count);
  });

  it.each([
    ['from=2025-03-30&to=2025-03-31', [3, 2, 1]],
    ['from=2025-03-31&to=2025-03-31', [3, 2]],
    ['to=2025-03-29', [0]],
    ['from=2025-04-01', [4]],
  ])('for %s hold their first and their last day whole, the newest line first', async (query, wanted) => {
    const times = [
      '2025-03-29T23:59:59.999Z',
      '2025-03-30T00:00:00.000Z',
      '2025-03-31T12:00:00.000Z',
      '2025-03-31T23:59:59.999Z',
      '2025-04-01T00:00:00.000Z',
    ];
    const ask = await openRoute(times.length, [...times]);
    const { lines } = await ask(query);
    expect(lines.map(({ at }) => at)).toEqual(wanted.map((index) => times[index]));
  });
});
