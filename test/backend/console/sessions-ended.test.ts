/** When a person's sessions end, their open pages are looked for at once and not at the next ping. */
import { expect, it } from 'vitest';
import type { PasswordHasher } from '../../../src/adapters/console/password-hash.ts';
import { createLogger } from '../../../src/adapters/log.ts';
import { createAudit } from '../../../src/backend/console/audit.ts';
import type { Call } from '../../../src/backend/console/call.ts';
import { peopleRoutes } from '../../../src/backend/console/routes-people.ts';
import { createSignIn, LONGEST_MS } from '../../../src/backend/console/sign-in.ts';
import { createConsoleStore } from '../../../src/backend/store/console-store.ts';
import { createSqliteEngine } from '../../../src/backend/store/sqlite-engine.ts';
import { MEMORY_STORE } from '../../../src/protocol/backend-config.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const PASSWORD = 'correct horse battery';
const NEXT = 'another long password';

it.each([
  ['a sign-out', 'POST /api/sign-out', {}, ['of ann, elsewhere', 'of otto']],
  ['an own new password', 'POST /api/me/password', { old: PASSWORD, new: NEXT }, ['of ann', 'of otto']],
  ['a change of role', 'POST /api/people/:name', { role: 'viewer' }, ['of ann', 'of ann, elsewhere']],
  ['a removal', 'POST /api/people/:name/remove', {}, ['of ann', 'of ann, elsewhere']],
] as const)(
  'after %s only the sessions that go on are left for their pages',
  async (_, route, body, left) => {
    const store = createConsoleStore(createSqliteEngine(MEMORY_STORE));
    await store.open();
    const clock = createVirtualClock();
    const hasher: PasswordHasher = {
      hash: async (password) => password,
      check: async (password, hash) => password === hash,
    };
    const signIn = createSignIn(store, hasher, clock);
    const people = [
      { name: 'ann', role: 'administrator', passwordHash: PASSWORD },
      { name: 'otto', role: 'operator', passwordHash: PASSWORD },
    ] as const;
    for (const person of people) await store.addPerson(person);
    const [ann, otto] = people;
    const who = await store.openSession('of ann', ann, LONGEST_MS);
    await store.openSession('of ann, elsewhere', ann, LONGEST_MS);
    await store.openSession('of otto', otto, LONGEST_MS);

    const looks: Promise<string[]>[] = [];
    const look = async (): Promise<string[]> => {
      const open: string[] = [];
      for (const key of ['of ann', 'of ann, elsewhere', 'of otto'])
        if (await signIn.goesOn(key)) open.push(key);
      return open;
    };
    const log = createLogger({ level: 'info', format: 'json', sink: { write: () => {} } });
    const routes = peopleRoutes({
      store,
      signIn,
      hasher,
      audit: createAudit(store, log),
      clock,
      sessionsEnded: () => void looks.push(look()),
    });
    const request = {
      address: '192.0.2.1',
      headers: {},
      origin: 'http://localhost',
      isSecure: false,
      body: async () => JSON.stringify(body),
    };
    await routes[route]({
      request,
      params: { name: 'otto' },
      session: { key: 'of ann', who },
    } as unknown as Call);
    expect(await Promise.all(looks)).toEqual([left]);
  },
);
