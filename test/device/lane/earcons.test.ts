import { describe, expect, it } from 'vitest';
import { EARCONS, type Earcon, synthesizeEarcon } from '../../../src/sound/earcon.ts';
import { fc } from '../../properties.ts';
import { ready } from '../../service-events.ts';
import { behave } from './behaviour.ts';
import { anyAct } from './hostile.ts';
import { LaneHarness } from './lane-harness.ts';
import { perform } from './perform.ts';
import { SITUATIONS, situation } from './situations.ts';

const CHIMES = { options: { earcons: true } } as const;

/** The beginning of a sound: enough to tell chimes apart. */
const begin = (pcm: Uint8Array): string => Buffer.from(pcm.subarray(0, 100 * 48)).toString('base64');
const known = new Map<string, Earcon>(
  EARCONS.map((earcon) => [begin(synthesizeEarcon(earcon, 24_000)), earcon]),
);

/** The chimes that were played, by name, with their times. */
function chimes(lane: LaneHarness): { name: string; at: number }[] {
  return lane.all('play').flatMap(({ kind, pcm, at }) => {
    const name = kind === 'earcon' ? known.get(begin(pcm)) : undefined;
    return name === undefined ? [] : [{ name, at }];
  });
}
const names = (lane: LaneHarness): string =>
  chimes(lane)
    .map(({ name }) => name)
    .join(' ');

describe('chimes', () => {
  it('signal once that the lane is ready, when it first hears', () => {
    const lane = new LaneHarness(CHIMES).goConfiguring();
    lane.pass(100);
    expect(names(lane)).toBe('');
    lane.taskRuns();
    expect(chimes(lane)).toEqual([{ name: 'ready', at: lane.now }]);
    lane.pass(600_000);
    expect(names(lane)).toBe('ready');
  });

  it('are silent when they are switched off', () => {
    const lane = new LaneHarness().goLive();
    lane.options({ muted: true });
    lane.end();
    lane.pass(20_000);
    expect(lane.all('play')).toEqual([]);
    expect(lane.state.chimes.session).toBe('signalled');
  });

  it('signal the loss of the session after 2 s, and its return', () => {
    const lane = new LaneHarness(CHIMES).goLive();
    lane.pass(60_000);
    const lostAt = lane.now;
    lane.end();
    lane.pass(1999);
    expect(names(lane)).toBe('ready');
    lane.pass(2);
    expect(chimes(lane).at(-1)).toEqual({ name: 'lost', at: lostAt + 2000 });
    lane.pass(5000);
    lane.comeBack();
    expect(chimes(lane).at(-1)).toEqual({ name: 'recovered', at: lane.now });
    lane.pass(60_000);
    expect(names(lane)).toBe('ready lost recovered');
  });

  it('are silent about a session that is back within 2 s', () => {
    const lane = new LaneHarness(CHIMES).goLive();
    lane.pass(60_000);
    lane.end();
    lane.until(() => lane.phase === 'acquiring', 1500);
    lane.grant();
    lane.open();
    lane.until(() => lane.all('poll_task').some(({ stream }) => stream === lane.stream), 5000);
    lane.says(ready());
    const away = lane.now - lane.last('open_stream').at;
    expect(away).toBeLessThan(2000);
    lane.pass(60_000);
    expect(names(lane)).toBe('ready');
  });

  it('are silent about a rollover, with two streams or with one after the other', () => {
    const two = new LaneHarness(CHIMES).goOldSession();
    two.pass(5000);
    expect(two.state.counts.rollovers).toBe(1);
    expect(names(two)).toBe('ready');
    const one = new LaneHarness(CHIMES).goMakingRoom();
    one.pass(4000);
    expect(one.hearing).toBeNull();
    expect(names(one)).toBe('ready');
    one.comeBack();
    expect(names(one)).toBe('ready');
  });

  it('signal the loss when a session that made room gets no successor', () => {
    const lane = new LaneHarness(CHIMES).goMakingRoom();
    lane.until(() => lane.phase === 'acquiring', 30_000);
    lane.deny();
    lane.pass(20_000);
    expect(names(lane)).toBe('ready lost');
  });

  it('signal the loss when the session breaks off during the set-up of the next one', () => {
    const lane = new LaneHarness(CHIMES).goRolling();
    lane.end();
    expect(lane.phase).toBe('acquiring');
    lane.pass(2100);
    expect(names(lane)).toBe('ready lost');
  });

  it('are silent about standby and wake, unless the first attempt after a wake fails', () => {
    const lane = new LaneHarness(CHIMES).goStandby();
    lane.pass(60_000);
    lane.speak(2);
    expect(lane.phase).toBe('acquiring');
    lane.pass(4000);
    expect(names(lane)).toBe('ready');
    lane.deny();
    lane.pass(2100);
    expect(names(lane)).toBe('ready lost');
  });

  it('are silent about a change of the task', () => {
    const lane = new LaneHarness(CHIMES).goLive();
    lane.pass(5000);
    lane.options({ targets: ['fr'] });
    lane.pass(3000);
    expect(lane.phase).toBe('configuring');
    lane.taskRuns();
    expect(names(lane)).toBe('ready');
  });

  it('wait for a pause with good news, and drop it when it is too old', () => {
    const lane = new LaneHarness({ options: { earcons: true, start: 'voice' } });
    lane.brokerIs(true);
    lane.start();
    lane.speak(3);
    lane.grant();
    lane.open();
    lane.speak(8);
    lane.taskRuns();
    lane.speak(4);
    expect(names(lane)).toBe('');
    const spokeAt = lane.now;
    lane.hush(5);
    expect(names(lane)).toBe('ready');
    expect(chimes(lane)[0]?.at).toBeGreaterThanOrEqual(spokeAt + 1000);
    lane.pass(60_000);
    lane.end();
    lane.pass(2100);
    lane.speak(5);
    lane.comeBack();
    lane.speak(40);
    lane.hush(20);
    expect(names(lane)).toBe('ready lost');
  });

  it('stay rare when the connection comes and goes', () => {
    const lane = new LaneHarness(CHIMES).goLive();
    const from = lane.now;
    for (let i = 0; i < 40; i++) {
      lane.pass(500);
      lane.end();
      lane.comeBack();
    }
    const all = chimes(lane);
    for (const [i, { name, at }] of all.entries()) {
      if (name === 'lost') expect(at - (all[i - 1]?.at ?? 0)).toBeGreaterThanOrEqual(15_000);
    }
    const minutes = (lane.now - from) / 60_000;
    expect(chimes(lane).length).toBeLessThanOrEqual(2 + minutes * 8);
    const about = names(lane).replace('ready ', '').split(' ');
    expect(about.every((name, i) => name === (i % 2 === 0 ? 'lost' : 'recovered'))).toBe(true);
  });

  it('signal mute and unmute once each', () => {
    const lane = new LaneHarness(CHIMES).goLive();
    lane.pass(5000);
    for (const muted of [true, true, false, false]) {
      lane.options({ muted });
      lane.speak(3);
    }
    expect(names(lane)).toBe('ready muted unmuted');
  });

  it('signal the last mute state after several fast changes', () => {
    const lane = new LaneHarness(CHIMES).goLive();
    lane.pass(5000);
    for (let i = 0; i < 31; i++) lane.options({ muted: i % 2 === 0 });
    lane.speak(4);
    expect(names(lane)).toBe('ready muted');
    for (let i = 0; i < 30; i++) lane.options({ muted: i % 2 !== 0 });
    lane.options({ muted: false });
    lane.speak(4);
    expect(names(lane)).toBe('ready muted unmuted');
  });

  it('are silent about a lane that was muted before its start', () => {
    const lane = new LaneHarness({ options: { earcons: true, muted: true } }).goLive();
    lane.speak(3);
    expect(names(lane)).toBe('ready');
  });

  it('play between two sentences, and close the gate like any sound', () => {
    const lane = new LaneHarness(CHIMES).goLive();
    lane.pass(5000);
    lane.hear('a', 1500, true);
    lane.hear('b', 1500, true);
    lane.options({ muted: true });
    lane.options({ muted: false, echo: 'half-duplex' });
    lane.pass(4000);
    const kinds = lane
      .all('play')
      .slice(1)
      .map(({ kind }) => kind[0]);
    expect(kinds.join('')).toMatch(/^s{2}es{2,3}$/);
    const before = lane.wire.length;
    lane.pass(2000);
    lane.options({ muted: true });
    lane.options({ muted: false });
    lane.speak(6);
    expect(lane.wire.slice(before)).toMatch(/^f*\.+s+$/);
  });

  it('start anew with each start, and end with a stop', () => {
    const lane = new LaneHarness(CHIMES).goLive();
    lane.stop();
    lane.end();
    expect(lane.phase).toBe('idle');
    lane.pass(60_000);
    expect(names(lane)).toBe('ready');
    lane.start();
    lane.grant();
    lane.open();
    lane.taskRuns();
    expect(names(lane)).toBe('ready ready');
    lane.end();
    lane.stop();
    lane.pass(60_000);
    expect(names(lane)).toBe('ready ready');
  });
});

describe('whatever happens', () => {
  it('breaks no invariant with chimes and ducking, and plays few chimes', () => {
    const acts = fc.array(anyAct, { maxLength: 60 });
    fc.assert(
      fc.property(acts, fc.constantFrom(...Object.keys(SITUATIONS)), (sequence, name) => {
        const lane = SITUATIONS[name]?.() ?? new LaneHarness();
        lane.options({ earcons: true, echo: 'cancel' });
        const from = lane.now;
        const before = chimes(lane).length;
        for (const act of sequence) perform(lane, act);
        lane.pass(1000);
        const muting = sequence.filter(
          ({ act }) => act === 'mute' || act === 'start' || act === 'stop',
        ).length;
        const most = 3 + muting + (2 * (lane.now - from)) / 15_000;
        expect(chimes(lane).length - before).toBeLessThanOrEqual(most);
        behave(lane);
        lane.pass(1000);
      }),
      { numRuns: 25 },
    );
  });
});

describe('an announcement of the device', () => {
  const PCM = new Uint8Array(48_000).fill(7);
  const played = (lane: LaneHarness): number =>
    lane
      .all('play')
      .filter(({ kind, pcm }) => kind === 'earcon' && pcm[0] === 7)
      .reduce((bytes, { pcm }) => bytes + pcm.byteLength, 0);

  it.each(Object.keys(SITUATIONS))('is played once and completely in the situation "%s"', (name) => {
    const lane = situation(name);
    lane.announce(PCM);
    lane.pass(10_000);
    expect(played(lane)).toBe(lane.phase === 'closed' ? 0 : PCM.byteLength);
  });
});
