import { describe, expect, it } from 'vitest';
import type { LaneOptions } from '../../../src/device/lane/state/lane-options.ts';
import { isPlaying } from '../../../src/device/playout/playout.ts';
import { LaneHarness } from './lane-harness.ts';

const live = (options: Partial<LaneOptions> = {}): LaneHarness => new LaneHarness({ options }).goLive();

/** A sentence of the menu: all its samples have this value. */
const sentence = (ms: number, value: number): Uint8Array =>
  new Uint8Array(new Int16Array(24 * ms).fill(value).buffer);
const prompt = (lane: LaneHarness, pcm: Uint8Array | null) => lane.step({ type: 'prompt', pcm });

/** Milliseconds written of a sentence of the menu. */
const written = (lane: LaneHarness, value: number): number =>
  lane
    .all('play')
    .filter(({ kind }) => kind === 'earcon')
    .flatMap(({ pcm }) => [...new Int16Array(pcm.slice().buffer)])
    .filter((sample) => sample === value).length / 24;
const spoken = (lane: LaneHarness): number =>
  lane
    .all('play')
    .filter(({ kind }) => kind === 'speech')
    .reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0);

describe('a sentence of the spoken menu', () => {
  it('is spoken whole', () => {
    const lane = live();
    prompt(lane, sentence(3000, 7));
    lane.pass(4000);
    expect(written(lane, 7)).toBe(3000);
    expect(isPlaying(lane.state.playout, lane.now)).toBe(false);
  });

  it.each(['half-duplex', 'cancel'] as const)('is cut at once by the next one, echo "%s"', (echo) => {
    const lane = live({ echo });
    prompt(lane, sentence(9000, 7));
    lane.pass(1000);
    const flushes = lane.all('flush_playback').length;
    prompt(lane, sentence(500, 9));
    expect(lane.all('flush_playback').length).toBe(flushes + 1);
    lane.pass(4000);
    expect(written(lane, 7)).toBeLessThan(2100);
    expect(written(lane, 9)).toBe(500);
    expect(lane.state.counts.speechDroppedMs).toBe(0);
  });

  it('ends without another one', () => {
    const lane = live();
    prompt(lane, sentence(9000, 7));
    lane.pass(1000);
    prompt(lane, null);
    expect(isPlaying(lane.state.playout, lane.now + 200)).toBe(false);
    const plays = lane.all('play').length;
    lane.pass(9000);
    expect(lane.all('play').length).toBe(plays);
    expect(lane.timers.has('playout')).toBe(false);
  });

  it('ends when translated speech arrives, which is played whole and at once', () => {
    const lane = live();
    prompt(lane, sentence(9000, 7));
    lane.pass(1000);
    const before = lane.now;
    lane.hear('a', 2000, true);
    lane.pass(4000);
    const [first] = lane.all('play').filter(({ kind }) => kind === 'speech');
    expect(first?.at).toBeLessThan(before + 1000);
    expect(written(lane, 7)).toBeLessThan(2100);
    expect(spoken(lane)).toBe(2000);
  });

  it('is dropped while translated speech plays or waits, and a cut does not touch that speech', () => {
    const lane = live();
    lane.hear('a', 2000, true);
    lane.hear('b', 1000, true);
    prompt(lane, sentence(500, 7));
    lane.pass(500);
    prompt(lane, null);
    prompt(lane, sentence(500, 9));
    lane.pass(6000);
    expect([written(lane, 7), written(lane, 9), spoken(lane)]).toEqual([0, 0, 3000]);
    expect(lane.all('flush_playback')).toEqual([]);
  });
});
