import { describe, expect, it } from 'vitest';
import type { Updates } from '../../src/ports/updater.ts';
import type { UpdateOrder, UpdateStatus } from '../../src/protocol/common/update.ts';
import { createFakeDeps, testConfig } from './fake-deps.ts';

const LOOK_MS = 6000;
const IDLE: UpdateStatus = {
  state: 'idle',
  from: null,
  to: null,
  reason: null,
  progress: null,
  order: null,
  asks: false,
  current: '1.2.0',
  installed: '1.2.0',
  previous: null,
};
const READY: UpdateStatus = {
  ...IDLE,
  state: 'ready',
  from: '1.2.0',
  to: '1.3.0',
  order: 'order-1',
  asks: true,
};

/** An agent whose updater is the test. */
async function withUpdater(
  first: UpdateStatus | null = IDLE,
  window: object | null = null,
  problem: string | null = null,
) {
  let status = first;
  const orders: UpdateOrder[] = [];
  const allowed: (string | null)[] = [];
  const updates: Updates = {
    look: async () => status,
    async order(order) {
      if (problem === null) orders.push(order);
      return problem;
    },
    async allow(order) {
      allowed.push(order);
    },
  };
  // The virtual clock's 9:00 UTC is 10:00 on this machine.
  const machineMinute = (wall: number) => (Math.floor(wall / 60_000) + 60) % 1440;
  const deps = createFakeDeps(testConfig({}, { update: { window } }), { updates, machineMinute });
  await deps.goLive();
  await deps.clock.elapse(LOOK_MS);
  const say = async (next: UpdateStatus | null): Promise<void> => {
    status = next;
    await deps.clock.elapse(LOOK_MS);
  };
  const answer = async (name: string, args: object) => {
    deps.command(name, { id: `${name}-${deps.clock.now()}`, args });
    await deps.clock.elapse(100);
    return deps.answers(name).at(-1);
  };
  const events = () =>
    deps.published.filter(({ topic }) => topic.endsWith('/event/update')).map(({ body }) => body);
  const state = () => deps.published.findLast(({ topic }) => topic.endsWith('/state'))?.body['update'];
  return { deps, orders, allowed, say, answer, events, state };
}

describe('an order', () => {
  it('is passed on with all of its arguments', async () => {
    const { orders, answer } = await withUpdater();
    const args = {
      version: '1.3.0',
      manifest_url: 'https://releases.example/dists/stable/InRelease',
      not_before: '2026-01-16T02:00:00Z',
    };
    expect(await answer('update', args)).toMatchObject({ status: 'ok', data: {} });
    expect(orders).toEqual([{ do: 'update', id: expect.any(String), ...args }]);
  });

  it('names no repository when the command names none', async () => {
    const { orders, answer } = await withUpdater();
    await answer('update', { version: '1.3.0' });
    expect(orders).toMatchObject([{ manifest_url: null, not_before: null }]);
  });

  it('is refused when the updater does not run', async () => {
    const { orders, answer } = await withUpdater(null);
    expect(await answer('update', { version: '1.3.0' })).toMatchObject({ error: { code: 'unsupported' } });
    expect(await answer('rollback', {})).toMatchObject({ error: { code: 'unsupported' } });
    expect(orders).toEqual([]);
  });

  it('is refused with the reason when the disk cannot be written', async () => {
    const { answer } = await withUpdater(IDLE, null, 'the order cannot be written');
    expect(await answer('update', { version: '1.3.0' })).toMatchObject({
      error: { code: 'not_kept', message: 'the order cannot be written' },
    });
  });

  it('to roll back is refused without an earlier version, unless an update is under way', async () => {
    const { orders, answer, say } = await withUpdater();
    expect(await answer('rollback', {})).toMatchObject({ error: { code: 'no_version' } });
    await say(READY);
    expect(await answer('rollback', {})).toMatchObject({ status: 'ok' });
    await say({ ...IDLE, state: 'done', from: '1.2.0', to: '1.3.0', previous: '1.2.0' });
    expect(await answer('rollback', {})).toMatchObject({ status: 'ok' });
    expect(orders.map((order) => order.do)).toEqual(['rollback', 'rollback']);
  });
});

describe('reports of the updater', () => {
  it('are in the state, and an event says each new one', async () => {
    const { say, events, state } = await withUpdater();
    expect(state()).toMatchObject({ state: 'idle' });
    await say({ ...READY, state: 'downloading', asks: false, progress: 0 });
    await say({ ...READY, state: 'downloading', asks: false, progress: 0.5 });
    await say({ ...IDLE, state: 'failed', from: '1.2.0', to: '1.3.0', reason: 'the disk is too full' });
    expect(state()).toMatchObject({ state: 'failed', reason: 'the disk is too full' });
    expect(events().map((event) => [event['state'], event['reason']])).toEqual([
      ['downloading', null],
      ['failed', 'the disk is too full'],
    ]);
  });

  it('are null without an updater', async () => {
    const { state } = await withUpdater(null);
    expect(state()).toBeNull();
  });

  it('of an update that began before the start are not news, but a new version says that it is watched', async () => {
    expect((await withUpdater({ ...IDLE, state: 'done' })).events()).toEqual([]);
    expect((await withUpdater({ ...READY, state: 'confirming', asks: false })).events()).toMatchObject([
      { state: 'confirming' },
    ]);
  });
});

describe('a restart for an update', () => {
  it('is allowed only when the updater asks and no person speaks', async () => {
    const { deps, allowed, say } = await withUpdater();
    expect(allowed).toEqual([]);
    await say(READY);
    expect(allowed).toEqual(['order-1']);
    for (let chunk = 0; chunk < 20; chunk++) {
      deps.speak();
      await deps.clock.elapse(320);
    }
    expect(allowed).toEqual(['order-1', null]);
  });

  it('waits for the end of the conversation', async () => {
    const { deps, allowed, say, answer } = await withUpdater();
    expect(await answer('conversation', { do: 'begin' })).toMatchObject({ status: 'ok' });
    await say(READY);
    expect(allowed).toEqual([]);
    await deps.clock.elapse(30_000);
    expect(allowed).toEqual([]);
    expect(await answer('conversation', { do: 'end' })).toMatchObject({ status: 'ok' });
    await deps.clock.elapse(60_000);
    expect(allowed).toEqual(['order-1']);
  });

  it('waits for the window, which may pass midnight', async () => {
    const { deps, allowed, say } = await withUpdater(IDLE, { from: '22:00', to: '10:01' });
    await say(READY);
    expect(allowed).toEqual(['order-1']);
    await deps.clock.elapse(120_000);
    expect(allowed).toEqual(['order-1', null]);
  });
});
