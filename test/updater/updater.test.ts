import { describe, expect, it } from 'vitest';
import { explainApt } from '../../src/core/update/apt-answers.ts';
import { UpdateTrouble } from '../../src/ports/update.ts';
import { PowerCut } from './model-disk.ts';
import { type Behaviour, createWorld, INSTALLED, NEW, noNetwork, orderOf, type World } from './world.ts';

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** States in their order, each once. */
const statesOf = ({ reports }: World): string[] =>
  reports.map(({ state }) => state).filter((state, at, all) => state !== all[at - 1]);

const ended = async (world: World): Promise<World> => {
  await world.run();
  return world;
};

describe('an ordered version', () => {
  it('runs after a check, a switch and a watch', async () => {
    const world = await ended(createWorld({ order: orderOf('1.3.0') }));
    const states = ['idle', 'downloading', 'verifying', 'ready', 'switching', 'confirming', 'done'];
    expect(statesOf(world)).toEqual(states);
    expect(world.last).toMatchObject({ from: '1.2.0', to: '1.3.0', current: '1.3.0', previous: '1.2.0' });
    expect([await world.running(), world.waiting]).toEqual([NEW, null]);
  });

  it('is reported as being verified while it is unpacked', async () => {
    const states: unknown[] = [];
    const nodes = { private: '22.0.0-1', system: null };
    const unpacks = ({ last }: World) => void states.push([last?.state, last?.progress]);
    await ended(createWorld({ order: orderOf('1.3.0'), nodes, unpacks }));
    expect(states).toEqual([
      ['verifying', 0.5],
      ['verifying', 0.9],
    ]);
  });

  it('needs no download when it is there already', async () => {
    const first = await ended(createWorld({ order: orderOf('1.3.0') }));
    const second = createWorld({ disk: first.disk, order: orderOf('1.2.0', 'order-2') });
    await second.run();
    expect(second.last).toMatchObject({ state: 'done', from: '1.3.0', to: '1.2.0' });
    expect(await second.running()).toBe(INSTALLED);
    const third = createWorld({ disk: first.disk, order: orderOf('1.3.0', 'order-3'), refresh: noNetwork });
    await third.run();
    expect([third.last?.state, await third.running()]).toEqual(['done', NEW]);
  });

  it('changes nothing when it runs already', async () => {
    const world = await ended(createWorld({ order: orderOf('1.2.0') }));
    expect([world.last?.state, world.restarts]).toEqual(['done', 0]);
  });

  it('is refused when the installed package is newer', async () => {
    const world = await ended(createWorld({ order: orderOf('1.1.0') }));
    expect(world.last).toMatchObject({ state: 'failed', reason: expect.stringContaining('1.2.0 is newer') });
  });

  it('is refused when the repository does not have it', async () => {
    const world = await ended(createWorld({ order: orderOf('1.9.0') }));
    const reason = 'the repository has no version 1.9.0 of dragoman; check the number';
    expect(world.last).toMatchObject({ state: 'failed', reason, current: '1.2.0' });
  });

  it('brings its Node.js where the device has a private one', async () => {
    const nodes = { private: '22.0.0-1', system: null };
    const { disk } = await ended(createWorld({ order: orderOf('1.3.0'), nodes }));
    const next = createWorld({ disk, order: orderOf('1.4.0', 'order-2'), nodes });
    await next.run();
    expect([...(await disk.list('versions'))].sort()).toEqual(['1.3.0-1', '1.4.0-1', 'node-24.21.0-1']);
    for (const version of ['1.3.0-1', '1.4.0-1'])
      expect(await disk.readLink(`versions/${version}/node`)).toBe('../node-24.21.0-1');
    expect(disk.history.filter((one) => one.includes('bin-node'))).toHaveLength(1);
  });
});

describe('a version that does not work', () => {
  it.each<[string, Behaviour, string]>([
    ['is deaf', { deaf: ['lost'] }, 'does not hear'],
    ['ends at once', { active: false, restarts: 3 }, 'ended 3 times'],
    ['hangs', { active: false }, 'not ready within 5 minutes'],
  ])('is rolled back with a reason when it %s', async (_, behaviour, reason) => {
    const world = await ended(createWorld({ order: orderOf('1.3.0'), behaviours: { [NEW]: behaviour } }));
    expect(world.last).toMatchObject({ state: 'rolled_back', from: '1.2.0', to: '1.3.0', current: '1.2.0' });
    expect(world.last?.reason).toContain(reason);
    expect([await world.running(), world.restarts]).toEqual([INSTALLED, 2]);
    // Not by itself, also after a restart of the machine; but when it is ordered anew.
    const later = await ended(createWorld({ disk: world.disk }));
    expect([later.last?.state, later.restarts]).toEqual(['rolled_back', 0]);
    const again = await ended(createWorld({ disk: world.disk, order: orderOf('1.3.0', 'order-2') }));
    expect([again.last?.state, await again.running()]).toEqual(['done', NEW]);
  });
});

describe('the wait for a good moment', () => {
  it('ends when the agent says so', async () => {
    const world = await ended(
      createWorld({ order: orderOf('1.3.0'), isGoodMoment: (now) => now > 3 * HOUR }),
    );
    expect(world.last?.state).toBe('done');
    expect(world.clock.now()).toBeGreaterThan(3 * HOUR);
    expect(world.clock.now()).toBeLessThan(4 * HOUR);
  });

  it('ends after a day', async () => {
    const world = await ended(createWorld({ order: orderOf('1.3.0'), isGoodMoment: () => false }));
    expect(world.last?.state).toBe('done');
    expect(world.clock.now()).toBeGreaterThan(DAY);
    expect(world.clock.now()).toBeLessThan(DAY + HOUR);
  });

  it('is not needed when the agent does not run', async () => {
    const world = await ended(
      createWorld({
        order: orderOf('1.3.0'),
        isGoodMoment: () => false,
        behaviours: { [INSTALLED]: { active: false } },
      }),
    );
    expect([world.last?.state, world.clock.now() < HOUR]).toEqual(['done', true]);
  });

  it('begins at the ordered time', async () => {
    const order = orderOf('1.3.0');
    if (order.do !== 'update') throw new Error('not an update');
    const world = createWorld({ order: { ...order, not_before: '2026-06-01T05:00:00Z' } });
    await world.run();
    expect(world.reports.map(({ reason }) => reason)).toContain('it is scheduled for 2026-06-01T05:00:00Z');
    expect(world.reports.find(({ asks }) => asks)?.state).toBe('ready');
    expect(world.clock.now()).toBeGreaterThan(5 * HOUR);
  });

  it('does not begin before the ordered time when a power cut has unset the clock', async () => {
    const order = { ...orderOf('1.3.0'), not_before: '2026-06-01T05:00:00Z' };
    const before = createWorld({ order });
    before.clock.at(2 * HOUR, () => before.disk.cutAfter(0));
    await expect(before.run()).rejects.toThrow(PowerCut);
    expect(before.last?.state).toBe('ready');
    const [disk] = before.disk.remains();
    if (disk === undefined) throw new Error('nothing is left');
    const world = createWorld({ disk, wall: null });
    world.clock.at(HOUR, () => world.clock.setWall(Date.UTC(2026, 5, 1, 4)));
    await world.run();
    expect(world.reports.map(({ reason }) => reason)).toEqual(
      expect.arrayContaining([
        'it is scheduled for 2026-06-01T05:00:00Z, and the clock of this device is not set; connect it to a time server',
        'it is scheduled for 2026-06-01T05:00:00Z',
      ]),
    );
    expect(world.last?.state).toBe('done');
    expect(world.clock.now()).toBeGreaterThan(2 * HOUR);
  });

  it('goes on after a day when the clock is never set', async () => {
    const { disk } = await ended(createWorld({ order: orderOf('1.3.0') }));
    const order = { ...orderOf('1.2.0', 'order-2'), not_before: '2026-06-01T05:00:00Z' };
    const world = await ended(createWorld({ disk, order, wall: null }));
    expect([world.last?.state, await world.running()]).toEqual(['done', INSTALLED]);
    expect(world.clock.now()).toBeGreaterThan(DAY);
    expect(world.clock.now()).toBeLessThan(DAY + HOUR);
  });

  it('gives way to another order', async () => {
    let isOther = false;
    const world = createWorld({
      order: orderOf('1.3.0'),
      isGoodMoment(now) {
        if (now > HOUR && !isOther) world.order(orderOf('1.4.0', 'order-2'));
        isOther ||= now > HOUR;
        return now > 2 * HOUR;
      },
    });
    await world.run();
    expect(world.last).toMatchObject({ state: 'done', from: '1.2.0', to: '1.4.0' });
    expect(world.restarts).toBe(1);
  });
});

describe('a roll-back by order', () => {
  const rollback = { do: 'rollback', id: 'order-9' } as const;

  it('returns to the version before, without the repository', async () => {
    const { disk } = await ended(createWorld({ order: orderOf('1.3.0') }));
    const world = await ended(createWorld({ disk, order: rollback, refresh: noNetwork }));
    const reason = 'version 1.3.0 was rolled back: an operator ordered it';
    expect(world.last).toMatchObject({ state: 'rolled_back', reason, current: '1.2.0', previous: null });
    expect([await world.running(), world.restarts]).toEqual([INSTALLED, 1]);
  });

  it('cancels an update that waits', async () => {
    const world = createWorld({
      order: orderOf('1.3.0'),
      isGoodMoment(now) {
        if (now > HOUR) world.order(rollback);
        return false;
      },
    });
    await world.run();
    expect(world.last).toMatchObject({
      state: 'failed',
      reason: 'an operator cancelled it before the switch',
    });
    expect([await world.running(), world.restarts]).toEqual([INSTALLED, 0]);
  });

  it('ends the watch of a new version', async () => {
    const world: World = createWorld({
      order: orderOf('1.3.0'),
      looked({ last }) {
        if (last?.state === 'confirming') world.order(rollback);
      },
    });
    await world.run();
    expect(world.last).toMatchObject({ state: 'rolled_back', current: '1.2.0' });
  });

  it('changes nothing without an earlier version', async () => {
    const world = await ended(createWorld({ order: rollback }));
    expect([world.last?.state, world.restarts, world.waiting]).toEqual(['idle', 0, null]);
  });
});

describe('trouble before the switch', () => {
  it('waits for the network, and says so', async () => {
    const refresh = (now: number) => {
      if (now < 2 * HOUR) noNetwork();
    };
    const world = await ended(createWorld({ order: orderOf('1.3.0'), refresh }));
    expect(world.reports.map(({ reason }) => reason)).toContain('the repository cannot be reached');
    expect([world.last?.state, world.last?.reason]).toEqual(['done', null]);
  });

  it('gives the network a day', async () => {
    const world = await ended(createWorld({ order: orderOf('1.3.0'), refresh: noNetwork }));
    expect(world.last).toMatchObject({ state: 'failed', reason: 'the repository cannot be reached' });
    expect(world.clock.now()).toBeGreaterThan(DAY);
  });

  it.each([
    ['says 1970', Date.UTC(1970, 0, 1)],
    ['is not set', null],
  ])('waits while the clock %s, says so, and goes on when it is set', async (_, wall) => {
    const asked: number[] = [];
    const world = createWorld({ order: orderOf('1.3.0'), wall, refresh: (now) => asked.push(now) });
    world.clock.at(2 * HOUR, () => world.clock.setWall(Date.UTC(2026, 5, 1)));
    await world.run();
    const { reason = null } = world.reports.findLast(({ state }) => state === 'downloading') ?? {};
    expect(world.reports.map((report) => report.reason)).toContain(
      'the clock of this device is not set, so it cannot tell whether the repository is up to date; connect it to a time server',
    );
    expect([world.last?.state, reason, await world.running()]).toEqual(['done', null, NEW]);
    // apt is not asked before: it would take an old list for a new one.
    expect(Math.min(...asked)).toBeGreaterThan(2 * HOUR);
  });

  it('gives the clock a day, and then says what is wrong', async () => {
    const world = await ended(createWorld({ order: orderOf('1.3.0'), wall: Date.UTC(1970, 0, 1) }));
    expect(world.last).toMatchObject({ state: 'failed', current: '1.2.0', to: '1.3.0' });
    expect(world.last?.reason).toContain('the clock of this device is not set');
    expect(world.clock.now()).toBeGreaterThan(DAY);
    expect([await world.running(), world.restarts]).toEqual([INSTALLED, 0]);
  });

  it('waits while the clock is behind the signed list', async () => {
    const said = 'E: Release file for https://x/InRelease is not valid yet (invalid for another 20d 1h).';
    const refresh = (now: number) => {
      const { message, mayPass } = explainApt(said);
      if (now < 2 * HOUR) throw new UpdateTrouble(message, mayPass);
    };
    const world = await ended(createWorld({ order: orderOf('1.3.0'), refresh }));
    expect(world.reports.map(({ reason }) => reason)).toContain(
      'the list of the repository is from the future: the clock of this device is behind',
    );
    expect(world.last?.state).toBe('done');
  });

  it('ends at once when the signature is wrong', async () => {
    const refresh = () => {
      throw new UpdateTrouble('the list of the repository is not signed with a known key');
    };
    const world = await ended(createWorld({ order: orderOf('1.3.0'), refresh }));
    expect(world.last).toMatchObject({ state: 'failed', current: '1.2.0', to: '1.3.0' });
    expect(world.clock.now()).toBeLessThan(HOUR);
  });

  it('ends when the disk is too full', async () => {
    const world = createWorld({ order: orderOf('1.3.0') });
    world.disk.freeBytes = 11.9e6;
    await world.run();
    expect(world.last?.reason).toBe(
      'the disk is too full: dragoman 1.3.0 needs 12.0 MB, and 11.9 MB are free',
    );
  });

  it('ends when the disk is read-only, and is not tried again and again', async () => {
    const world = createWorld({ order: orderOf('1.3.0') });
    world.disk.fail('the disk is read-only');
    await world.run();
    expect(world.last).toMatchObject({ state: 'failed', reason: 'the disk is read-only', current: '1.2.0' });
  });

  it('uses the installed package when the disk becomes read-only during the watch of a bad version', async () => {
    const world = createWorld({
      order: orderOf('1.3.0'),
      behaviours: { [NEW]: { deaf: ['lost'] } },
      looked({ last, disk }) {
        if (last?.state === 'confirming') disk.fail('the disk is read-only');
      },
    });
    await world.run();
    expect(world.last).toMatchObject({ state: 'rolled_back' });
    expect(await world.running()).toBe(INSTALLED);
  });
});
