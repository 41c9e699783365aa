import { describe, expect, it } from 'vitest';
import { SAFE_PERCENT } from '../../../src/device/lane/sound/headset.ts';
import type { Output } from '../../../src/device/lane/state/lane-effect.ts';
import { laneStatus } from '../../../src/device/status/status-rules.ts';
import { LaneHarness } from './lane-harness.ts';
import { readEnds } from './sound.ts';

const plug = (lane: LaneHarness, isIn: boolean): void => void lane.step({ type: 'headset', isIn });
/** The plug goes in or out, and the other output opens after a moment. */
function switchTo(lane: LaneHarness, isIn: boolean, afterMs = 100): void {
  plug(lane, isIn);
  lane.pass(afterMs);
  lane.step({ type: 'playback_back' });
}
/** How much (ms) of each sentence was written to each output, in order. */
function written(lane: LaneHarness): { output: Output; sentence: number; ms: number }[] {
  let output: Output = 'loudspeaker';
  const parts: { output: Output; sentence: number; ms: number }[] = [];
  for (const effect of lane.log) {
    if (effect.type === 'use_output') output = effect.output;
    if (effect.type !== 'play' || effect.kind !== 'speech') continue;
    const [{ sentence = 0 } = {}] = readEnds(effect.pcm);
    const ms = effect.pcm.byteLength / 48;
    const last = parts.at(-1);
    if (last?.output === output && last.sentence === sentence) last.ms += ms;
    else parts.push({ output, sentence, ms });
  }
  return parts;
}
const dropped = (lane: LaneHarness) =>
  lane
    .all('notify')
    .filter(({ kind }) => kind === 'speech_dropped')
    .map(({ detail }) => detail);

describe('a plug that goes in within a sentence', () => {
  it('silences the loudspeaker at once, and the headset goes on with the sentence and gets the next one', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 5000, true);
    lane.hear('b', 1000, true);
    lane.pass(2000);
    const before = written(lane)[0]?.ms ?? 0;
    switchTo(lane, true);
    const [flush, use] = lane.log.filter(({ type }) => type === 'flush_playback' || type === 'use_output');
    expect([flush?.type, use]).toMatchObject([
      'flush_playback',
      { type: 'use_output', output: 'headset', percent: SAFE_PERCENT },
    ]);
    lane.hush(40);
    expect(written(lane)).toEqual([
      { output: 'loudspeaker', sentence: 1, ms: before },
      { output: 'headset', sentence: 1, ms: 5000 - before },
      { output: 'headset', sentence: 2, ms: 1000 },
    ]);
    // The loudspeaker had played 2 s of it; what it still held is lost, and counted.
    expect(dropped(lane)).toMatchObject([{ why: 'headset', sentences: 1, dropped_ms: before - 2000 }]);
    expect(lane.state.counts.speechDroppedMs).toBe(before - 2000);
    expect(lane.notes).not.toContain('audio_back');
  });

  it('writes nothing until the headset is open, also sound that arrives meanwhile', () => {
    const lane = new LaneHarness().goLive();
    plug(lane, true);
    lane.hear('a', 1000, true);
    lane.hush(10);
    expect(written(lane)).toEqual([]);
    lane.step({ type: 'playback_back' });
    lane.hush(10);
    expect(written(lane)).toEqual([{ output: 'headset', sentence: 1, ms: 1000 }]);
    expect(dropped(lane)).toEqual([]);
  });

  it('changes nothing when it was in before', () => {
    const lane = new LaneHarness().goLive();
    switchTo(lane, true);
    lane.hear('a', 1000, true);
    lane.pass(500);
    plug(lane, true);
    lane.hush(10);
    expect(lane.all('use_output')).toHaveLength(1);
    expect(written(lane)).toEqual([{ output: 'headset', sentence: 1, ms: 1000 }]);
  });
});

describe('a plug that goes out within a sentence', () => {
  it('drops the rest of the sentence, also what arrives later, and the loudspeaker begins with the next one', () => {
    const lane = new LaneHarness().goLive();
    switchTo(lane, true);
    lane.hear('a', 5000);
    lane.hear('b', 1000, true);
    lane.pass(2000);
    const before = written(lane)[0]?.ms ?? 0;
    switchTo(lane, false);
    expect(lane.last('use_output')).toMatchObject({ output: 'loudspeaker', percent: 100 });
    lane.hear('a', 700, true);
    lane.hush(40);
    expect(written(lane)).toEqual([
      { output: 'headset', sentence: 1, ms: before },
      { output: 'loudspeaker', sentence: 2, ms: 1000 },
    ]);
    // The headset had played 2 s of 5.7 s.
    expect(lane.state.counts.speechDroppedMs).toBe(3700);
    expect(dropped(lane)).toMatchObject([{ why: 'headset', sentences: 1, dropped_ms: 3700 }]);
  });

  it('drops the rest of a repeated sentence, too', () => {
    const lane = new LaneHarness().goLive();
    lane.step({ type: 'conversation', conversation: { startedAt: lane.now, notice: null, endingAt: null } });
    switchTo(lane, true);
    lane.hear('a', 4000, true);
    lane.hush(20);
    lane.step({ type: 'repeat', language: 'es' });
    lane.pass(1000);
    switchTo(lane, false);
    const at = lane.now;
    lane.hush(20);
    expect(lane.all('play').filter((play) => play.at >= at)).toEqual([]);
    expect(lane.state.playout.queuedBytes).toBe(0);
  });

  it('holds the next sentence until the loudspeaker is open, however late', () => {
    const lane = new LaneHarness().goLive();
    switchTo(lane, true);
    plug(lane, false);
    lane.fault('playback', 'hung');
    lane.hear('a', 1000, true);
    lane.hush(10);
    expect(written(lane)).toEqual([]);
    expect(lane.state).toMatchObject({ playbackLost: true, isSwitching: false });
    lane.step({ type: 'playback_back' });
    lane.hush(10);
    expect(written(lane)).toEqual([{ output: 'loudspeaker', sentence: 1, ms: 1000 }]);
    expect(lane.notes.filter((kind) => kind.startsWith('audio'))).toEqual(['audio_lost', 'audio_back']);
  });
});

describe('a plug that bounces', () => {
  it('ends at the last output, with the sentence that was not begun', () => {
    const lane = new LaneHarness().goLive();
    for (const isIn of [true, false, true, false, true]) plug(lane, isIn);
    lane.hear('a', 1000, true);
    lane.step({ type: 'playback_back' });
    lane.hush(10);
    expect(lane.all('use_output').map(({ output }) => output)).toEqual([
      'headset',
      'loudspeaker',
      'headset',
      'loudspeaker',
      'headset',
    ]);
    expect(written(lane)).toEqual([{ output: 'headset', sentence: 1, ms: 1000 }]);
  });
});

describe('the volume of the headset', () => {
  const percents = (lane: LaneHarness) =>
    lane.log.flatMap((effect) =>
      effect.type === 'set_volume' || effect.type === 'use_output' ? [effect.percent] : [],
    );

  it('begins at the safe level at each plugging, and never changes that of the loudspeaker', () => {
    const lane = new LaneHarness({ options: { volume: 80 } }).goLive();
    switchTo(lane, true);
    lane.step({ type: 'volume', percent: 70 });
    switchTo(lane, false);
    lane.step({ type: 'volume', percent: 60 });
    switchTo(lane, true);
    expect(percents(lane)).toEqual([SAFE_PERCENT, 70, 80, 60, SAFE_PERCENT]);
    expect(lane.state.options.volume).toBe(60);
  });

  it('is not changed by the order for the loudspeaker, which applies once the plug is out', () => {
    const lane = new LaneHarness({ options: { volume: 80 } }).goLive();
    switchTo(lane, true);
    lane.options({ volume: 100 });
    switchTo(lane, false);
    expect(percents(lane)).toEqual([SAFE_PERCENT, 100]);
  });

  it('is safe again when the conversation ends, for the next person at a headset that stays in', () => {
    const lane = new LaneHarness().goLive();
    switchTo(lane, true);
    lane.step({ type: 'volume', percent: 90 });
    lane.step({ type: 'conversation', conversation: null });
    lane.step({ type: 'conversation', conversation: null });
    expect(percents(lane)).toEqual([SAFE_PERCENT, 90, SAFE_PERCENT]);
  });
});

describe('the microphone', () => {
  it('stays open in half-duplex while the headset speaks, and is closed for the loudspeaker', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 960, true);
    lane.speak(3);
    expect(lane.wire.replaceAll('f', '')).toBe('...');
    lane.hush(5);
    const before = lane.wire.length;
    switchTo(lane, true);
    lane.hear('b', 3000, true);
    lane.speak(6);
    expect(lane.wire.slice(before).replaceAll('f', '')).toBe('ssssss');
  });

  it('is protected from what the loudspeaker said just before the plug went in', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 5000, true);
    lane.speak(2);
    switchTo(lane, true, 50);
    const before = lane.wire.length;
    lane.speak(4);
    // 300 ms of tail after the loudspeaker fell silent.
    expect(lane.wire.slice(before).replaceAll('f', '')).toBe('.sss');
  });

  it('is open at once when the plug goes out, because nothing was in the air', () => {
    const lane = new LaneHarness().goLive();
    switchTo(lane, true);
    lane.hear('a', 5000, true);
    lane.speak(3);
    switchTo(lane, false, 10);
    const before = lane.wire.length;
    lane.speak(3);
    expect(lane.wire.slice(before).replaceAll('f', '')).toBe('sss');
  });

  it('is protected while the canceller learns the path again, when the loudspeaker is back', () => {
    const lane = new LaneHarness({ options: { echo: 'cancel' } }).goLive();
    lane.step({ type: 'canceller', status: 'ready', message: '' });
    lane.hear('a', 4000, true);
    lane.hush(20);
    switchTo(lane, true);
    switchTo(lane, false);
    lane.hear('b', 2000, true);
    const before = lane.wire.length;
    lane.speak(3);
    expect(lane.wire.slice(before).replaceAll('f', '')).toBe('...');
  });
});

describe('a defect of the program', () => {
  it('does not lose the output: a plug whose event threw still switches', () => {
    const lane = new LaneHarness().goLive();
    lane.crash({ type: 'headset', isIn: true });
    expect(lane.last('use_output').output).toBe('headset');
    expect(lane.state).toMatchObject({ isSwitching: true, headset: { volume: SAFE_PERCENT } });
    lane.step({ type: 'playback_back' });
    lane.crash();
    expect(lane.state.headset).not.toBeNull();
  });
});

describe('a second device that has failed', () => {
  it('is reported as a reason of its own until it works again, and the loudspeaker goes on', () => {
    const lane = new LaneHarness().goLive();
    lane.step({ type: 'audio_fault', device: 'also', code: 'lost', message: 'the loop is gone' });
    expect(laneStatus(lane.state, lane.now)).toMatchObject({
      status: 'degraded',
      reasons: [{ code: 'also' }],
    });
    lane.hear('a', 1000, true);
    lane.hush(10);
    expect(written(lane)).toEqual([{ output: 'loudspeaker', sentence: 1, ms: 1000 }]);
    lane.step({ type: 'device_back', device: 'also' });
    expect(laneStatus(lane.state, lane.now).reasons).toEqual([]);
    expect(lane.all('notify').filter(({ kind }) => kind.startsWith('audio'))).toMatchObject([
      { kind: 'audio_lost', detail: { device: 'also', code: 'lost' } },
      { kind: 'audio_back', detail: { device: 'also' } },
    ]);
  });
});

describe('a plug that cannot be read', () => {
  it('is reported once until it can be read again, and the lane goes on', () => {
    const lane = new LaneHarness().goLive();
    const lose = (): void =>
      void lane.step({ type: 'audio_fault', device: 'headset', code: 'failed', message: 'no jack' });
    lose();
    lose();
    lane.hear('a', 1000, true);
    lane.hush(10);
    expect(written(lane)).toEqual([{ output: 'loudspeaker', sentence: 1, ms: 1000 }]);
    lane.step({ type: 'device_back', device: 'headset' });
    lane.step({ type: 'device_back', device: 'headset' });
    expect(lane.all('notify').filter(({ kind }) => kind.startsWith('audio'))).toMatchObject([
      { kind: 'audio_lost', detail: { device: 'headset', code: 'failed', message: 'no jack' } },
      { kind: 'audio_back', detail: { device: 'headset' } },
    ]);
  });
});
