import { describe, expect, it } from 'vitest';
import type { LaneOptions } from '../../../src/device/lane/state/lane-options.ts';
import { LaneHarness } from './lane-harness.ts';
import { readTags, tagged } from './sound.ts';

const live = (options: Partial<LaneOptions> = {}): LaneHarness => new LaneHarness({ options }).goLive();
/** The connection is lost, and no other can be opened. */
function cutOff(options: Partial<LaneOptions> = {}): LaneHarness {
  const lane = live(options);
  lane.brokerIs(false);
  lane.end();
  return lane;
}

/** @param number marks the samples, apart from those of sentences. */
const speak = (lane: LaneHarness, number: number, ms: number) =>
  lane.step({ type: 'phrase', language: 'es', pcm: tagged(number, 0, Math.round(ms * 12)) });

interface Heard {
  readonly sentence: number;
  ms: number;
}
/** Longer than a fade, whose samples mark no sentence (ms). */
const SOUND_MS = 20;
/** What is written to the loudspeaker, in its order. */
function written(lane: LaneHarness): Heard[] {
  const heard: Heard[] = [];
  for (const { pcm, kind } of lane.all('play'))
    if (kind === 'repeat' || kind === 'speech')
      for (const { sentence } of readTags(pcm)) {
        const last = heard.at(-1);
        if (last?.sentence === sentence) last.ms += 1 / 12;
        else heard.push({ sentence, ms: 1 / 12 });
      }
  return heard
    .filter(({ ms }) => ms >= SOUND_MS)
    .map(({ sentence, ms }) => ({ sentence, ms: Math.round(ms) }));
}
const sent = (lane: LaneHarness, from: number): string[] =>
  lane.log
    .slice(from)
    .map(({ type }) => type)
    .filter((type) =>
      ['say', 'send_task', 'send_audio', 'open_stream', 'request_token', 'notify'].includes(type),
    );

describe('a phrase of the house', () => {
  it('is spoken while the service is away, and nothing is sent', () => {
    const lane = cutOff();
    lane.pass(5000);
    const from = lane.log.length;
    speak(lane, 90, 1500);
    lane.pass(3000);
    expect(written(lane)).toEqual([{ sentence: 90, ms: 1500 }]);
    expect(sent(lane, from)).toEqual([]);
    expect(lane.timers.has('playout')).toBe(false);
    expect(lane.state.playout.lastSpoken).toEqual([]);
  });

  it.each([
    ['is stopped', (lane) => lane.stop()],
    ['is closed', (lane) => lane.hold('closed')],
  ] as [string, (lane: LaneHarness) => void][])('is spoken when the lane %s', (_, act) => {
    const lane = live();
    act(lane);
    lane.pass(30_000);
    speak(lane, 90, 1000);
    lane.pass(3000);
    expect(written(lane)).toEqual([{ sentence: 90, ms: 1000 }]);
  });

  it('is not spoken while a translation plays or waits', () => {
    const lane = live();
    lane.hear('a', 2000, true);
    speak(lane, 90, 1000);
    lane.pass(1500);
    speak(lane, 91, 1000);
    lane.pass(5000);
    expect(written(lane)).toEqual([{ sentence: 1, ms: 2000 }]);
    speak(lane, 92, 1000);
    lane.pass(3000);
    expect(written(lane).at(-1)).toEqual({ sentence: 92, ms: 1000 });
  });

  it('is not spoken while a translation is repeated', () => {
    const lane = live();
    lane.step({ type: 'conversation', conversation: { startedAt: 0, notice: null, endingAt: null } });
    lane.hear('a', 4000, true);
    lane.pass(6000);
    lane.step({ type: 'repeat', language: 'es' });
    lane.pass(1000);
    speak(lane, 90, 1000);
    lane.pass(9000);
    expect(written(lane).map(({ sentence }) => sentence)).not.toContain(90);
  });

  it('ends when a translation arrives, which is played whole and at once', () => {
    const lane = live();
    speak(lane, 90, 9000);
    lane.pass(1000);
    const before = lane.now;
    lane.hear('a', 2000, true);
    lane.pass(9000);
    const [first, second, ...more] = written(lane);
    expect([first?.sentence, second, more]).toEqual([90, { sentence: 1, ms: 2000 }, []]);
    expect(first?.ms).toBeLessThan(2500);
    const [speech] = lane.all('play').filter(({ kind }) => kind === 'speech');
    expect(speech?.at).toBeLessThan(before + 1000);
    expect(lane.state.counts.speechDroppedMs).toBe(0);
  });

  it('gives way to the next phrase, and to each one after that', () => {
    const lane = cutOff();
    speak(lane, 90, 9000);
    lane.pass(500);
    speak(lane, 91, 9000);
    lane.pass(1500);
    speak(lane, 92, 1000);
    lane.pass(9000);
    expect(written(lane).map(({ sentence }) => sentence)).toEqual([90, 91, 92]);
    expect(written(lane).at(-1)?.ms).toBe(1000);
    expect(written(lane)[0]?.ms).toBeLessThan(2000);
    expect(lane.state.playout.queuedBytes).toBe(0);
  });

  it('closes the echo gate like a chime', () => {
    const lane = live({ echo: 'half-duplex' });
    lane.pass(1000);
    const before = lane.wire.length;
    speak(lane, 90, 3000);
    lane.speak(5);
    expect(lane.wire.slice(before)).toMatch(/^f*\.{5}$/);
  });

  it('is not spoken without a loudspeaker, nor kept until one is back', () => {
    const lane = cutOff();
    lane.step({ type: 'audio_fault', device: 'playback', code: 'gone', message: 'unplugged' });
    speak(lane, 90, 1000);
    lane.pass(1000);
    lane.step({ type: 'playback_back' });
    lane.pass(5000);
    expect(written(lane)).toEqual([]);
  });

  it('does not play over a person who holds the key', () => {
    const lane = live({ twoWay: 'hold' });
    lane.step({ type: 'turn', speaker: 'source', held: true });
    lane.pass(1000);
    speak(lane, 90, 1000);
    lane.pass(5000);
    expect(written(lane)).toEqual([]);
  });
});
