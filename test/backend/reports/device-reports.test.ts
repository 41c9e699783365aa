import { describe, expect, it } from 'vitest';
import { DeviceReports } from '../../../src/backend/reports/device-reports.ts';
import { createLimitedWarnings } from '../../../src/machine/limited-warnings.ts';
import type { BusListener, BusOptions } from '../../../src/ports/bus.ts';
import type { StoredConversation } from '../../../src/ports/console-store.ts';
import { type EndReport, StoreDown, ValueRefused } from '../../../src/ports/store.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const PREFIX = 'dragoman/v1';

function openReports() {
  const clock = createVirtualClock();
  const written: EndReport[] = [];
  const conversations: { one: StoredConversation; most: number }[] = [];
  const logged: string[] = [];
  const acknowledged: unknown[] = [];
  const implausible = new Map<string, number>();
  const world = {
    isDown: false,
    poison: -1,
    isImplausible: false,
    tries: 0,
    held: 0,
    /** Until then a write goes on; false: it fails. */
    slow: null as Promise<boolean> | null,
  };
  const work = <T>(act: () => T) =>
    Promise.resolve(world.slow).then((isTaken) => {
      world.tries += 1;
      if (world.isDown || isTaken === false) throw new StoreDown('the store cannot be used');
      return act();
    });
  const log = {
    trace() {},
    debug() {},
    info() {},
    error: (_: object, text: string) => void logged.push(text),
    warn: (fields: object, text: string) => void logged.push(`${text} ${JSON.stringify(fields)}`),
  };
  const buses: { options: BusOptions; listener: BusListener; isClosed: boolean }[] = [];
  const reports = new DeviceReports({
    prefix: PREFIX,
    clock,
    log,
    complain: createLimitedWarnings(log, clock),
    store: {
      report: (one) =>
        work(() => {
          if (one.ms === world.poison) throw new ValueRefused('the store does not take a value');
          if (world.isImplausible) return 'implausible';
          written.push(one);
          return 'new';
        }),
      addImplausible: (numbers) =>
        work(() => {
          for (const [device, count] of numbers)
            implausible.set(device, (implausible.get(device) ?? 0) + count);
        }),
      recentStreams: () => work(() => ({ sessions: 3, ms: 125_000 })),
    },
    conversations: {
      addConversation: (one, most) =>
        work(() => {
          conversations.push({ one, most });
          return 'new';
        }),
    },
    openBus(options, listener) {
      const bus = { options, listener, isClosed: false };
      buses.push(bus);
      return {
        connected: true,
        outbox: { depth: 0, dropped: 0 },
        urgent() {},
        reconnect() {},
        publish() {},
        async close() {
          bus.isClosed = true;
        },
      };
    },
  });
  reports.listen('backends');
  const hear = (
    payload: string,
    kind = 'session_ended',
    device = 'kiosk',
    mark: unknown = payload,
    retain = false,
  ): void =>
    buses.at(-1)?.listener.message({
      topic: `${PREFIX}/museum/${device}/event/${kind}`,
      payload,
      retain,
      properties: {},
      hold: () => {
        world.held += 1;
        return () => void acknowledged.push(mark);
      },
    });
  const ended = (live_ms: unknown, more: object = {}): string =>
    JSON.stringify({
      ts: '2026-11-27T12:00:00.000Z',
      lane: 'main',
      session: 'abc...',
      cause: 'stopped',
      live_ms,
      ...more,
    });
  const send = (ms: number, device = 'kiosk'): void => hear(ended(ms), 'session_ended', device, ms);
  const confirmed: string[] = [];
  /** A request of the device reports these ends again. */
  const repeat = (times: readonly number[], device = 'kiosk'): void =>
    reports.repeat(
      `museum/${device}`,
      times.map((ms) => ({ lane: 'main', session: `s${ms}...`, live_ms: ms })),
      () => void confirmed.push(`${device} ${times.join()}`),
    );
  return {
    clock,
    written,
    conversations,
    logged,
    acknowledged,
    implausible,
    world,
    buses,
    reports,
    hear,
    ended,
    send,
    confirmed,
    repeat,
  };
}

describe('reports of devices', () => {
  it('reach the store when it is up again, and are acknowledged only then', async () => {
    const { clock, written, logged, acknowledged, world, send } = openReports();
    world.isDown = true;
    for (const ms of [1000, 2000, 3000]) send(ms);
    await clock.elapse(300_000);
    expect({ written, acknowledged }).toEqual({ written: [], acknowledged: [] });
    // One warning a minute at most.
    expect(logged.length).toBeGreaterThan(0);
    expect(logged.length).toBeLessThanOrEqual(6);
    // One try each 2 s, however many wait.
    expect(world.tries).toBeLessThanOrEqual(151);
    world.isDown = false;
    await clock.elapse(2000);
    expect(written.map(({ ms }) => ms)).toEqual([1000, 2000, 3000]);
    expect(acknowledged).toEqual([1000, 2000, 3000]);
    expect(clock.armed).toBe(0);
  });

  it('stay with the broker when the backend ends while the store is down', async () => {
    const { clock, written, acknowledged, world, reports, buses, send } = openReports();
    world.isDown = true;
    send(1000);
    await clock.elapse(10_000);
    await reports.close();
    expect({ written, acknowledged, armed: clock.armed }).toEqual({
      written: [],
      acknowledged: [],
      armed: 0,
    });
    expect(buses.map(({ isClosed }) => isClosed)).toEqual([true]);
  });

  it('are written when the backend ends while the store works', async () => {
    const { written, acknowledged, reports, send } = openReports();
    for (const ms of [1, 2, 3]) send(ms);
    await reports.close();
    expect([written.length, acknowledged]).toEqual([3, [1, 2, 3]]);
  });

  it('stay with the broker when too many wait for the store', async () => {
    const { clock, written, acknowledged, world, send } = openReports();
    world.isDown = true;
    for (let report = 0; report < 10_001; report += 1) send(report, `kiosk-${report % 100}`);
    await clock.elapse(2000);
    expect([world.held, acknowledged.length]).toEqual([10_001, 0]);
    world.isDown = false;
    await clock.elapse(2000);
    // The broker still has the last one, and sends it again on the next connection.
    expect([written.length, acknowledged.length, written.at(-1)?.ms]).toEqual([10_000, 10_000, 9999]);
  });

  it('that the broker has kept are those of an earlier time, and are left alone', async () => {
    const { clock, written, implausible, hear, ended } = openReports();
    hear(ended(1000), 'session_ended', 'kiosk', 'kept', true);
    await clock.elapse(10_000);
    expect([written, [...implausible]]).toEqual([[], []]);
  });

  it('leave no timer when the backend ends and the store does not take the numbers of implausible ones', async () => {
    const { clock, world, reports, hear } = openReports();
    hear('nonsense');
    world.isDown = true;
    await reports.close();
    expect(clock.armed).toBe(0);
  });

  it.each(['takes', 'does not take'])('end with a write under way that the store %s', async (how) => {
    const { clock, world, implausible, reports, hear } = openReports();
    hear('nonsense');
    let end = (_: boolean): void => {};
    world.slow = new Promise((resolve) => {
      end = resolve;
    });
    await clock.elapse(5000);
    let isClosed = false;
    const closing = reports.close().then(() => {
      isClosed = true;
    });
    await clock.elapse(100);
    expect(isClosed).toBe(false);
    world.slow = null;
    end(how === 'takes');
    await closing;
    // What the store did not take is tried once more.
    expect([...implausible]).toEqual([['museum/kiosk', 1]]);
    expect(clock.armed).toBe(0);
  });

  it('leave no timer when one that cannot be read comes after the end', async () => {
    const { clock, reports, hear } = openReports();
    await reports.close();
    hear('nonsense');
    expect(clock.armed).toBe(0);
  });

  it('of equal conversations at two desks are two, and one when the broker sends it again', async () => {
    const { clock, conversations, hear } = openReports();
    const talk = JSON.stringify({ ts: null, lane: 'main', duration_s: 90, sentences: 3, languages: [] });
    for (const device of ['desk-1', 'desk-2', 'desk-1']) hear(talk, 'conversation_ended', device);
    await clock.elapse(1000);
    const ids = conversations.map(({ one }) => one.id);
    expect([new Set(ids).size, ids[0] === ids[2]]).toEqual([2, true]);
  });

  it.each([
    [{ duration_s: 1e8, sentences: 1e9, billed_s: 1e8, delay_ms: 1e11 }, [1e8, 1e9, 1e8, 1e11]],
    [{ duration_s: 1e8 + 1, sentences: 1e9 + 1, billed_s: 1e8 + 1, delay_ms: 1e11 + 1 }, [0, 0, 0, null]],
    [{ duration_s: 0, sentences: 2.5, billed_s: 0, delay_ms: 0 }, [0, 0, 0, 0]],
    [{ duration_s: -1, sentences: -1, billed_s: -1, delay_ms: -1 }, [0, 0, 0, null]],
  ])('of conversations have numbers within bounds: %j', async (numbers, expected) => {
    const { clock, conversations, hear } = openReports();
    hear(JSON.stringify({ ts: null, lane: 'main', languages: [], ...numbers }), 'conversation_ended');
    await clock.elapse(1000);
    expect(conversations.map(({ one }) => [one.durationS, one.sentences, one.billedS, one.delayMs])).toEqual([
      expected,
    ]);
  });

  it('are dropped and counted when the store does not take them, and do not stop the others', async () => {
    const { clock, written, acknowledged, implausible, world, logged, send } = openReports();
    world.poison = 7;
    for (const ms of [7, 1, 7, 2]) send(ms);
    await clock.elapse(10_000);
    expect(written.map(({ ms }) => ms)).toEqual([1, 2]);
    expect(acknowledged).toEqual([7, 1, 7, 2]);
    expect([...implausible]).toEqual([['museum/kiosk', 2]]);
    expect(logged.filter((line) => line.includes('counted and not written'))).toHaveLength(1);
  });

  it.each([
    ['a negative time', -1],
    ['a time that no number of the store can hold', 1e19],
    ['an infinite time', '@1e999@'],
    ['a time of years', 1e12],
    ['a text for a time', 'much'],
  ])('are dropped at the door: %s', async (_what, ms) => {
    const { clock, acknowledged, implausible, world, hear, ended } = openReports();
    hear(ended(ms).replaceAll('"@', '').replaceAll('@"', ''));
    await clock.elapse(10_000);
    // The only try is the number of implausible reports. What is not held is acknowledged at once.
    expect([world.tries, acknowledged, [...implausible]]).toEqual([1, [], [['museum/kiosk', 1]]]);
  });

  it.each([
    { lane: '\0' },
    { lane: 'a\u0001' },
    { session: 'x'.repeat(257) },
    { session: 'a\nb' },
    { lane: 5 },
    { cause: 'x'.repeat(5000) },
  ])('are dropped at the door: %j', async (more) => {
    const { clock, implausible, world, hear, ended } = openReports();
    hear(ended(1000, more));
    await clock.elapse(10_000);
    expect([world.tries, [...implausible]]).toEqual([1, [['museum/kiosk', 1]]]);
  });

  it('count those that the store says cannot be true, and those that were not written down yet', async () => {
    const { clock, implausible, acknowledged, world, send } = openReports();
    world.isImplausible = true;
    send(5);
    send(6, 'other');
    await clock.elapse(100);
    world.isDown = true;
    await clock.elapse(30_000);
    expect([acknowledged, [...implausible]]).toEqual([[5, 6], []]);
    world.isDown = false;
    await clock.elapse(5000);
    expect([...implausible]).toEqual([
      ['museum/kiosk', 1],
      ['museum/other', 1],
    ]);
  });

  it('are counted when they are too large to be read', async () => {
    const { clock, buses, implausible } = openReports();
    const [bus] = buses;
    expect(bus?.options.largestBytes).toBe(4096);
    bus?.listener.oversized?.(`${PREFIX}/museum/kiosk/event/session_ended`, 4097);
    bus?.listener.oversized?.(`${PREFIX}/museum/kiosk/event/other`, 4097);
    await clock.elapse(10_000);
    expect([...implausible]).toEqual([['museum/kiosk', 1]]);
  });

  it('of one device have a limit, which leaves the others alone', async () => {
    const { clock, written, implausible, send } = openReports();
    for (let ms = 0; ms < 10_000; ms += 1) send(ms);
    send(1, 'honest');
    await clock.elapse(10_000);
    expect(written.filter(({ device }) => device === 'museum/kiosk')).toHaveLength(120);
    expect(written.filter(({ device }) => device === 'museum/honest')).toHaveLength(1);
    expect([...implausible]).toEqual([['museum/kiosk', 9880]]);
    // Half of a minute later it may send 15 more.
    await clock.elapse(20_000);
    for (let ms = 0; ms < 20; ms += 1) send(ms);
    await clock.elapse(1000);
    expect(written.filter(({ device }) => device === 'museum/kiosk')).toHaveLength(135);
  });

  it('of conversations are written with what the sessions could hold, and keep what can be read', async () => {
    const { clock, conversations, acknowledged, world, hear } = openReports();
    const talk = { ts: null, lane: 'main', duration_s: 90, languages: ['en', 'es,de', 7], sentences: 3 };
    world.isDown = true;
    hear(
      JSON.stringify({ ...talk, languages: ['en', 'es,de'], delay_ms: 800, billed_s: 60 }),
      'conversation_ended',
    );
    await clock.elapse(10_000);
    expect([conversations, acknowledged]).toEqual([[], []]);
    world.isDown = false;
    hear(JSON.stringify({ ...talk, duration_s: 1e300, delay_ms: -1, billed_s: 1e19 }), 'conversation_ended');
    await clock.elapse(10_000);
    // 50 without a stream, one for each of 3 sessions, and 12 in 125 s.
    expect(conversations.map(({ most }) => most)).toEqual([65, 65]);
    expect(conversations.map(({ one }) => one)).toMatchObject([
      {
        device: 'museum/kiosk',
        durationS: 90,
        sentences: 3,
        delayMs: 800,
        billedS: 60,
        languages: ['en', 'es de'],
      },
      { device: 'museum/kiosk', durationS: 0, sentences: 3, delayMs: null, billedS: 0, languages: [] },
    ]);
    expect(acknowledged).toHaveLength(2);
  });

  it('come over a shared subscription, or over a plain one when the broker has no other', () => {
    const { buses, reports } = openReports();
    reports.listen('backends');
    reports.listen(null);
    const filters = buses.map(({ options }) =>
      options.subscriptions.map((one) => (typeof one === 'string' ? one : one.filter)),
    );
    const plain = [`${PREFIX}/+/+/event/session_ended`, `${PREFIX}/+/+/event/conversation_ended`];
    expect(filters).toEqual([plain.map((filter) => `$share/backends/${filter}`), plain]);
    expect(buses.map(({ isClosed }) => isClosed)).toEqual([true, false]);
    // The broker keeps them for a backend that is away.
    for (const { options } of buses) expect(options.subscriptions).toMatchObject([{ qos: 1 }, { qos: 1 }]);
  });
});

describe('ends that a request reports again', () => {
  it('are written, and confirmed when all are', async () => {
    const { clock, written, confirmed, repeat } = openReports();
    repeat([1, 2, 3]);
    expect(confirmed).toEqual([]);
    await clock.elapse(0);
    expect(written).toEqual(
      [1, 2, 3].map((ms) => ({ device: 'museum/kiosk', lane: 'main', session: `s${ms}...`, ms })),
    );
    expect(confirmed).toEqual(['kiosk 1,2,3']);
  });

  it('are confirmed, and counted, when they cannot be true or the store does not take one', async () => {
    const { clock, written, confirmed, implausible, world, repeat } = openReports();
    world.poison = 2;
    repeat([1, 2, 3]);
    await clock.elapse(0);
    world.isImplausible = true;
    repeat([4]);
    await clock.elapse(10_000);
    expect([written.map(({ ms }) => ms), confirmed]).toEqual([
      [1, 3],
      ['kiosk 1,2,3', 'kiosk 4'],
    ]);
    expect([...implausible]).toEqual([['museum/kiosk', 2]]);
  });

  it('are neither kept nor confirmed while the store is down, and stand before no report', async () => {
    const { clock, written, confirmed, world, repeat, send } = openReports();
    world.isDown = true;
    for (let kiosk = 0; kiosk < 500; kiosk += 1) repeat([1], `kiosk-${kiosk}`);
    await clock.elapse(0);
    send(7);
    repeat([1, 2]);
    await clock.elapse(60_000);
    world.isDown = false;
    await clock.elapse(2000);
    expect(written.map(({ ms }) => ms)).toEqual([7, 1, 2]);
    expect(confirmed).toEqual(['kiosk 1,2']);
  });

  it('leave room for the reports of others while the store is slow', async () => {
    const { clock, written, world, repeat, send } = openReports();
    world.isDown = true;
    send(7);
    await clock.elapse(0);
    for (let kiosk = 0; kiosk < 2000; kiosk += 1) repeat([1], `kiosk-${kiosk}`);
    world.isDown = false;
    await clock.elapse(2000);
    expect(written).toHaveLength(1001);
  });

  it('of one device are left out beyond six requests a minute, and count as nothing', async () => {
    const { clock, confirmed, implausible, repeat, send, written } = openReports();
    for (let request = 0; request < 100; request += 1) repeat([request]);
    repeat([1], 'honest');
    await clock.elapse(10_000);
    expect(confirmed).toEqual(['kiosk 0', 'kiosk 1', 'kiosk 2', 'kiosk 3', 'kiosk 4', 'kiosk 5', 'honest 1']);
    repeat([200]);
    // Its events have their own limit.
    for (let ms = 0; ms < 120; ms += 1) send(ms);
    await clock.elapse(10_000);
    expect([confirmed.at(-1), written.length, [...implausible]]).toEqual(['kiosk 200', 8 + 120, []]);
  });

  it('are left to the device when the backend ends', async () => {
    const { reports, written, confirmed, repeat, clock } = openReports();
    repeat([1]);
    const closing = reports.close();
    repeat([2]);
    await closing;
    expect([written.map(({ ms }) => ms), confirmed, clock.armed]).toEqual([[1], ['kiosk 1'], 0]);
  });
});
