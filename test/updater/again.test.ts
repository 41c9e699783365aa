/** What happens a second time: orders, downloads, versions and the updater itself. */
import { describe, expect, it } from 'vitest';
import type { ModelDisk } from './model-disk.ts';
import { createWorld, INSTALLED, NEW, noNetwork, orderOf, type World } from './world.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const rollback = { do: 'rollback', id: 'order-9' } as const;

const ended = async (options: Parameters<typeof createWorld>[0]): Promise<World> => {
  const world = createWorld(options);
  await world.run();
  return world;
};
/** The disk of a device that was updated to these versions, one after the other. */
async function withVersions(...versions: string[]): Promise<ModelDisk> {
  let disk: ModelDisk | undefined;
  for (const version of versions) {
    const world = await ended({
      ...(disk === undefined ? {} : { disk }),
      order: orderOf(version, `order-${version}`),
    });
    expect(world.last?.state).toBe('done');
    disk = world.disk;
  }
  if (disk === undefined) throw new Error('name a version');
  return disk;
}

describe('an order', () => {
  it('to roll back in the watch returns by one version, not by two', async () => {
    const world: World = createWorld({
      disk: await withVersions('1.2.5', '1.3.0'),
      order: orderOf('1.4.0', 'order-2'),
      looked({ last }) {
        if (last?.state === 'confirming') world.order(rollback);
      },
    });
    await world.run();
    expect(world.last).toMatchObject({ state: 'rolled_back', from: '1.3.0', to: '1.4.0', current: '1.3.0' });
    expect([await world.running(), world.waiting]).toEqual([NEW, null]);
  });

  it('that cannot be removed is done once, also after the next start', async () => {
    const order = orderOf('1.3.0');
    const behaviours = { [NEW]: { deaf: ['lost'] } };
    const first = await ended({ order, behaviours, keepsOrders: true });
    expect([first.last?.state, first.restarts]).toEqual(['rolled_back', 2]);
    const next = await ended({ disk: first.disk, order, behaviours, keepsOrders: true });
    expect([next.last?.state, next.restarts]).toEqual(['rolled_back', 0]);
  });

  it('needs the word of the agent anew when the updater starts', async () => {
    const world = await ended({
      order: orderOf('1.3.0'),
      hasOldMoment: true,
      isGoodMoment: (now) => now > HOUR,
    });
    expect(world.last?.state).toBe('done');
    expect(world.clock.now()).toBeGreaterThan(HOUR);
  });
});

describe('a download', () => {
  it('is tried again after 1, 2, 4 and 8 minutes, and then after 10 each time', async () => {
    const tried: number[] = [];
    const refresh = (now: number) => {
      tried.push(now);
      if (tried.length < 9) noNetwork();
    };
    await ended({ order: orderOf('1.3.0'), refresh });
    const pauses = tried.slice(1).map((at, index) => Math.round((at - (tried[index] ?? 0)) / MINUTE));
    expect(pauses).toEqual([1, 2, 4, 8, 10, 10, 10, 10]);
  });

  it('waits while the clock shows a day before the installed package was made', async () => {
    const asked: number[] = [];
    const world = createWorld({
      order: orderOf('1.3.0'),
      wall: Date.UTC(2025, 11, 31),
      refresh: (now) => asked.push(now),
    });
    world.clock.at(HOUR, () => world.clock.setWall(Date.UTC(2026, 0, 1, 1)));
    await world.run();
    expect(world.last?.state).toBe('done');
    expect(Math.min(...asked)).toBeGreaterThan(HOUR);
  });
});

describe('Node.js', () => {
  const nodes = { private: '22.0.0-1', system: null };

  it.each([
    ['20.12.0', false],
    ['20.9.0', true],
    ['20.11.9', true],
    ['22.0.0', false],
    ['9.99.0', true],
  ])('comes along where the system has %s: %s', async (system, comes) => {
    const { disk } = await ended({ order: orderOf('1.3.0'), nodes: { private: null, system } });
    expect((await disk.list('versions')).includes('node-24.21.0-1')).toBe(comes);
  });

  it('must find room, too', async () => {
    const world = await ended({
      order: orderOf('1.3.0'),
      nodes,
      unpacks: ({ disk }) => {
        disk.freeBytes = 11e6;
      },
    });
    const reason = 'the disk is too full: dragoman-node 24.21.0 needs 12.0 MB, and 11.0 MB are free';
    expect(world.last).toMatchObject({ state: 'failed', reason, current: '1.2.0' });
  });
});

describe('a new version in its watch', () => {
  it('is rolled back when its files are damaged, though it still runs', async () => {
    let isDamaged = false;
    const world: World = createWorld({
      order: orderOf('1.3.0'),
      looked({ last, disk }) {
        if (last?.state !== 'confirming' || isDamaged) return;
        isDamaged = true;
        void disk.write(`versions/${NEW}/program`, 'something else');
      },
    });
    await world.run();
    expect(world.last).toMatchObject({
      state: 'rolled_back',
      reason: 'version 1.3.0 was rolled back: its files or the link were changed',
    });
    expect(await world.running()).toBe(INSTALLED);
  });

  it('stays, and says so, when the disk becomes read-only before an old version is removed', async () => {
    let looks = 0;
    const world: World = createWorld({
      disk: await withVersions('1.2.5', '1.3.0'),
      order: orderOf('1.4.0', 'order-2'),
      looked({ last, disk }) {
        if (last?.state === 'confirming') looks += 1;
        if (looks === 3) disk.fail('the disk is read-only');
      },
    });
    await world.run();
    expect(world.last).toMatchObject({ state: 'done', to: '1.4.0', current: '1.4.0', reason: null });
    expect(await world.running()).toBe('1.4.0-1');
  });

  it('leaves itself and the one before on the disk', async () => {
    const disk = await withVersions('1.2.5', '1.3.0', '1.4.0');
    expect([...(await disk.list('versions'))].sort()).toEqual(['1.3.0-1', '1.4.0-1']);
  });
});
