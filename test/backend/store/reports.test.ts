/** What devices report about their streams and conversations, on both databases. */
import { expect, it } from 'vitest';
import { createConsoleStore } from '../../../src/backend/store/console-store.ts';
import type { StoredConversation } from '../../../src/ports/console-store.ts';
import type { EndReport, LedgerEntry, Store } from '../../../src/ports/store.ts';
import { onBothStores } from './both-stores.ts';

const MINUTE = 60_000;
const DAY = 86_400_000;
/** 23:30 on the last day of a month, far from noon and from UTC's own midnight in every zone of Europe. */
const NIGHT = Date.UTC(2026, 9, 31, 23, 30);
const OCTOBER = [Date.UTC(2026, 9, 1), Date.UTC(2026, 10, 1)] as const;
const NOVEMBER = [Date.UTC(2026, 10, 1), Date.UTC(2026, 11, 1)] as const;

const given = (session: string, ms = 30 * MINUTE, device = 'museum/a'): LedgerEntry => ({
  id: `given/${session}`,
  device,
  lane: 'main',
  session,
  source: 'backend',
  ms,
});
const end = (session: string, ms: number, more: Partial<EndReport> = {}): EndReport => ({
  device: 'museum/a',
  lane: 'main',
  session,
  ms,
  ...more,
});
const billOf = async (store: Store, [from, to]: readonly [number, number]) =>
  (await store.sums(from, to)).map(({ device, sessions, ms, unreported, implausible }) => ({
    device,
    sessions,
    minutes: ms / MINUTE,
    unreported,
    implausible,
  }));

onBothStores((maker) => {
  it('writes one end for each session that the device was given, and nothing else', async () => {
    const database = await maker.make();
    const [one, other] = [database.store(), database.store()];
    await one.append(given('s1'));
    await one.append(given('s2'));
    await one.append(given('theirs', 30 * MINUTE, 'museum/b'));
    expect(await one.report(end('s1', 5 * MINUTE))).toBe('new');
    // The broker may deliver it again, and to another backend.
    expect(await other.report(end('s1', 5 * MINUTE))).toBe('known');
    for (const made of [
      end('s1', 6 * MINUTE),
      end('s9', MINUTE),
      end('theirs', MINUTE),
      end('s2', MINUTE, { lane: 'other' }),
    ])
      expect(await one.report(made)).toBe('implausible');
    const both = await Promise.all([one.report(end('s2', MINUTE)), other.report(end('s2', MINUTE))]);
    expect(both.sort()).toEqual(['known', 'new']);
    expect(await billOf(one, [0, 8e12])).toMatchObject([
      { device: 'museum/a', sessions: 2, minutes: 6, unreported: 0, implausible: 0 },
      { device: 'museum/b', sessions: 1, minutes: 0, unreported: 1, implausible: 0 },
    ]);
  });

  it('counts a stream that is longer than its session without the excess, and as implausible', async () => {
    const database = await maker.make();
    const now = Date.now();
    const before = database.storeAt(now);
    for (const [session, ms] of [
      ['limited', 30 * MINUTE],
      ['nearly', 30 * MINUTE],
      ['unlimited', Number.POSITIVE_INFINITY],
      ['honest', Number.POSITIVE_INFINITY],
    ] as const)
      await before.append(given(session, ms));
    const later = database.storeAt(now + 40 * MINUTE);
    for (const report of [
      end('limited', 1e11),
      end('nearly', 30 * MINUTE + 2000),
      end('unlimited', 1e11),
      end('honest', 40 * MINUTE),
    ]) {
      expect(await later.report(report)).toBe('new');
      expect(await later.report(report)).toBe('known');
    }
    // 30, 30, 40 with the margin of a minute, and 40.
    expect(await billOf(later, [0, 8e12])).toMatchObject([{ sessions: 4, minutes: 141, implausible: 2 }]);
  });

  it('counts the number of implausible reports of devices that had a session, in their month', async () => {
    const database = await maker.make();
    const [october, november] = [database.storeAt(NIGHT), database.storeAt(NIGHT + 40 * MINUTE)];
    await october.append(given('s1'));
    await october.addImplausible(
      new Map([
        ['museum/a', 3],
        ['made/up', 500],
      ]),
    );
    await october.addImplausible(new Map([['museum/a', 4]]));
    await november.addImplausible(new Map([['museum/a', 10]]));
    expect(await billOf(november, OCTOBER)).toEqual([
      { device: 'museum/a', sessions: 1, minutes: 0, unreported: 1, implausible: 7 },
    ]);
    expect(await billOf(november, NOVEMBER)).toEqual([
      { device: 'museum/a', sessions: 0, minutes: 0, unreported: 0, implausible: 10 },
    ]);
    await database.storeAt(NIGHT + 397 * DAY).prune();
    expect((await billOf(november, OCTOBER))[0]?.implausible).toBe(0);
  });

  it('bills a stream over the end of a month in the month of its end', async () => {
    const database = await maker.make();
    const [before, after] = [database.storeAt(NIGHT), database.storeAt(NIGHT + 45 * MINUTE)];
    await before.append(given('s1', 60 * MINUTE));
    expect(await after.report(end('s1', 44 * MINUTE))).toBe('new');
    expect(await billOf(after, OCTOBER)).toEqual([
      { device: 'museum/a', sessions: 1, minutes: 0, unreported: 1, implausible: 0 },
    ]);
    expect(await billOf(after, NOVEMBER)).toEqual([
      { device: 'museum/a', sessions: 0, minutes: 44, unreported: 0, implausible: 0 },
    ]);
  });

  it('bills what ended in a month only there, and no device without sessions or streams in the next one', async () => {
    const database = await maker.make();
    const [october, november] = [database.storeAt(NIGHT), database.storeAt(NIGHT + 40 * MINUTE)];
    for (const [session, device] of [
      ['ended', 'museum/a'],
      ['open', 'museum/b'],
      ['too long', 'museum/b'],
      ['late', 'museum/c'],
    ] as const)
      await october.append(given(session, 30 * MINUTE, device));
    await october.report(end('ended', 5 * MINUTE));
    for (const [session, device] of [
      ['too long', 'museum/b'],
      ['late', 'museum/c'],
    ] as const)
      await october.report(end(session, 1e11, { device }));
    await november.append(given('new'));
    expect(await billOf(november, OCTOBER)).toEqual([
      { device: 'museum/a', sessions: 1, minutes: 5, unreported: 0, implausible: 0 },
      { device: 'museum/b', sessions: 2, minutes: 30, unreported: 1, implausible: 1 },
      { device: 'museum/c', sessions: 1, minutes: 30, unreported: 0, implausible: 1 },
    ]);
    expect(await billOf(november, NOVEMBER)).toEqual([
      { device: 'museum/a', sessions: 1, minutes: 0, unreported: 1, implausible: 0 },
    ]);
  });

  it('takes the report of a device that was without its broker for a weekend, and none a week later', async () => {
    const database = await maker.make();
    const first = database.storeAt(NIGHT);
    for (const session of ['s1', 's2']) await first.append(given(session));
    expect(await database.storeAt(NIGHT + 3 * DAY).report(end('s1', MINUTE))).toBe('new');
    const late = database.storeAt(NIGHT + 3 * DAY + 1);
    expect(await late.report(end('s2', MINUTE))).toBe('implausible');
    expect(await billOf(late, NOVEMBER)).toMatchObject([{ minutes: 1, implausible: 0 }]);
  });

  it('knows how long the streams of a device can have lasted', async () => {
    const database = await maker.make();
    const first = database.storeAt(NIGHT);
    for (const entry of [
      given('reported'),
      given('open', Number.POSITIVE_INFINITY),
      given('short', 5 * MINUTE),
      given('theirs', 30 * MINUTE, 'museum/b'),
    ])
      await first.append(entry);
    await first.report(end('reported', MINUTE));
    expect(await database.storeAt(NIGHT + 10 * MINUTE).recentStreams('museum/a')).toEqual({
      sessions: 3,
      // Reported, since it was given, and its limit.
      ms: (1 + 10 + 5) * MINUTE,
    });
    expect(await database.storeAt(NIGHT + 4 * DAY).recentStreams('museum/a')).toEqual({ sessions: 0, ms: 0 });
    expect(await first.recentStreams('museum/none')).toEqual({ sessions: 0, ms: 0 });
  });

  it('takes as many conversations of a device as it can have had, each once', async () => {
    const database = await maker.make();
    const engines = [database.engine(), database.engine()];
    const stores = engines.map(createConsoleStore);
    const talk = (id: number, device = 'museum/a'): StoredConversation => ({
      id: `${device}-${id}`,
      device,
      durationS: 1,
      sentences: 1,
      delayMs: null,
      billedS: 1,
      languages: ['en'],
    });
    const said = await Promise.all(
      Array.from({ length: 20 }, (_, id) => stores[id % 2]?.addConversation(talk(id), 7)),
    );
    expect(said.filter((one) => one === 'new')).toHaveLength(7);
    expect(said.filter((one) => one === 'implausible')).toHaveLength(13);
    const [first] = said.flatMap((one, id) => (one === 'new' ? [id] : []));
    expect(await stores[0]?.addConversation(talk(first ?? 0), 7)).toBe('known');
    expect(await stores[0]?.addConversation(talk(1, 'museum/b'), 7)).toBe('new');
    expect(await stores[0]?.conversations(0, 8e12, 'device')).toMatchObject([
      { key: 'museum/a', conversations: 7 },
      { key: 'museum/b', conversations: 1 },
    ]);
    await Promise.all(engines.map((engine) => engine.close()));
  });
});
