import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EARCONS, type Earcon, synthesizeEarcon } from '../../../src/core/audio/earcon.ts';
import { behave } from './behaviour.ts';
import { anyAct, perform } from './hostile.ts';
import { SITUATIONS } from './situations.ts';
import { World } from './world.ts';

const CHIMES = { orders: { earcons: true } } as const;

/** How a sound begins: enough to tell one from the other. */
const begin = (pcm: Uint8Array): string => Buffer.from(pcm.subarray(0, 100 * 48)).toString('base64');
const known = new Map<string, Earcon>(
  EARCONS.map((earcon) => [begin(synthesizeEarcon(earcon, 24_000)), earcon]),
);

/** The chimes that were played, by name, with their times. */
function chimes(world: World): { name: string; at: number }[] {
  return world.all('play').flatMap(({ kind, pcm, at }) => {
    const name = kind === 'earcon' ? known.get(begin(pcm)) : undefined;
    return name === undefined ? [] : [{ name, at }];
  });
}
const names = (world: World): string =>
  chimes(world)
    .map(({ name }) => name)
    .join(' ');

describe('chimes', () => {
  it('say that the lane is ready, once, when it first hears', () => {
    const world = new World(CHIMES).goConfiguring();
    world.pass(100);
    expect(names(world)).toBe('');
    world.taskRuns();
    expect(chimes(world)).toEqual([{ name: 'ready', at: world.now }]);
    world.pass(600_000);
    expect(names(world)).toBe('ready');
  });

  it('are not given where they are not wanted', () => {
    const world = new World().goLive();
    world.orders({ muted: true });
    world.end();
    world.pass(20_000);
    expect(world.all('play')).toEqual([]);
    expect(world.state.chimes.line).toBe('told');
  });

  it('say that the connection is lost after 2 s, and when it is back', () => {
    const world = new World(CHIMES).goLive();
    world.pass(60_000);
    const lostAt = world.now;
    world.end();
    world.pass(1999);
    expect(names(world)).toBe('ready');
    world.pass(2);
    expect(chimes(world).at(-1)).toEqual({ name: 'lost', at: lostAt + 2000 });
    world.pass(5000);
    world.comeBack();
    expect(chimes(world).at(-1)).toEqual({ name: 'recovered', at: world.now });
    world.pass(60_000);
    expect(names(world)).toBe('ready lost recovered');
  });

  it('say nothing of a session that is back within 2 s', () => {
    const world = new World(CHIMES).goLive();
    world.pass(60_000);
    world.end();
    world.until(() => world.phase === 'acquiring', 1500);
    world.grant();
    world.open();
    world.until(() => world.all('poll_task').some(({ stream }) => stream === world.stream), 5000);
    world.says({ message_type: 'current_task', data: { task_status: 'running' } });
    const away = world.now - world.last('open_stream').at;
    expect(away).toBeLessThan(2000);
    world.pass(60_000);
    expect(names(world)).toBe('ready');
  });

  it('say nothing of a rollover, neither with two streams nor with one after the other', () => {
    const two = new World(CHIMES).goRetiring();
    two.pass(5000);
    expect(two.state.counts.rollovers).toBe(1);
    expect(names(two)).toBe('ready');
    const one = new World(CHIMES).goMakingRoom();
    one.pass(4000);
    expect(one.state.stream).toBeNull();
    expect(names(one)).toBe('ready');
    one.comeBack();
    expect(names(one)).toBe('ready');
  });

  it('say so when a session that made room gets no successor', () => {
    const world = new World(CHIMES).goMakingRoom();
    world.until(() => world.phase === 'acquiring', 30_000);
    world.deny();
    world.pass(20_000);
    expect(names(world)).toBe('ready lost');
  });

  it('say so when the session breaks off while the next one is on its way', () => {
    const world = new World(CHIMES).goRolling();
    world.end();
    expect(world.phase).toBe('acquiring');
    world.pass(2100);
    expect(names(world)).toBe('ready lost');
  });

  it('say nothing of sleep and of waking, unless the first try at it fails', () => {
    const world = new World(CHIMES).goStandby();
    world.pass(60_000);
    world.speak(2);
    expect(world.phase).toBe('acquiring');
    world.pass(4000);
    expect(names(world)).toBe('ready');
    world.deny();
    world.pass(2100);
    expect(names(world)).toBe('ready lost');
  });

  it('say nothing of a new task on a running session', () => {
    const world = new World(CHIMES).goLive();
    world.pass(5000);
    world.orders({ targets: ['fr'] });
    world.pass(3000);
    expect(world.phase).toBe('configuring');
    world.taskRuns();
    expect(names(world)).toBe('ready');
  });

  it('do not interrupt a visitor for good news: it waits for a pause, and then it soon is none', () => {
    const world = new World({ orders: { earcons: true, start: 'voice' } });
    world.line(true);
    world.start();
    world.speak(3);
    world.grant();
    world.open();
    world.speak(8);
    world.taskRuns();
    world.speak(4);
    expect(names(world)).toBe('');
    const spokeAt = world.now;
    world.hush(5);
    expect(names(world)).toBe('ready');
    expect(chimes(world)[0]?.at).toBeGreaterThanOrEqual(spokeAt + 1000);
    world.pass(60_000);
    world.end();
    world.pass(2100);
    world.speak(5);
    world.comeBack();
    world.speak(40);
    world.hush(20);
    expect(names(world)).toBe('ready lost');
  });

  it('never make a storm of a line that comes and goes', () => {
    const world = new World(CHIMES).goLive();
    const from = world.now;
    for (let i = 0; i < 40; i++) {
      world.pass(500);
      world.end();
      world.comeBack();
    }
    const all = chimes(world);
    for (const [i, { name, at }] of all.entries()) {
      if (name === 'lost') expect(at - (all[i - 1]?.at ?? 0)).toBeGreaterThanOrEqual(15_000);
    }
    const minutes = (world.now - from) / 60_000;
    expect(chimes(world).length).toBeLessThanOrEqual(2 + minutes * 8);
    const about = names(world).replace('ready ', '').split(' ');
    expect(about.every((name, i) => name === (i % 2 === 0 ? 'lost' : 'recovered'))).toBe(true);
  });

  it('say that the microphone is muted and open again, on command, once each', () => {
    const world = new World(CHIMES).goLive();
    world.pass(5000);
    for (const muted of [true, true, false, false]) {
      world.orders({ muted });
      world.speak(3);
    }
    expect(names(world)).toBe('ready muted unmuted');
  });

  it('tell the last word on the microphone, however often it changed in a moment', () => {
    const world = new World(CHIMES).goLive();
    world.pass(5000);
    for (let i = 0; i < 31; i++) world.orders({ muted: i % 2 === 0 });
    world.speak(4);
    expect(names(world)).toBe('ready muted');
    for (let i = 0; i < 30; i++) world.orders({ muted: i % 2 !== 0 });
    world.orders({ muted: false });
    world.speak(4);
    expect(names(world)).toBe('ready muted unmuted');
  });

  it('say nothing of a lane that was muted before it was started', () => {
    const world = new World({ orders: { earcons: true, muted: true } }).goLive();
    world.speak(3);
    expect(names(world)).toBe('ready');
  });

  it('wait for the end of the sentence that sounds, come before the next one, and close the gate like any sound', () => {
    const world = new World(CHIMES).goLive();
    world.pass(5000);
    world.hear('a', 1500, true);
    world.hear('b', 1500, true);
    world.orders({ muted: true });
    world.orders({ muted: false, echo: 'half-duplex' });
    world.pass(4000);
    const kinds = world
      .all('play')
      .slice(1)
      .map(({ kind }) => kind[0]);
    expect(kinds.join('')).toMatch(/^s{2}es{2,3}$/);
    const before = world.wire.length;
    world.pass(2000);
    world.orders({ muted: true });
    world.orders({ muted: false });
    world.speak(6);
    expect(world.wire.slice(before)).toMatch(/^f*\.+s+$/);
  });

  it('begin anew with each start, and end with a stop', () => {
    const world = new World(CHIMES).goLive();
    world.stop();
    world.end();
    expect(world.phase).toBe('idle');
    world.pass(60_000);
    expect(names(world)).toBe('ready');
    world.start();
    world.grant();
    world.open();
    world.taskRuns();
    expect(names(world)).toBe('ready ready');
    world.end();
    world.stop();
    world.pass(60_000);
    expect(names(world)).toBe('ready ready');
  });
});

describe('whatever happens', () => {
  it('with chimes and ducking, no invariant breaks and there are never many chimes', () => {
    const acts = fc.array(anyAct, { maxLength: 60, size: 'max' });
    fc.assert(
      fc.property(acts, fc.constantFrom(...Object.keys(SITUATIONS)), (sequence, name) => {
        const world = SITUATIONS[name]?.() ?? new World();
        world.orders({ earcons: true, echo: 'cancel' });
        const from = world.now;
        const before = chimes(world).length;
        for (const act of sequence) perform(world, act);
        world.pass(1000);
        const muting = sequence.filter(
          ({ act }) => act === 'mute' || act === 'start' || act === 'stop',
        ).length;
        const most = 3 + muting + (2 * (world.now - from)) / 15_000;
        expect(chimes(world).length - before).toBeLessThanOrEqual(most);
        behave(world);
        world.pass(1000);
      }),
      { numRuns: 60 },
    );
  });
});
