import { describe, expect, it } from 'vitest';
import type { Feature } from '../../../src/device/features/feature.ts';
import { createFeatures } from '../../../src/device/features/features.ts';
import type { LaneStep } from '../../../src/device/lane/runner/lane-runner.ts';
import type { Bus, BusMessage, LostMessage } from '../../../src/ports/bus.ts';

const BUS = { connected: true } as Bus;
const STEP = { lane: 'main' } as LaneStep;
const MESSAGE: BusMessage = { topic: 't', payload: '', retain: false, properties: {} };
const LOST: LostMessage = { topic: 't', why: 'full', reason: 'r' };
const KEYS = { open: () => {} };

/** Features of which those named `broken` throw in every hook. */
function features(...names: string[]) {
  const calls: unknown[][] = [];
  const defects: string[] = [];
  const all = createFeatures((where, error) => void defects.push(`${where}: ${String(error)}`));
  const make = (name: string): Feature => {
    const call = (hook: string, ...given: unknown[]): void => {
      calls.push([name, hook, ...given]);
      if (name.startsWith('broken')) throw new Error(hook);
    };
    return {
      get needsBroker() {
        call('needsBroker');
        return false;
      },
      begin: (...given) => call('begin', ...given),
      onStep: (...given) => call('onStep', ...given),
      lanesChanged: (...given) => call('lanesChanged', ...given),
      configChanged: (...given) => call('configChanged', ...given),
      trust: (...given) => call('trust', ...given),
      connected: (...given) => call('connected', ...given),
      disconnected: (...given) => call('disconnected', ...given),
      receive(...given) {
        call('receive', ...given);
        return false;
      },
      oversized: (...given) => call('oversized', ...given),
      lost: (...given) => call('lost', ...given),
      close: async (...given) => call('close', ...given),
      saved: async (...given) => call('saved', ...given),
    };
  };
  all.join(Object.fromEntries(names.map((name) => [name, make(name)])));
  return { all, calls, defects };
}
type All = ReturnType<typeof features>['all'];

const HOOKS: [name: string, call: (all: All) => unknown, given: unknown[]][] = [
  ['needsBroker', (all) => all.needsBroker, []],
  ['begin', (all) => all.begin(BUS), [BUS]],
  ['onStep', (all) => all.onStep(STEP), [STEP]],
  ['lanesChanged', (all) => all.lanesChanged(), []],
  ['configChanged', (all) => all.configChanged(), []],
  ['trust', (all) => all.trust(KEYS), [KEYS]],
  [
    'connected',
    (all) => all.connected({ bus: BUS, number: 2, protocol: 4 }),
    [{ bus: BUS, number: 2, protocol: 4 }],
  ],
  ['disconnected', (all) => all.disconnected('refused'), ['refused']],
  ['receive', (all) => all.receive(MESSAGE, BUS), [MESSAGE, BUS]],
  ['oversized', (all) => all.oversized('t'), ['t']],
  ['lost', (all) => all.lost(LOST), [LOST]],
  ['close', (all) => all.close(), []],
  ['saved', (all) => all.saved(), []],
];

describe('a hook', () => {
  it.each(HOOKS)(
    '%s reaches every feature, also when features around it throw',
    async (hook, call, given) => {
      const { all, calls, defects } = features(
        'broken first',
        'one',
        'broken between',
        'other',
        'broken last',
      );
      await call(all);
      expect(calls).toEqual(
        ['broken first', 'one', 'broken between', 'other', 'broken last'].map((name) => [
          name,
          hook,
          ...given,
        ]),
      );
      expect(defects).toEqual(
        ['broken first', 'broken between', 'broken last'].map((name) => `${name}: Error: ${hook}`),
      );
    },
  );

  it.each(HOOKS)('%s is optional', async (_, call) => {
    const { all, defects } = features();
    all.join({ none: {} });
    await call(all);
    expect(defects).toEqual([]);
  });

  it.each(['close', 'saved'] as const)(
    '%s is awaited for every feature, also when another rejects',
    async (hook) => {
      const { all, defects } = features();
      let resolve = (): void => {};
      const slow = new Promise<void>((done) => {
        resolve = done;
      });
      all.join({ broken: { [hook]: () => Promise.reject(new Error('x')) }, slow: { [hook]: () => slow } });
      let isDone = false;
      const done = all[hook]().then(() => {
        isDone = true;
      });
      await new Promise((later) => setImmediate(later));
      expect([isDone, defects]).toEqual([false, ['broken: Error: x']]);
      resolve();
      await done;
      expect(isDone).toBe(true);
    },
  );
});

describe('a message', () => {
  it('is taken if any feature takes it', () => {
    const { all } = features('one');
    expect(all.receive(MESSAGE, BUS)).toBe(false);
    all.join({ taker: { receive: ({ topic }) => topic === 't' }, other: { receive: () => false } });
    expect(all.receive(MESSAGE, BUS)).toBe(true);
    expect(all.receive({ ...MESSAGE, topic: 'u' }, BUS)).toBe(false);
  });
});

describe('the broker', () => {
  it('is needed if any feature needs it', () => {
    const { all } = features('one', 'broken');
    expect(all.needsBroker).toBe(false);
    all.join({ needy: { needsBroker: true }, other: { needsBroker: false } });
    expect(all.needsBroker).toBe(true);
  });

  it('gets the subscriptions of all features', () => {
    const { all } = features('none');
    all.join({ one: { subscriptions: ['a', 'b'] }, other: { subscriptions: ['c'] } });
    expect(all.subscriptions).toEqual(['a', 'b', 'c']);
  });
});

describe('a watcher', () => {
  it('is called after the features, until it is removed', () => {
    const { all, calls, defects } = features('one', 'broken');
    all.watch(() => {
      throw new Error('watch');
    });
    const unwatch = all.watch((step) => void calls.push(['watcher', step]));
    all.onStep(STEP);
    expect(calls.map(([name]) => name)).toEqual(['one', 'broken', 'watcher']);
    expect(defects).toEqual(['broken: Error: onStep', 'watcher: Error: watch']);
    unwatch();
    all.onStep(STEP);
    expect(calls.filter(([name]) => name === 'watcher')).toEqual([['watcher', STEP]]);
  });
});
