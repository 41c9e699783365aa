import { describe, expect, it } from 'vitest';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

/** Live, with a canceller that has learned the room. */
function cancelling(): LaneHarness {
  const lane = new LaneHarness({ options: { echo: 'cancel' } }).goLive();
  learn(lane);
  return lane;
}

function learn(lane: LaneHarness): void {
  lane.step({ type: 'canceller', status: 'ready', message: '' });
  lane.hear(`warming up at ${lane.now}`, 3000, true);
  lane.pass(4000);
}
const ducks = (lane: LaneHarness): string =>
  lane
    .all('duck')
    .map(({ on }) => (on ? 'v' : '^'))
    .join('');

describe('a visitor who speaks over the translation', () => {
  it('turns the translation down at once, and up again after 0.7 s without speech', () => {
    const lane = cancelling();
    lane.hear('a', 10_000, true);
    lane.speak(1);
    expect(lane.all('duck')).toEqual([{ type: 'duck', on: true, at: lane.now }]);
    lane.speak(5);
    expect(ducks(lane)).toBe('v');
    const spokeAt = lane.now;
    lane.hush(4);
    expect(lane.last('duck')).toEqual({ type: 'duck', on: false, at: spokeAt + 700 });
  });

  it('is captured meanwhile, and the translation goes on', () => {
    const lane = cancelling();
    lane.hear('a', 3000, true);
    lane.speak(9);
    expect(lane.wire).toMatch(/^f*sssssssss$/);
    expect(lane.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength, 0)).toBe(6000 * 48);
  });

  it('keeps the translation down during a breath', () => {
    const lane = cancelling();
    for (let i = 0; i < 5; i++) {
      lane.speak(2);
      lane.hush(1);
    }
    expect(ducks(lane)).toBe('v');
  });

  it('turns the translation up again when the microphone stops delivering', () => {
    const lane = cancelling();
    lane.speak(3);
    lane.pass(701);
    expect(ducks(lane)).toBe('v^');
  });

  it('has no effect without a voice by the detector', () => {
    const lane = cancelling();
    lane.pass(CHUNK_MS);
    const levels = { loudestDb: -20, quietestDb: -52, isSpeech: false };
    lane.step({ type: 'captured', capturedAt: lane.now, pcm: new Uint8Array(4).fill(9), levels });
    expect(ducks(lane)).toBe('');
  });

  it.each(['half-duplex', 'off'] as const)('does not turn the translation down in the mode %s', (echo) => {
    const lane = new LaneHarness({ options: { echo } }).goLive();
    lane.speak(2);
    lane.hear('a', 3000, true);
    lane.speak(5);
    expect(ducks(lane)).toBe('');
  });

  it('no longer turns the translation down after a change of the mode, or a stop', () => {
    const lane = cancelling();
    lane.speak(2);
    lane.options({ echo: 'off' });
    expect(ducks(lane)).toBe('v^');
    lane.options({ echo: 'cancel' });
    learn(lane);
    lane.speak(2);
    lane.stop();
    expect(ducks(lane)).toBe('v^v^');
    expect(lane.timers.has('duck')).toBe(false);
  });

  it('can interrupt soon: less sound than usual is written ahead', () => {
    const written = (lane: LaneHarness): number =>
      lane.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0);
    const cancel = cancelling();
    cancel.hear('a', 5000, true);
    cancel.pass(1000);
    const usual = new LaneHarness().goLive();
    usual.hear('a', 5000, true);
    usual.pass(1000);
    expect(written(cancel) - 4000).toBeLessThanOrEqual(180);
    expect(written(cancel) - 4000).toBeGreaterThanOrEqual(60);
    expect(written(usual) - 1000).toBeGreaterThan(180);
    expect(written(usual) - 1000).toBeLessThanOrEqual(1000);
  });
});

describe('a visitor who interrupts', () => {
  const interrupted = (bargeIn: 'duck' | 'flush'): LaneHarness => {
    const lane = cancelling();
    lane.options({ bargeIn });
    lane.hear('a', 5000);
    lane.hear('b', 2000, true);
    return lane;
  };

  it('ends the translation at the second chunk of speech: the first may be a cough', () => {
    const lane = interrupted('flush');
    const flushes = lane.all('flush_playback').length;
    lane.speak(1);
    expect(lane.all('flush_playback')).toHaveLength(flushes);
    lane.speak(1);
    expect(lane.all('flush_playback')).toHaveLength(flushes + 1);
    const played = lane.all('play').length;
    // The rest of the interrupted sentence comes too late.
    lane.hear('a', 1000, true);
    lane.speak(3);
    expect(lane.all('play')).toHaveLength(played);
    lane.hush(12);
    const dropped = lane.all('notify').filter(({ kind }) => kind === 'speech_dropped');
    expect(dropped).toMatchObject([{ detail: { why: 'barge_in', sentences: 2, waiting_ms: 0 } }]);
  });

  it('does not suppress later translations', () => {
    const lane = interrupted('flush');
    lane.speak(3);
    const played = lane.all('play').length;
    lane.hear('c', 1000, true);
    lane.speak(4);
    expect(
      lane
        .all('play')
        .slice(played)
        .reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0),
    ).toBe(1000);
    lane.hush(12);
    lane.hear('d', 3000, true);
    lane.speak(2);
    lane.hush(12);
    expect(lane.notes.filter((kind) => kind === 'speech_dropped')).toHaveLength(2);
  });

  it('ends nothing with `duck`, nor while nothing sounds', () => {
    const lane = interrupted('duck');
    lane.speak(5);
    expect(lane.notes).not.toContain('speech_dropped');
    const quiet = cancelling();
    quiet.options({ bargeIn: 'flush' });
    quiet.speak(5);
    expect(quiet.all('flush_playback')).toEqual([]);
  });
});

describe('the loudspeaker', () => {
  it('gets a new volume only when it changes', () => {
    const lane = new LaneHarness().goLive();
    lane.options({ volume: 40 });
    lane.options({ volume: 40 });
    lane.options({ muted: true });
    expect(lane.all('set_volume').map(({ percent }) => percent)).toEqual([40]);
    expect(lane.state.options.volume).toBe(40);
  });

  it('causes one event when it fails, and one when it is back', () => {
    const lane = new LaneHarness().goLive();
    lane.fault('playback');
    lane.fault('playback', 'busy');
    expect(lane.all('notify').filter(({ kind }) => kind.startsWith('audio_'))).toHaveLength(1);
    expect(lane.last('notify')).toMatchObject({
      kind: 'audio_lost',
      detail: { device: 'playback', code: 'lost', message: 'the playback device is gone' },
    });
    expect(lane.state).toMatchObject({
      playbackLost: true,
      deviceFaults: { playback: { code: 'playback_busy' } },
    });
    lane.step({ type: 'playback_back' });
    lane.step({ type: 'playback_back' });
    expect(
      lane
        .all('notify')
        .slice(-2)
        .map(({ kind }) => kind),
    ).toEqual(['audio_lost', 'audio_back']);
    expect(lane.last('notify').detail).toEqual({ device: 'playback' });
    expect(lane.state).toMatchObject({ playbackLost: false, problem: null });
  });

  it('leaves other problems in the report when it is back', () => {
    const lane = new LaneHarness().goLive();
    lane.fault('playback');
    lane.end();
    lane.step({ type: 'playback_back' });
    expect(lane.state.problem?.code).toBe('network');
  });

  it('reports how much was dropped when it lags', () => {
    const lane = new LaneHarness({ settings: { playoutLagMs: 2000 } }).goLive();
    lane.hear('a', 3000, true);
    for (const name of ['b', 'c', 'd']) lane.hear(name, 1500, true);
    expect(lane.state.playout.shed.sentences).toBe(1);
    lane.hush(10);
    expect(lane.notes.at(-1)).toBe('speech_dropped');
    expect(lane.last('notify').detail).toMatchObject({ why: 'lag', sentences: 1, dropped_ms: 1500 });
    lane.pass(10_000);
    expect(lane.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0)).toBe(6000);
  });

  it('plays the first sound of a sentence at once', () => {
    const lane = new LaneHarness().goLive();
    for (let i = 0; i < 5; i++) {
      lane.pass(3000);
      lane.hear(`s${i}`, 200);
      expect(lane.last('play').at).toBe(lane.now);
      expect(lane.all('play').filter(({ at }) => at === lane.now)[0]?.receivedAt).toBe(lane.now);
    }
  });

  it('is fed when the microphone delivers, seldom by a timer of its own', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 20_000, true);
    lane.hush(50);
    const plays = lane.all('play').slice(1);
    expect(plays.length).toBeLessThan(30);
    const heardAt = new Set(lane.all('send_audio').map(({ at }) => at));
    expect(plays.filter(({ at }) => !heardAt.has(at)).length).toBeLessThan(3);
    expect(plays.reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0)).toBeGreaterThan(15_000);
  });
});
