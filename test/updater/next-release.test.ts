/** An owner has installed an earlier package again: what the updater and the agent of the later one wrote is read here. */
import { describe, expect, it } from 'vitest';
import { type UpdateRecord, updateOrderSchema } from '../../src/protocol/common/update.ts';
import { ofNextRelease } from '../next-release.ts';
import type { ModelDisk } from './model-disk.ts';
import { createWorld, HEALTHY, INSTALLED, NEW, orderOf, type World } from './world.ts';

const RECORD = 'record.json';

/** A device that runs the new version, and what the updater of the next release would make of its record. */
async function updated(change: object = {}): Promise<ModelDisk> {
  const first = createWorld({ order: orderOf('1.3.0') });
  await first.run();
  const record = JSON.parse((await first.disk.read(RECORD)) ?? '') as UpdateRecord;
  await first.disk.write(RECORD, ofNextRelease(JSON.stringify({ ...record, ...change })));
  return first.disk;
}

const run = async (disk: ModelDisk, order: Parameters<typeof createWorld>[0] = {}): Promise<World> => {
  const world = createWorld({ disk, ...order });
  await world.run();
  return world;
};

describe('the record of a later updater', () => {
  it('keeps what became of the update, and the way back', async () => {
    const disk = await updated();
    expect((await run(disk)).last).toMatchObject({ state: 'done', to: '1.3.0', previous: '1.2.0' });
    const back = await run(disk, { order: { do: 'rollback', id: 'order-2' } });
    expect([back.last?.state, await back.running()]).toEqual(['rolled_back', INSTALLED]);
  });

  it('keeps the watch of a new version', async () => {
    const { readsPerS, active, usable, broker, backend, deaf } = HEALTHY;
    const before = { readsPerS, active, usable, broker, backend, deaf };
    const disk = await updated({ stage: 'confirming', before });
    const world = await run(disk, { behaviours: { [NEW]: { deaf: ['lost'] } } });
    expect([world.last?.state, await world.running()]).toEqual(['rolled_back', INSTALLED]);
  });

  it('keeps the way back when it is at a stage that is not known here', async () => {
    const disk = await updated({ format: 2, stage: 'warming_up' });
    expect((await run(disk)).last).toMatchObject({ state: 'idle', current: '1.3.0', previous: '1.2.0' });
    const back = await run(disk, { order: { do: 'rollback', id: 'order-2' } });
    expect([back.last?.state, await back.running()]).toEqual(['rolled_back', INSTALLED]);
  });

  it('is replaced when it is damaged', async () => {
    const disk = await updated();
    await disk.write(RECORD, '{"format":1,"stage":');
    const world = await run(disk);
    expect(world.last).toMatchObject({ state: 'idle', current: '1.3.0', previous: null });
    expect(world.log.join()).toContain('record.json is damaged');
  });
});

it('an order of a later agent is understood', () => {
  const order = orderOf('1.3.0');
  expect(updateOrderSchema.parse(JSON.parse(ofNextRelease(JSON.stringify(order))))).toEqual(order);
});
