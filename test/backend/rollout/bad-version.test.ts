/** A fleet of 200 simulated devices gets a version, driven by the shipped driver in virtual time. */
import { describe, expect, it } from 'vitest';
import { type RolloutDriver, startRolloutDriver } from '../../../src/backend/rollout/driver.ts';
import { countsOf } from '../../../src/backend/rollout/report.ts';
import { abort, pause, resume } from '../../../src/backend/rollout/requests.ts';
import { createRollout, type Rollout, readRollout } from '../../../src/backend/rollout/rollout.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { createMemoryRolloutStore } from './memory-rollout-store.ts';
import { type Behaviour, createSimulatedFleet, PREFIX } from './simulated-fleet.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const quiet = { info() {}, warn() {}, error() {}, debug() {}, trace() {} };

function world(behaves: (index: number, version: string) => Behaviour) {
  const clock = createVirtualClock();
  const store = createMemoryRolloutStore(() => clock.now());
  const fleet = createSimulatedFleet({ clock, count: 200, behaves });
  const complaints: string[] = [];
  const drive = (instance: string): RolloutDriver =>
    startRolloutDriver({
      config: { allow: ['museum/*'], groups: [] },
      prefix: PREFIX,
      store,
      signer: null,
      instance,
      clock,
      openBus: fleet.openBus,
      ledger: fleet.ledger,
      log: quiet,
      stepMs: MINUTE,
      complain: (kind) => void complaints.push(kind),
    });
  const rollout = async (): Promise<Rollout> => {
    const found = readRollout((await store.current())?.body ?? '');
    if (found === null) throw new Error('there is no roll-out');
    return found;
  };
  return {
    clock,
    store,
    fleet,
    drive,
    rollout,
    complaints,
    async begin(version = '1.3.0', waves = [1, 10, 100]) {
      const plan = {
        version,
        waves,
        group: null,
        by: 'ann',
        manifestUrl: 'https://r.example/dists/stable/InRelease',
      };
      const next = createRollout(`rollout-${version}`, plan, clock.wall() ?? 0);
      const before = await store.current();
      if (!(await store.replace(before, { id: next.id, body: JSON.stringify(next) })))
        throw new Error('refused');
    },
    async ask(what: (one: Rollout) => ReturnType<typeof pause>) {
      const row = await store.current();
      const asked = what(await rollout());
      if (row === null || !asked.ok) throw new Error('refused');
      await store.save(row, JSON.stringify(asked.rollout));
    },
    /** Lets time pass until the roll-out is in a state. @returns how long it took (ms) */
    async until(is: (one: Rollout) => boolean, mostMs: number): Promise<number> {
      const began = clock.now();
      while (!is(await rollout())) {
        if (clock.now() - began > mostMs)
          throw new Error(`not within ${mostMs} ms: ${JSON.stringify(countsOf(await rollout()))}`);
        await clock.elapse(3 * MINUTE);
      }
      return clock.now() - began;
    },
    got: (version = '1.3.0') => fleet.devices.filter(({ ran }) => ran.has(version)),
    ordered: () => fleet.devices.filter(({ orders }) => orders.length > 0),
  };
}
/** The instances that held the roll-out so far. */
function spyOnLease(store: ReturnType<typeof createMemoryRolloutStore>): () => readonly string[] {
  const held = new Set<string>();
  const { drive } = store;
  store.drive = async (instance, leaseMs) => {
    const key = await drive(instance, leaseMs);
    if (key !== null) held.add(instance);
    return key;
  };
  return () => [...held];
}
const isStopped = ({ state }: Rollout): boolean => state === 'stopped';

describe('a bad version in a fleet of 200', () => {
  it('reaches two devices when it does not start, and both return to the version before', async () => {
    const { begin, drive, until, got, ordered, fleet, clock, rollout } = world(() => 'crashes');
    await begin();
    drive('one');
    const took = await until(isStopped, 2 * HOUR);
    await clock.elapse(HOUR);
    expect(ordered()).toHaveLength(2);
    expect(got()).toHaveLength(2);
    expect(fleet.devices.filter(({ version }) => version === '1.3.0')).toHaveLength(0);
    expect(took).toBeLessThan(30 * MINUTE);
    expect(await rollout()).toMatchObject({
      state: 'stopped',
      reason: expect.stringMatching(/^museum\/kiosk-\d+: version 1.3.0 was rolled back: it ended 3 times/),
    });
  });

  it('reaches 20 devices when it fails on each tenth device only', async () => {
    // The first wave has none of them.
    const { begin, drive, until, got, ordered, clock } = world((index) =>
      index % 10 === 3 ? 'deaf' : 'good',
    );
    await begin();
    drive('one');
    await until(({ waveSince }) => waveSince !== null, 2 * HOUR);
    clock.stall(24 * HOUR);
    await until(({ state }) => state === 'paused', HOUR);
    const atOnce = got().length;
    await until(isStopped, HOUR);
    // The others of the second wave have their order already.
    await clock.elapse(HOUR);
    expect(ordered()).toHaveLength(20);
    expect(got()).toHaveLength(20);
    expect(atOnce).toBeLessThan(20);
    expect(got().filter(({ version }) => version === '1.2.0').length).toBeGreaterThan(0);
  });

  it('stays on two devices when it loses speech, and the others never get it', async () => {
    const { begin, drive, until, got, ordered, clock, rollout } = world((_, version) =>
      version === '1.3.0' ? 'loses' : 'good',
    );
    await begin();
    drive('one');
    const took = await until(isStopped, 24 * HOUR);
    // The other one has its order already.
    await clock.elapse(HOUR);
    expect(ordered()).toHaveLength(2);
    expect(got()).toHaveLength(2);
    expect(took).toBeLessThan(2 * HOUR);
    expect((await rollout()).reason).toMatch(/^devices with this version lose \d+\.\d s of speech an hour/);
  });
});

describe('a good version in a fleet of 200', () => {
  it('reaches all in three waves, and late devices when they come', async () => {
    const { begin, drive, until, fleet, clock, rollout, complaints } = world(() => 'good');
    const late = fleet.devices.slice(0, 10);
    for (const device of late) fleet.switch(device, false);
    await begin('1.3.0', [5, 20, 100]);
    drive('one');
    const counts = async () => countsOf(await rollout());
    await until(({ wave }) => wave === 1, 24 * HOUR);
    await clock.elapse(2 * MINUTE);
    expect(await counts()).toMatchObject({ ordered: 40, live: 10, offline: 0 });
    await until(({ state }) => state === 'done', 48 * HOUR);
    expect(await counts()).toMatchObject({ failed: 0, rolled_back: 0, offline: 10 });
    for (const device of late) fleet.switch(device, true);
    await clock.elapse(HOUR);
    expect(await counts()).toEqual({
      ordered: 200,
      live: 200,
      under_way: 0,
      failed: 0,
      rolled_back: 0,
      offline: 0,
    });
    expect(fleet.devices.every(({ orders }) => orders.length === 1)).toBe(true);
    expect(fleet.devices[50]?.orders[0]?.args).toEqual({
      version: '1.3.0',
      manifest_url: 'https://r.example/dists/stable/InRelease',
    });
    // It arrives at once or within the ten minutes of the order: the broker keeps it no longer, and for no other run.
    const options = fleet.devices.flatMap(({ orders }) => orders.map((order) => order.options));
    for (const { qos, retain = false, properties } of options.flatMap((one) => one ?? []))
      expect([qos, retain, properties?.expiryS]).toEqual([1, false, 600]);
    expect(options).toHaveLength(200);
    expect(complaints).toEqual([]);
  });

  it('goes on where it was after a restart of the backend, and one of two backends drives it', async () => {
    const { begin, drive, until, fleet, clock, rollout, ordered, store } = world(() => 'good');
    await begin('1.3.0', [5, 10, 100]);
    const first = drive('one');
    drive('two');
    await until(({ waveSince }) => waveSince !== null, 2 * HOUR);
    expect(fleet.connections).toBe(1);
    const before = ordered();
    expect(before).toHaveLength(10);
    const closing = first.close();
    await clock.elapse(0);
    await closing;
    // The other one goes on with its next step, and need not wait for the end of the lease.
    await clock.elapse(MINUTE + 1000);
    expect(fleet.connections).toBe(1);
    await clock.elapse(6 * MINUTE);
    expect((await store.current())?.isDriven).toBe(true);
    expect(ordered()).toEqual(before);
    await until(({ wave }) => wave === 1, 24 * HOUR);
    await clock.elapse(2 * MINUTE);
    expect(ordered()).toHaveLength(20);
    expect(before.every((device) => ordered().includes(device) && device.orders.length === 1)).toBe(true);
    expect((await rollout()).state).toBe('running');
  });

  it('stays with one of two backends for hours, and goes to the other one when the broker is away for it', async () => {
    const { begin, drive, until, fleet, clock, store } = world(() => 'good');
    const drives = spyOnLease(store);
    await begin('1.3.0', [5, 10, 100]);
    drive('one');
    // Their steps do not coincide.
    await clock.elapse(40_000);
    drive('two');
    await until(({ waveSince }) => waveSince !== null, 2 * HOUR);
    await clock.elapse(20 * MINUTE);
    expect(drives()).toEqual(['one']);
    fleet.cut();
    await clock.elapse(8 * MINUTE);
    expect(drives()).toEqual(['one', 'two']);
  });

  it('sends no order while it is paused, goes on when it is resumed, and ends when it is aborted', async () => {
    const { begin, drive, until, fleet, clock, ordered, ask, got, rollout, store, complaints } = world(
      () => 'good',
    );
    await begin();
    drive('one');
    await until(({ waveSince }) => waveSince !== null, 2 * HOUR);
    await ask(pause);
    clock.stall(30 * HOUR);
    await clock.elapse(5 * MINUTE);
    expect(ordered()).toHaveLength(2);
    await ask(resume);
    store.isDown = true;
    await clock.elapse(5 * MINUTE);
    expect(ordered()).toHaveLength(2);
    store.isDown = false;
    await clock.elapse(5 * MINUTE);
    expect(ordered()).toHaveLength(20);
    expect(complaints).toContain('rollout step');
    await ask((one) => abort(one, clock.wall() ?? 0));
    clock.stall(30 * HOUR);
    await clock.elapse(HOUR);
    expect(ordered()).toHaveLength(20);
    // Those that had the order went on, and the status knows.
    expect(got()).toHaveLength(20);
    expect(countsOf(await rollout())).toMatchObject({ live: 20, under_way: 0 });
    clock.stall(20 * HOUR);
    await clock.elapse(2 * MINUTE);
    expect(fleet.connections).toBe(0);
  });

  it('loses nothing that it has heard when a person pauses it at the same moment', async () => {
    const { begin, drive, until, clock, ask, rollout, store } = world(() => 'good');
    await begin();
    drive('one');
    await until(({ waveSince }) => waveSince !== null, 2 * HOUR);
    const countOf = ({ heard }: Rollout): number => Object.values(heard).reduce((sum, one) => sum + one, 0);
    const before = countOf(await rollout());
    const { save } = store;
    let reported = 0;
    store.save = async (key, body) => {
      const next = readRollout(body);
      if (next === null || countOf(next) <= before) return save(key, body);
      reported = countOf(next);
      store.save = save;
      await ask(pause);
      return save(key, body);
    };
    while (reported === 0) await clock.elapse(MINUTE);
    expect((await rollout()).state).toBe('paused');
    expect(countOf(await rollout())).toBe(reported);
  });

  it('loses nothing that it has heard while the store is down', async () => {
    const { begin, drive, until, clock, rollout, store, fleet } = world(() => 'good');
    await begin();
    drive('one');
    await until(({ waveSince }) => waveSince !== null, 2 * HOUR);
    store.isDown = true;
    await clock.elapse(2 * HOUR);
    store.isDown = false;
    await clock.elapse(2 * MINUTE);
    const { heard, waveSince, drawn } = await rollout();
    const said = fleet.conversed.filter(
      ({ device, at }) => at > (waveSince ?? 0) && drawn[device] !== undefined,
    );
    expect(said.length).toBeGreaterThan(10);
    expect(Object.values(heard).reduce((sum, one) => sum + one, 0)).toBeGreaterThanOrEqual(said.length - 2);
  });
});
