import { expect, it } from 'vitest';
import { TIMES } from '../../src/updater/updater-times.ts';
import { createModelDisk, type ModelDisk, PowerCut } from './model-disk.ts';
import { type Behaviour, createWorld, INSTALLED, NEW, orderOf, type World } from './world.ts';

/** The life of a device with a 1.2.0 package: an update, a second one, and one that is ended by a power cut. */
async function withVersion(version: string): Promise<ModelDisk> {
  const world = createWorld({
    order: orderOf(version, 'order-0'),
    times: { ...TIMES, lookMs: TIMES.hearMs },
  });
  await world.run();
  expect(world.last).toMatchObject({ state: 'done' });
  return world.disk;
}

/** Few looks: a power cut between two looks equals one at a look. */
const RARELY = { ...TIMES, lookMs: TIMES.hearMs };

export interface Case {
  readonly title: string;
  readonly start: () => Promise<ModelDisk>;
  readonly from: string;
  readonly behaviour: Behaviour;
  readonly ends: string;
  readonly nodes?: { readonly private: string | null; readonly system: string | null };
}

/** An update that stays, and one that is rolled back; the others differ in what was there before. */
export const QUICK_CASES: readonly Case[] = [
  {
    title: 'a good version',
    from: INSTALLED,
    behaviour: {},
    ends: NEW,
    start: async () => createModelDisk(),
  },
  {
    title: 'a deaf version after another',
    from: '1.2.5-1',
    ends: '1.2.5-1',
    behaviour: { deaf: ['lost'] },
    start: () => withVersion('1.2.5'),
  },
];

export const MORE_CASES: readonly Case[] = [
  {
    title: 'a good version after another',
    from: '1.2.5-1',
    behaviour: {},
    ends: NEW,
    start: () => withVersion('1.2.5'),
  },
  {
    title: 'a version that cannot start',
    from: INSTALLED,
    ends: INSTALLED,
    behaviour: { active: false, restarts: 3 },
    start: async () => createModelDisk(),
  },
  {
    title: 'a good version with a private Node.js',
    from: INSTALLED,
    behaviour: {},
    ends: NEW,
    nodes: { private: '22.0.0-1', system: null },
    start: async () => createModelDisk(),
  },
];

/** Runs until the power is cut after so many operations. @returns false if the run ended before */
async function runUntilCut(world: World, operations: number): Promise<boolean> {
  world.disk.cutAfter(operations);
  try {
    await world.run();
    return false;
  } catch (error) {
    if (error instanceof PowerCut) return true;
    throw error;
  }
}

export function testPowerCuts(cases: readonly Case[]): void {
  it.each(cases)('leaves the old or the new version, and $title ends as without it', async (one) => {
    const { start, from, behaviour, ends, nodes } = one;
    const options = {
      times: RARELY,
      behaviours: { [NEW]: behaviour },
      ...(nodes === undefined ? {} : { nodes }),
    };
    let [cuts, states] = [0, 0];
    for (let operations = 0; ; operations++) {
      const world = createWorld({ ...options, disk: await start(), order: orderOf('1.3.0') });
      const base = world.disk.operations;
      if (!(await runUntilCut(world, base + operations))) break;
      cuts += 1;
      for (const disk of world.disk.remains()) {
        states += 1;
        const after = createWorld({ ...options, disk, order: world.waiting });
        const place = `after ${operations} operations: ${world.disk.history.slice(base).join('; ')}`;
        expect([from, NEW], place).toContain(await after.launched());
        await after.run();
        expect([await after.running(), await after.launched()], place).toEqual([ends, ends]);
        expect(after.last?.state, place).toBe(ends === NEW ? 'done' : 'rolled_back');
        const names = await disk.list('versions');
        expect(
          names.filter((name) => name.endsWith('.partial')),
          place,
        ).toEqual([]);
        if (from !== INSTALLED) expect(names, place).toContain(from);
      }
    }
    expect(cuts).toBeGreaterThan(15);
    expect(states).toBeGreaterThan(cuts);
  });
}
