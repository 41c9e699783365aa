/** The contract of what the console keeps, on both databases. */
import { expect, it } from 'vitest';
import { createSignIn } from '../../../src/backend/console/sign-in.ts';
import { createConsoleStore } from '../../../src/backend/store/console-store.ts';
import { dump, load } from '../../../src/backend/store/copy.ts';
import type { SqlEngine } from '../../../src/backend/store/sql-engine.ts';
import type { ConsoleStore, StoredConversation } from '../../../src/ports/console-store.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { type Database, onBothStores } from './both-stores.ts';

const HOUR = 3_600_000;
const admin = { name: 'ann', role: 'administrator', passwordHash: 'hash-a' } as const;
const viewer = { name: 'vic', role: 'viewer', passwordHash: 'hash-v' } as const;

const MINUTE = 60_000;
const DAY = 24 * HOUR;
/** The night in which the clocks of Europe are set forward. */
const NIGHT = Date.UTC(2026, 2, 28, 22);

/** For sign-ins without a password. */
const NO_HASHER = { hash: async () => '', check: async () => false };

/** With the database's clock in the hands of the test. */
async function withClock(
  database: Database,
  use: (store: ConsoleStore, clock: { now: number }, engine: SqlEngine) => Promise<void>,
): Promise<void> {
  const engine = database.engine();
  const clock = { now: NIGHT };
  const timed = {
    ...engine,
    get now() {
      return String(clock.now);
    },
  };
  const store = createConsoleStore(timed);
  try {
    await use(store, clock, engine);
  } finally {
    await store.close();
  }
}

async function withStore(database: Database, use: (store: ConsoleStore) => Promise<void>): Promise<void> {
  const store = createConsoleStore(database.engine());
  try {
    await use(store);
  } finally {
    await store.close();
  }
}

onBothStores((maker) => {
  it('gives the claim on a configuration to one holder, until it is released or its lease is over', async () => {
    await withClock(await maker.make(), async (store, clock) => {
      const claim = (target: string, holder: string) => store.claimConfig(target, holder, MINUTE);
      expect(await Promise.all([claim('p/a', 'x'), claim('p/b', 'x')])).toEqual([true, true]);
      expect(await claim('p/a', 'y')).toBe(false);
      await store.releaseConfig('p/a', 'y');
      expect(await claim('p/a', 'y')).toBe(false);
      await store.releaseConfig('p/a', 'x');
      expect(await claim('p/a', 'y')).toBe(true);
      clock.now += MINUTE;
      expect(await claim('p/a', 'z')).toBe(false);
      clock.now += 1;
      expect(await claim('p/a', 'z')).toBe(true);
      await store.releaseConfig('p/a', 'y');
      expect(await claim('p/a', 'y')).toBe(false);
    });
  });

  it('contradicts the newest configuration of a target, and once', async () => {
    await withClock(await maker.make(), async (store, clock) => {
      const write = async (what: string, on: string, text: string): Promise<void> => {
        clock.now += 1;
        await store.endAudit(
          await store.beginAudit({ who: 'ann', from: '::1', what, on, args: '{}' }),
          true,
          text,
        );
      };
      await write('config.device', 'museum/a', 'said 1');
      await write('config.device', 'museum/a', 'said 1');
      await write('config.device', 'museum/b', 'said 1');
      await write('command.mute', 'museum/a', 'said 1');
      for (const how of ['first', 'second']) await store.contradictAudit('museum/a', 'said 1', how);
      await store.contradictAudit('museum/a', 'said 2', 'never said');
      const lines = (await store.audit({}, 10)).map(({ on, result }) => [on, result?.ok, result?.text]);
      expect(lines).toEqual([
        ['museum/a', true, 'said 1'],
        ['museum/b', true, 'said 1'],
        ['museum/a', false, 'said 1; first'],
        ['museum/a', true, 'said 1'],
      ]);
    });
  });

  it('keeps people over a restart, and a name is taken once', async () => {
    const database = await maker.make();
    await withStore(database, async (store) => {
      expect(await store.addPerson(admin)).toBe(true);
      expect(await store.addPerson({ ...admin, role: 'viewer' })).toBe(false);
      await store.addPerson(viewer);
    });
    await withStore(database, async (store) => {
      expect(await store.people()).toMatchObject([admin, viewer]);
      expect(await store.person('ann')).toMatchObject({ ...admin, seenAt: null });
      expect(await store.person('nobody')).toBeNull();
    });
  });

  it('never loses its last administrator, also when two leave at once', async () => {
    const database = await maker.make();
    await withStore(database, async (store) => {
      await store.addPerson(admin);
      await store.addPerson({ ...admin, name: 'bob' });
      const outcomes = await Promise.all([
        store.removePerson('ann'),
        store.changePerson('bob', { role: 'viewer' }),
      ]);
      expect(outcomes.sort()).toEqual(['done', 'last']);
      const people = await store.people();
      expect(people.filter(({ role }) => role === 'administrator')).toHaveLength(1);
      expect(await store.removePerson('nobody')).toBe('unknown');
    });
  });

  it('a session ends at sign-out, when idle, at its end, and at a change of password or role', async () => {
    await withStore(await maker.make(), async (store) => {
      await store.addPerson(admin);
      await store.addPerson(viewer);
      const begin = (key: string, longest = HOUR) => store.openSession(key, viewer, longest);
      await begin('k1');
      expect(await store.useSession('k1', HOUR)).toMatchObject({ name: 'vic', role: 'viewer' });
      expect(await store.useSession('k1', 0)).toBeNull();
      await store.endSession('k1');
      expect(await store.useSession('k1', HOUR)).toBeNull();
      await begin('k2', 0);
      expect(await store.useSession('k2', HOUR)).toBeNull();
      await begin('k3');
      await begin('k4');
      await store.changePerson('vic', { passwordHash: 'hash-2' }, 'k4');
      expect(await store.useSession('k3', HOUR)).toBeNull();
      expect(await store.useSession('k4', HOUR)).not.toBeNull();
      await store.changePerson('vic', { role: 'operator' });
      expect(await store.useSession('k4', HOUR)).toBeNull();
      // The password was checked before it was changed.
      expect(await begin('k5')).toBeNull();
      await store.openSession('k6', { ...viewer, passwordHash: 'hash-2' }, HOUR);
      await store.removePerson('vic');
      expect(await store.useSession('k6', HOUR)).toBeNull();
    });
  });

  it('counts attempts to sign in one after the other, for all backends, and forgets them with the person', async () => {
    const database = await maker.make();
    await withStore(database, async (store) => {
      await store.addPerson(admin);
      await store.addPerson(viewer);
      await withStore(database, async (other) => {
        const most = 10;
        const attempt = (one: ConsoleStore, name: string) =>
          one.attempt(name, (known, now) =>
            known !== null && known.count >= most
              ? { attempts: null, waitMs: 7 }
              : { attempts: { since: known?.since ?? now, count: (known?.count ?? 0) + 1 }, waitMs: 0 },
          );
        for (const name of ['vic', 'nobody']) {
          const all = await Promise.all(
            Array.from({ length: 30 }, (_, index) => attempt(index % 2 === 0 ? store : other, name)),
          );
          expect(all.filter(({ waitMs }) => waitMs === 0)).toHaveLength(most);
          expect(all[0]?.person?.name ?? null).toBe(name === 'vic' ? 'vic' : null);
        }
        expect((await other.person('vic'))?.attempts?.count).toBe(most);
        expect((await attempt(other, 'ann')).waitMs).toBe(0);
        await store.clearAttempts('vic');
        expect((await attempt(other, 'vic')).person?.attempts).toBeNull();
        expect((await store.people()).map((person) => person.attempts?.count)).toEqual([1, 1]);
        await store.removePerson('vic');
        await store.addPerson(viewer);
        expect((await store.person('vic'))?.attempts).toBeNull();
        await store.prune();
        expect((await attempt(store, 'nobody')).waitMs).toBe(7);
      });
    });
  });

  it('finds audit lines by person, action, target and time, newest first and page by page', async () => {
    await withClock(await maker.make(), async (store, clock) => {
      const entry = { who: 'ann', from: '192.0.2.1', what: 'command.mute', on: 'museum/a', args: '{}' };
      const first = await store.beginAudit(entry);
      await store.endAudit(first, false, 'no answer');
      // Ids within one millisecond are in no order.
      clock.now += 1;
      await store.beginAudit({ ...entry, who: 'bob', what: 'people.add', on: null });
      const all = await store.audit({}, 10);
      expect(all.map(({ who }) => who)).toEqual(['bob', 'ann']);
      expect(all[1]).toMatchObject({ ...entry, result: { ok: false, text: 'no answer' } });
      expect(all[0]?.result).toBeNull();
      expect(await store.audit({ what: 'command' }, 10)).toHaveLength(1);
      expect(await store.audit({ what: '%' }, 10)).toHaveLength(0);
      expect(await store.audit({ who: 'bob', on: 'museum/a' }, 10)).toHaveLength(0);
      expect(await store.audit({ before: all[0]?.id }, 10)).toHaveLength(1);
      expect(all.map(({ at }) => at)).toEqual([NIGHT + 1, NIGHT]);
      expect(await store.audit({ from: NIGHT + 1 }, 10)).toMatchObject([{ who: 'bob' }]);
      expect(await store.audit({ to: NIGHT + 1 }, 10)).toMatchObject([{ who: 'ann' }]);
      expect(await store.audit({}, 1)).toMatchObject([{ who: 'bob' }]);
      // A result is written once.
      await store.endAudit(first, true, 'late');
      expect((await store.audit({ who: 'ann' }, 10))[0]?.result?.text).toBe('no answer');
    });
  });

  it('puts new audit lines before those that an earlier release has written', async () => {
    await withClock(await maker.make(), async (store, _clock, engine) => {
      await store.open();
      // "mnavikfz" is the millisecond before NIGHT in base 36.
      const written = "'0mnavikfzffffffffffff', 1774735199999, 'old', '::1', 'command.mute', '{}'";
      await engine.transact(null, (sql) =>
        sql.query(`INSERT INTO audit (id, at, who, address, what, args) VALUES (${written})`),
      );
      await store.beginAudit({ who: 'new', from: '::1', what: 'command.mute', on: null, args: '{}' });
      expect((await store.audit({}, 10)).map(({ who }) => who)).toEqual(['new', 'old']);
    });
  });

  it('finds the newest jobs, and those of an instance that was not heard for its lease', async () => {
    await withClock(await maker.make(), async (store, clock) => {
      const job = { endedAt: null, body: '{}' };
      for (const [id, at] of [
        ['first', 5],
        ['last', 7],
        ['middle', 6],
      ] as const)
        await store.saveJob({ ...job, id, at }, 'one', 15_000);
      expect((await store.jobs(2)).map(({ id }) => id)).toEqual(['last', 'middle']);
      clock.now += 15_000;
      expect(await store.claimJobs('two', 15_000)).toEqual([]);
      clock.now += 1;
      expect((await store.claimJobs('two', 15_000)).map(({ id }) => id).sort()).toEqual([
        'first',
        'last',
        'middle',
      ]);
      clock.now += 15_000;
      expect(await store.claimJobs('three', 15_000)).toEqual([]);
    });
  });

  it('a session goes on while it is used, twelve hours from the last use, and a week at most', async () => {
    await withClock(await maker.make(), async (store, clock) => {
      await store.addPerson(viewer);
      const use = (key: string, afterMs: number) => {
        clock.now = NIGHT + afterMs;
        return store.useSession(key, 12 * HOUR);
      };
      await store.openSession('k', viewer, 7 * DAY);
      for (let hours = 11; hours < 7 * 24; hours += 11) expect(await use('k', hours * HOUR)).not.toBeNull();
      expect(await use('k', 7 * DAY - 1)).toMatchObject({ endsAt: NIGHT + 7 * DAY });
      expect(await use('k', 7 * DAY)).toBeNull();

      clock.now = NIGHT;
      await store.openSession('idle', viewer, 7 * DAY);
      expect(await use('idle', 12 * HOUR - 1)).toMatchObject({ endsAt: NIGHT + 24 * HOUR - 1 });
      expect(await use('idle', 24 * HOUR - 1)).toBeNull();
    });
  });

  it('a page that is open without a person does not use its session', async () => {
    await withClock(await maker.make(), async (store, clock) => {
      await store.addPerson(viewer);
      await store.openSession('k', viewer, 7 * DAY);
      const look = (afterMs: number) => {
        clock.now = NIGHT + afterMs;
        return store.useSession('k', 12 * HOUR, false);
      };
      const { goesOn } = createSignIn(store, NO_HASHER, createVirtualClock());
      for (let minutes = 60; minutes < 12 * 60; minutes += 60)
        expect([await look(minutes * MINUTE), await goesOn('k')]).toMatchObject([
          { endsAt: NIGHT + 12 * HOUR },
          true,
        ]);
      expect([await look(12 * HOUR - 1), await goesOn('k')]).toMatchObject([{}, true]);
      expect([await look(12 * HOUR), await goesOn('k')]).toEqual([null, false]);
    });
  });

  it('a job is claimed by one instance when its own is gone', async () => {
    await withStore(await maker.make(), async (store) => {
      const job = { id: 'j1', at: 5, endedAt: null, body: '{"a":1}' };
      expect(await store.saveJob(job, 'one', HOUR)).toBe(true);
      expect(await store.claimJobs('two', HOUR)).toEqual([]);
      await store.saveJob({ ...job, body: '{"a":2}' }, 'one', -1);
      expect(await store.claimJobs('two', HOUR)).toEqual([{ ...job, body: '{"a":2}' }]);
      expect(await store.claimJobs('three', HOUR)).toEqual([]);
      expect(await store.saveJob({ ...job, body: '{"a":3}' }, 'one', HOUR)).toBe(false);
      expect(await store.saveJob({ ...job, endedAt: 9 }, 'two', -1)).toBe(true);
      expect(await store.claimJobs('three', HOUR)).toEqual([]);
      expect(await store.job('j1')).toEqual({ ...job, endedAt: 9 });
      expect(await store.jobs(10)).toHaveLength(1);
    });
  });

  it('sums conversations by day, device and languages, and counts each once', async () => {
    await withStore(await maker.make(), async (store) => {
      const one: StoredConversation = {
        id: 'c1',
        device: 'museum/a',
        durationS: 60,
        sentences: 4,
        delayMs: 800,
        billedS: 50,
        languages: ['en', 'es'],
      };
      const other = { ...one, id: 'c2', delayMs: null, device: 'museum/b' };
      for (const each of [one, one, other, one]) await store.addConversation(each, 9);
      const far = 8_000_000_000_000;
      const [day] = await store.conversations(0, far, 'day');
      expect(day).toMatchObject({ conversations: 2, durationS: 120, sentences: 8, delayMs: 800, delays: 1 });
      expect(await store.conversations(0, far, 'device')).toHaveLength(2);
      expect((await store.conversations(0, far, 'languages'))[0]?.key).toBe('en,es');
      expect(await store.conversations(0, 5, 'day')).toEqual([]);
    });
  });

  it('keeps audit and conversations for 396 days, jobs for 31, attempts for one, and sessions to their end', async () => {
    await withClock(await maker.make(), async (store, clock, engine) => {
      await store.addPerson(viewer);
      await store.openSession('k', viewer, 7 * DAY);
      await store.beginAudit({ who: 'ann', from: '', what: 'sign-in', on: null, args: '{}' });
      await store.saveJob({ id: 'j', at: NIGHT, endedAt: NIGHT, body: '{}' }, 'one', -1);
      await store.attempt('nobody', (_known, now) => ({ attempts: { since: now, count: 1 }, waitMs: 0 }));
      const ended = { durationS: 60, sentences: 4, delayMs: 800, billedS: 50, languages: ['en'] };
      await store.addConversation({ id: 'c', device: 'museum/a', ...ended }, 9);
      const tables = ['sign_in_attempt', 'console_session', 'console_job', 'audit', 'conversation'];
      const kept = async (afterMs: number): Promise<string[]> => {
        clock.now = NIGHT + afterMs;
        await store.prune();
        const full: string[] = [];
        for (const table of tables) {
          const rows = await engine.transact(null, (sql) => sql.query(`SELECT * FROM ${table}`));
          if (rows.length > 0) full.push(table);
        }
        return full;
      };
      expect(await kept(DAY)).toEqual(tables);
      expect(await kept(DAY + 1)).toEqual(tables.slice(1));
      expect(await kept(7 * DAY)).toEqual(tables.slice(1));
      expect(await kept(7 * DAY + 1)).toEqual(tables.slice(2));
      expect(await kept(31 * DAY)).toEqual(tables.slice(2));
      expect(await kept(31 * DAY + 1)).toEqual(tables.slice(3));
      expect(await kept(396 * DAY)).toEqual(tables.slice(3));
      expect(await kept(396 * DAY + 1)).toEqual([]);
      expect(await store.people()).toHaveLength(1);
    });
  });

  it('prunes what has ended, and a backup carries people, audit and conversations, but no session', async () => {
    const database = await maker.make();
    const lines: string[] = [];
    await withStore(database, async (store) => {
      await store.addPerson(admin);
      await store.openSession('key', admin, HOUR);
      await store.beginAudit({ who: 'ann', from: '', what: 'sign-in', on: null, args: '{}' });
      await store.prune();
      expect(await store.useSession('key', HOUR)).not.toBeNull();
    });
    const source = database.engine();
    await dump(source, (line) => lines.push(line));
    await source.close();
    const other = await maker.make();
    const target = other.engine();
    await load(target, lines);
    await target.close();
    await withStore(other, async (store) => {
      expect(await store.person('ann')).toMatchObject(admin);
      expect(await store.audit({}, 10)).toHaveLength(1);
      expect(await store.useSession('key', HOUR)).toBeNull();
    });
  });
});
