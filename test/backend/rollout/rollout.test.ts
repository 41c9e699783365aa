import { describe, expect, it } from 'vitest';
import { pause, resume } from '../../../src/backend/rollout/requests.ts';
import { device, live, report, START, scene } from './scene.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const answer = (device: string, id: string, code: string) => ({
  answers: [{ device, id, code, status: 'error' as const, message: `refused: ${code}` }],
});

describe('the devices of a wave', () => {
  it('are the same in each backend, one at least, and stay in the next wave', () => {
    const one = scene(150, [1, 10, 50, 100]);
    const other = scene(150, [1, 10, 50, 100]);
    const shuffled = [...other.devices].reverse();
    other.devices.clear();
    for (const [name, value] of shuffled) other.devices.set(name, value);
    one.go();
    other.go();
    expect(one.drawn()).toEqual(other.drawn());
    expect(one.drawn()).toHaveLength(2);
    const first = one.drawn();
    one.all(() => live(), first);
    one.go();
    one.go(24 * HOUR);
    expect(one.drawn()).toHaveLength(15);
    expect(one.drawn()).toEqual(expect.arrayContaining(first));
    const small = scene(30);
    small.go();
    expect(small.drawn()).toHaveLength(1);
    // Another roll-out begins with others.
    const draws = ['a', 'b', 'c', 'd', 'e'].map((id) => {
      const again = scene(150, [1, 100], id);
      again.go();
      return again.drawn().join();
    });
    expect(new Set(draws).size).toBe(5);
  });

  it('are connected ones when there are enough', () => {
    const { all, devices, go, drawn } = scene(100, [10, 100]);
    all(() => device({ isConnected: false }));
    for (const name of [...devices.keys()].slice(40, 55)) devices.set(name, device());
    expect(go()).toHaveLength(10);
    expect(drawn().every((name) => devices.get(name)?.isConnected)).toBe(true);
  });

  it('get their orders a hundred at a time', () => {
    const { go } = scene(250, [100]);
    const ordered = [go(), go(), go(), go()].map((orders) => orders.map(({ device }) => device));
    expect(ordered.map(({ length }) => length)).toEqual([100, 100, 50, 0]);
    expect(new Set(ordered.flat()).size).toBe(250);
  });

  it('get the exact version once, within ten minutes, and again under another id when they stay silent', () => {
    const { go, drawn } = scene(30);
    const [order] = go();
    expect(order).toEqual({
      device: drawn()[0],
      id: 'r1-1',
      args: { version: '1.3.0' },
      notAfter: START + 5000 + 10 * MINUTE,
    });
    expect(go(14 * MINUTE)).toEqual([]);
    expect(go(MINUTE)).toMatchObject([{ id: 'r1-2' }]);
  });

  it('keep an order that has arrived, and get another one when it could not be cared for', () => {
    const test = scene(30);
    const [order] = test.go();
    const name = order?.device ?? '';
    test.go(5000, { answers: [{ device: name, id: 'r1-1', status: 'ok', code: '', message: '' }] });
    expect(test.go(HOUR)).toEqual([]);
    const busy = scene(30);
    busy.go();
    busy.go(5000, answer(name, 'r1-1', 'busy'));
    expect(busy.rollout.drawn[name]).toMatchObject({ state: 'waiting', reason: 'refused: busy' });
    expect(busy.go(5 * MINUTE)).toEqual([]);
    expect(busy.go(10 * MINUTE)).toMatchObject([{ id: 'r1-2' }]);
    // An answer to the first order comes late.
    busy.go(5000, answer(name, 'r1-1', 'unsigned'));
    expect(busy.rollout.drawn[name]?.state).toBe('ordered');
    busy.go(5000, answer(name, 'r1-2', 'unsigned'));
    expect(busy.rollout.drawn[name]).toMatchObject({ state: 'failed', reason: 'refused: unsigned' });
    expect(busy.go(24 * HOUR)).toEqual([]);
  });

  it('need no order when they run the version already, however they got it', () => {
    const test = scene(3, [100]);
    test.all(() => live({ update: report('idle', null) }));
    expect(test.go()).toEqual([]);
    expect(Object.values(test.rollout.drawn).map(({ state }) => state)).toEqual(['live', 'live', 'live']);
  });
});

describe('a version with a revision', () => {
  it('runs when the updater says so, because the agent knows no revision', () => {
    const test = scene(1, [100]);
    test.set({ ...test.rollout, plan: { ...test.rollout.plan, version: '1.3.0-2' } });
    test.all(() => live({ update: report('done', '1.3.0') }));
    expect(test.go()).toHaveLength(1);
    test.all(() => live({ update: report('confirming', '1.3.0-2') }));
    test.go();
    expect(test.rollout.drawn['museum/kiosk-1']?.state).toBe('ordered');
    test.all(() => live({ update: report('done', '1.3.0-2') }));
    test.go();
    expect(test.rollout.drawn['museum/kiosk-1']?.state).toBe('live');
  });

  it('does not run any more when somebody has removed it, whatever the last report was', () => {
    const test = scene(1, [100]);
    test.all(() => device({ update: report('done') }));
    expect(test.go()).toHaveLength(1);
  });
});

describe('a wave', () => {
  it('is over 24 hours after most of its devices run the version', () => {
    const test = scene(100);
    test.go();
    expect(test.rollout).toMatchObject({ wave: 0, waveSince: null });
    test.go(48 * HOUR);
    expect(test.rollout.wave).toBe(0);
    test.all(() => live({ update: report('confirming') }), test.drawn());
    test.go();
    expect(test.rollout.waveSince).toBeNull();
    test.all(() => live(), test.drawn());
    test.go();
    test.go(24 * HOUR - 1);
    expect(test.rollout.wave).toBe(0);
    test.go(1);
    expect(test.rollout).toMatchObject({ wave: 1, waveSince: null });
    expect(test.drawn()).toHaveLength(10);
  });

  it('is over after 100 conversations of its devices', () => {
    const test = scene(100, [5, 100]);
    test.go();
    const own = test.drawn();
    test.all(() => live(), own);
    test.go();
    const billedMs = new Map([...test.devices.keys()].map((one) => [one, HOUR]));
    const others = [...test.devices.keys()].filter((one) => !own.includes(one));
    const counts = [...others.map((one) => [one, 20] as const), ...own.map((one) => [one, 19] as const)];
    test.go(5000, { conversations: new Map(counts), billedMs });
    expect(test.rollout).toMatchObject({ wave: 0, conversations: 95 });
    test.go(5000, { conversations: new Map(own.slice(1).map((one) => [one, 9])), billedMs });
    expect(test.rollout).toMatchObject({ wave: 0, conversations: 99 });
    test.go(5000, { conversations: new Map([[own[0] ?? '', 1]]), billedMs });
    expect(test.rollout).toMatchObject({ wave: 1, conversations: 0, heard: {} });
  });

  it('is left out when it would take no further device', () => {
    const test = scene(5);
    test.go();
    expect(test.drawn()).toHaveLength(1);
    test.all(() => live(), test.drawn());
    test.go();
    test.go(24 * HOUR);
    expect(test.rollout.wave).toBe(2);
    expect(test.drawn()).toHaveLength(5);
  });

  it('waits while there are no devices, and takes those that come', () => {
    const test = scene(0, [100]);
    test.go(48 * HOUR);
    expect(test.rollout).toMatchObject({ state: 'running', wave: 0, devices: 0 });
    test.devices.set('museum/new', device());
    expect(test.go()).toHaveLength(1);
  });
});

describe('a roll-out', () => {
  it('stops at two roll-backs, also while it is paused, with the reason of the first device', () => {
    const test = scene(100, [100]);
    expect(test.go()).toHaveLength(100);
    const paused = pause(test.rollout);
    if (paused.ok) test.set(paused.rollout);
    const deaf = device({ boot: 'b3', update: report('rolled_back', '1.3.0', 'it was deaf') });
    test.devices.set('museum/kiosk-7', deaf);
    test.go();
    expect(test.rollout).toMatchObject({ state: 'paused', reason: 'museum/kiosk-7: it was deaf' });
    test.devices.set('museum/kiosk-8', deaf);
    test.go();
    expect(test.rollout).toMatchObject({
      state: 'stopped',
      reason: 'museum/kiosk-7: it was deaf; 1 more device has problems',
    });
  });

  it('does not pause at what a device reports of an earlier attempt', () => {
    const test = scene(1, [100]);
    const old = device({ update: report('rolled_back', '1.3.0', 'an earlier time') });
    test.all(() => old);
    expect(test.go()).toHaveLength(1);
    test.go();
    expect(test.rollout).toMatchObject({
      state: 'running',
      drawn: { 'museum/kiosk-1': { state: 'ordered' } },
    });
    test.all(() => device({ update: report('downloading') }));
    test.go();
    test.all(() => old);
    test.go();
    expect(test.rollout.state).toBe('paused');
    // A roll-back of another version is none of this one.
    const other = scene(1, [100]);
    other.all(() => device({ update: report('rolled_back', '1.1.0') }));
    other.go();
    expect(other.rollout.state).toBe('running');
  });

  it('goes on at a failure, which changed nothing, and counts it', () => {
    const test = scene(2, [100]);
    test.go();
    test.devices.set('museum/kiosk-1', device({ update: report('failed', '1.3.0', 'the disk is full') }));
    test.devices.set('museum/kiosk-2', live());
    test.go();
    expect(test.rollout.state).toBe('running');
    expect(test.rollout.drawn['museum/kiosk-1']).toMatchObject({
      state: 'failed',
      reason: 'the disk is full',
    });
    test.go(24 * HOUR);
    expect(test.rollout.state).toBe('done');
  });

  it('stops when the version is in no repository, and does not wait for ever', () => {
    const failed = device({ update: report('failed', '1.3.0', 'the repository has no version 1.3.0') });
    const test = scene(20, [10, 100]);
    test.go();
    const [first = '', second = ''] = test.drawn();
    test.devices.set(first, failed);
    test.go();
    expect(test.rollout.state).toBe('running');
    test.devices.set(second, failed);
    test.go();
    expect(test.rollout).toMatchObject({
      state: 'stopped',
      reason: `${first}: the repository has no version 1.3.0; 1 more device has problems`,
    });
    // Whoever resumes wants the next wave to try.
    const asked = resume(test.rollout);
    if (asked.ok) test.set(asked.rollout);
    expect(test.go()).toHaveLength(18);
    expect(test.rollout).toMatchObject({ state: 'running', wave: 1 });
    const alone = scene(1, [100]);
    alone.go();
    alone.all(() => failed);
    alone.go();
    expect(alone.rollout).toMatchObject({
      state: 'paused',
      reason: 'museum/kiosk-1: the repository has no version 1.3.0',
    });
  });

  it('stops when updated devices lose over a second of speech an hour, and twice as much as the others', () => {
    const lossy = (updatedMs: number, restMs: number) => {
      const test = scene(20, [10, 100]);
      test.go();
      for (let minute = 0; minute < 120 && test.rollout.state === 'running'; minute += 1) {
        const mine = new Set(test.drawn());
        test.all((name) =>
          mine.has(name) ? live({ troubleMs: updatedMs / 60 }) : device({ troubleMs: restMs / 60 }),
        );
        test.go(MINUTE);
      }
      return test.rollout;
    };
    expect(lossy(900, 100)).toMatchObject({ state: 'running' });
    expect(lossy(1900, 1000)).toMatchObject({ state: 'running' });
    expect(lossy(2100, 1000)).toMatchObject({
      state: 'stopped',
      reason: 'devices with this version lose 1.0 s of speech an hour (lost or unspoken), the others 0.5 s',
    });
    expect(lossy(1100, 100).state).toBe('stopped');
  });

  it('stops when half of the others lose nothing, however much the other half loses', () => {
    const test = scene(4, [50, 100]);
    // Before the version all four are among the others.
    test.go();
    const mine = test.drawn();
    test.all(() => device({ troubleMs: 1000 }));
    test.all(() => live({ troubleMs: 1500 }), mine);
    test.go();
    expect(test.rollout).toMatchObject({
      state: 'stopped',
      reason: 'devices with this version lose 1.5 s of speech an hour (lost or unspoken), the others 0.0 s',
    });
  });

  it('does not believe that a machine that slept has watched', () => {
    const test = scene(20, [10, 100]);
    test.go();
    test.all(() => live({ troubleMs: 900 }), test.drawn());
    test.go();
    test.all(() => live(), test.drawn());
    test.go(10 * HOUR);
    test.all(() => live({ troubleMs: 200 }), test.drawn());
    test.go();
    expect(test.rollout).toMatchObject({
      state: 'stopped',
      reason: expect.stringContaining('1.1 s of speech'),
    });
  });

  it('is over after its last wave, brings late devices along, and leaves newer ones alone', () => {
    const test = scene(3, [100]);
    test.devices.set('museum/kiosk-3', device({ isConnected: false }));
    expect(test.go()).toHaveLength(2);
    test.all(() => live(), ['museum/kiosk-1', 'museum/kiosk-2']);
    test.go();
    test.go(24 * HOUR);
    expect(test.rollout.state).toBe('done');
    test.devices.set('museum/newer', device({ version: '1.4.0' }));
    test.devices.set('museum/older', device({ version: '1.1.9' }));
    test.devices.set('museum/kiosk-3', device());
    expect(
      test
        .go()
        .map(({ device: name }) => name)
        .sort(),
    ).toEqual(['museum/kiosk-3', 'museum/older']);
  });

  it('takes a device with a newer version along before its end: exactly the ordered version', () => {
    const test = scene(1, [100]);
    test.all(() => device({ version: '1.4.0' }));
    expect(test.go()).toMatchObject([{ args: { version: '1.3.0' } }]);
  });
});
