import { describe, expect, it } from 'vitest';
import { repeatableIn } from '../../../src/device/lane/sound/repeat.ts';
import type { LaneOptions } from '../../../src/device/lane/state/lane-options.ts';
import { LaneHarness } from './lane-harness.ts';
import { readTags } from './sound.ts';

const TALK = { startedAt: 0, notice: null, endingAt: null };

/** Live, in a conversation. */
function talking(options: Partial<LaneOptions> = {}): LaneHarness {
  const lane = new LaneHarness({ options }).goLive();
  lane.step({ type: 'conversation', conversation: TALK });
  return lane;
}

const repeat = (lane: LaneHarness, language = 'es') => lane.step({ type: 'repeat', language });

/** The repeated sound: milliseconds of each sentence, by number. */
function repeated(lane: LaneHarness): Record<number, number> {
  const sums: Record<number, number> = {};
  for (const { pcm, kind } of lane.all('play'))
    if (kind === 'repeat')
      for (const { sentence } of readTags(pcm)) sums[sentence] = (sums[sentence] ?? 0) + 1 / 12;
  for (const [sentence, ms] of Object.entries(sums)) sums[Number(sentence)] = Math.round(ms);
  return sums;
}

const kept = ({ state }: LaneHarness) => repeatableIn(state);

describe('a repeat', () => {
  it('speaks the whole last sentence again, as often as it is wanted, and nothing before it', () => {
    const lane = talking();
    lane.hear('a', 1000, true);
    for (const ms of [300, 300, 900]) lane.hear('b', ms, ms === 900);
    lane.pass(4000);
    expect(kept(lane)).toEqual(['es']);
    const before = lane.log.length;
    repeat(lane);
    lane.pass(3000);
    expect(repeated(lane)).toEqual({ 2: 1500 });
    repeat(lane);
    lane.pass(3000);
    expect(repeated(lane)).toEqual({ 2: 3000 });
    const more = lane.log.slice(before).map(({ type }) => type);
    expect(more.filter((type) => ['say', 'send_task', 'open_stream', 'notify'].includes(type))).toEqual([]);
    expect(lane.timers.has('playout')).toBe(false);
  });

  it('is heard by the echo gate like a translation', () => {
    const lane = talking({ echo: 'half-duplex' });
    lane.hear('a', 2000, true);
    lane.pass(4000);
    const before = lane.wire.length;
    repeat(lane);
    lane.speak(5);
    expect(lane.wire.slice(before)).toMatch(/^f*\.{5}$/);
  });

  it('is ignored while something is spoken, and while it is spoken itself', () => {
    const lane = talking();
    lane.hear('a', 1000, true);
    repeat(lane);
    lane.pass(3000);
    expect(repeated(lane)).toEqual({});
    repeat(lane);
    lane.pass(500);
    repeat(lane);
    lane.pass(3000);
    expect(repeated(lane)).toEqual({ 1: 1000 });
  });

  it('ends when a new sentence arrives, which is played whole and at once', () => {
    const lane = talking();
    lane.hear('a', 15_000, true);
    lane.pass(17_000);
    repeat(lane);
    lane.pass(1000);
    const before = lane.now;
    lane.hear('b', 2000, true);
    lane.pass(20_000);
    const [first] = lane.all('play').filter(({ at, kind }) => at >= before && kind === 'speech');
    expect(first?.at).toBeLessThan(before + 1000);
    expect(repeated(lane)[1]).toBeLessThan(3000);
    const spoken = lane.all('play').filter(({ kind }) => kind === 'speech');
    expect(spoken.reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0)).toBe(17_000);
    expect(lane.state.counts.speechDroppedMs).toBe(0);
    repeat(lane);
    lane.pass(3000);
    expect(repeated(lane)[2]).toBe(2000);
  });

  it.each([
    ['the conversation has ended', (lane) => lane.step({ type: 'conversation', conversation: null })],
    ['the lane is stopped', (lane) => lane.stop()],
    ['the lane is muted', (lane) => lane.options({ muted: true })],
    ['the visitor has muted the microphone', (lane) => lane.options({ mutedAtDesk: true })],
    ['the language has changed', (lane) => lane.options({ targets: ['fr'] })],
    ['the kiosk closes', (lane) => lane.hold('closed')],
    ['a step has failed', (lane) => lane.crash()],
  ] as [string, (lane: LaneHarness) => void][])(
    'is silent when %s, and no sound is left in memory',
    (_, act) => {
      const lane = talking();
      lane.hear('a', 1000, true);
      lane.pass(3000);
      act(lane);
      expect(lane.state.playout.lastSpoken).toEqual([]);
      for (const language of ['es', 'fr']) repeat(lane, language);
      lane.pass(3000);
      expect(repeated(lane)).toEqual({});
    },
  );

  it('keeps nothing that was spoken without a conversation', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 1000, true);
    lane.pass(3000);
    lane.step({ type: 'conversation', conversation: TALK });
    expect(kept(lane)).toEqual([]);
  });

  it('stays when the voice or the volume changes', () => {
    const lane = talking();
    lane.hear('a', 1000, true);
    lane.options({ volume: 30 });
    lane.options({ voice: 'other' });
    expect(kept(lane)).toEqual(['es']);
  });

  it('has the last sentence of each language when both people are interpreted', () => {
    const lane = talking({ twoWay: 'button' });
    lane.hear('a', 1000, true, lane.stream, 'a', 'es');
    lane.pass(2000);
    expect(kept(lane)).toEqual(['es']);
    lane.hear('b', 700, true, lane.stream, 'b', 'en');
    lane.hear('c', 400, true, lane.stream, 'c', 'es-MX');
    lane.pass(4000);
    expect(kept(lane)).toEqual(['es', 'en']);
    repeat(lane, 'en');
    lane.pass(2000);
    expect(repeated(lane)).toEqual({ 2: 700 });
    repeat(lane, 'es');
    lane.pass(2000);
    expect(repeated(lane)).toEqual({ 2: 700, 3: 400 });
    repeat(lane, 'fr');
    lane.pass(2000);
    expect(repeated(lane)).toEqual({ 2: 700, 3: 400 });
  });

  it('does not play over a person who holds the key, and ends when a person takes the turn', () => {
    const lane = talking({ twoWay: 'hold' });
    lane.hear('a', 8000, true, lane.stream, 'a', 'es');
    lane.pass(10_000);
    repeat(lane);
    lane.pass(1000);
    lane.step({ type: 'turn', speaker: 'source', held: true });
    lane.pass(3000);
    repeat(lane);
    lane.pass(3000);
    expect(repeated(lane)[1]).toBeLessThan(2000);
    expect(lane.state.counts.speechDroppedMs).toBe(0);
  });

  it('counts as no loss when a visitor who speaks over it ends it', () => {
    const lane = new LaneHarness({ options: { echo: 'cancel', bargeIn: 'flush' } }).goLive();
    lane.step({ type: 'canceller', status: 'ready', message: '' });
    lane.step({ type: 'conversation', conversation: TALK });
    lane.hear('a', 6000, true);
    lane.pass(8000);
    repeat(lane);
    lane.pass(500);
    lane.speak(6);
    lane.pass(8000);
    expect(repeated(lane)[1]).toBeLessThan(3000);
    expect(lane.state.counts.speechDroppedMs).toBe(0);
  });

  it('waits for nothing in standby: the loudspeaker is enough', () => {
    const lane = new LaneHarness({ options: { standbyAfterMs: 20_000 } }).goLive();
    lane.step({ type: 'conversation', conversation: TALK });
    lane.hear('a', 1000, true);
    lane.until(() => lane.phase === 'standby', 40_000);
    repeat(lane);
    lane.pass(2000);
    expect(repeated(lane)).toEqual({ 1: 1000 });
    expect(lane.phase).toBe('standby');
  });

  it('keeps the newest 20 s of a very long sentence', () => {
    const lane = talking();
    for (let part = 0; part < 100; part++) {
      lane.hear('a', 320);
      lane.pass(320);
    }
    lane.hear('a', 320, true);
    lane.pass(3000);
    repeat(lane);
    lane.pass(30_000);
    expect(repeated(lane)[1]).toBeGreaterThan(19_600);
    expect(repeated(lane)[1]).toBeLessThanOrEqual(20_000);
    const last = lane.all('play').findLast(({ kind }) => kind === 'repeat');
    expect(readTags(last?.pcm ?? new Uint8Array()).at(-1)?.word).toBe(101 * 320 * 12 - 1);
  });
});
