import { describe, expect, it } from 'vitest';
import { createModelDisk, PowerCut } from './model-disk.ts';
import { createWorld, INSTALLED, orderOf, type World } from './world.ts';

/** Cuts the power during the watch of the new version. */
const looked = ({ last, disk }: World): void => {
  if (last?.state === 'confirming') disk.cutAfter(0);
};

describe('an ordered version', () => {
  it('says why its watch takes longer when the machine was started again', async () => {
    const before = createWorld({ order: orderOf('1.3.0'), looked });
    await expect(before.run()).rejects.toThrow(PowerCut);
    const [disk] = before.disk.remains();
    const after = createWorld(disk === undefined ? {} : { disk });
    await after.run();
    const reason = 'the machine has restarted, so the watch of version 1.3.0 starts over';
    expect(after.reports.filter(({ state }) => state === 'confirming').at(-1)).toMatchObject({ reason });
    expect(after.last).toMatchObject({ state: 'done', reason: null });
  });

  it('is in the journal when the machine was started again before the switch', async () => {
    const disk = createModelDisk();
    const unpacks = () => disk.cutAfter(disk.operations);
    await expect(createWorld({ disk, order: orderOf('1.3.0'), unpacks }).run()).rejects.toThrow(PowerCut);
    const [left] = disk.remains();
    const after = createWorld(left === undefined ? {} : { disk: left });
    await after.run();
    expect(after.log[0]).toBe('the machine has restarted: the update to version 1.3.0 continues');
    expect(after.last?.state).toBe('done');
  });

  it('goes on when a power cut has brought its order back', async () => {
    const disk = createModelDisk();
    const unpacks = () => disk.cutAfter(disk.operations);
    const order = orderOf('1.3.0');
    await expect(createWorld({ disk, order, unpacks }).run()).rejects.toThrow(PowerCut);
    const [left] = disk.remains();
    if (left === undefined) throw new Error('nothing is left');
    const after = createWorld({ disk: left, order, isGoodMoment: (now) => now > 60_000 });
    await after.run();
    expect(after.last?.state).toBe('done');
  });

  it('is rolled back when the machine starts three times with it', async () => {
    let world = createWorld({ order: orderOf('1.3.0'), looked });
    for (let boots = 0; boots < 3; boots++) {
      await expect(world.run()).rejects.toThrow(PowerCut);
      expect(world.last?.state).toBe('confirming');
      const [disk] = world.disk.remains();
      if (disk === undefined) throw new Error('nothing is left');
      world = createWorld({ disk, looked });
    }
    await world.run();
    expect(world.last?.reason).toBe('version 1.3.0 was rolled back: the machine restarted 3 times with it');
    expect(await world.running()).toBe(INSTALLED);
  });
});
