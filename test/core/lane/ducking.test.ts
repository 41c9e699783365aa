import { describe, expect, it } from 'vitest';
import { CHUNK_MS, World } from './world.ts';

/** Live, with a canceller that has learned the room. */
function cancelling(): World {
  const world = new World({ orders: { echo: 'cancel' } }).goLive();
  learn(world);
  return world;
}

function learn(world: World): void {
  world.step({ type: 'canceller', status: 'ready', message: '' });
  world.hear(`warming up at ${world.now}`, 3000, true);
  world.pass(4000);
}
const ducks = (world: World): string =>
  world
    .all('duck')
    .map(({ on }) => (on ? 'v' : '^'))
    .join('');

describe('a visitor who speaks over the translation', () => {
  it('turns it down at once and up again after 0.7 s without speech', () => {
    const world = cancelling();
    world.hear('a', 10_000, true);
    world.speak(1);
    expect(world.all('duck')).toEqual([{ type: 'duck', on: true, at: world.now }]);
    world.speak(5);
    expect(ducks(world)).toBe('v');
    const spokeAt = world.now;
    world.hush(4);
    expect(world.last('duck')).toEqual({ type: 'duck', on: false, at: spokeAt + 700 });
  });

  it('is heard meanwhile, and so is the translation', () => {
    const world = cancelling();
    world.hear('a', 3000, true);
    world.speak(9);
    expect(world.wire).toMatch(/^f*sssssssss$/);
    expect(world.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength, 0)).toBe(6000 * 48);
  });

  it('may take a breath', () => {
    const world = cancelling();
    for (let i = 0; i < 5; i++) {
      world.speak(2);
      world.hush(1);
    }
    expect(ducks(world)).toBe('v');
  });

  it('turns it up again also when the microphone falls silent for good', () => {
    const world = cancelling();
    world.speak(3);
    world.pass(701);
    expect(ducks(world)).toBe('v^');
  });

  it('needs a voice detector that agrees', () => {
    const world = cancelling();
    world.pass(CHUNK_MS);
    const levels = { loudestDb: -20, quietestDb: -52, isSpeech: false };
    world.step({ type: 'captured', capturedAt: world.now, pcm: new Uint8Array(4).fill(9), levels });
    expect(ducks(world)).toBe('');
  });

  it.each(['half-duplex', 'off'] as const)('does not in the mode %s', (echo) => {
    const world = new World({ orders: { echo } }).goLive();
    world.speak(2);
    world.hear('a', 3000, true);
    world.speak(5);
    expect(ducks(world)).toBe('');
  });

  it('does no more when the mode changes, or the lane is stopped', () => {
    const world = cancelling();
    world.speak(2);
    world.orders({ echo: 'off' });
    expect(ducks(world)).toBe('v^');
    world.orders({ echo: 'cancel' });
    learn(world);
    world.speak(2);
    world.stop();
    expect(ducks(world)).toBe('v^v^');
    expect(world.timers.has('duck')).toBe(false);
  });

  it('is given way to soon: less is written ahead than usual', () => {
    const written = (world: World): number =>
      world.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0);
    const cancel = cancelling();
    cancel.hear('a', 5000, true);
    cancel.pass(1000);
    const usual = new World().goLive();
    usual.hear('a', 5000, true);
    usual.pass(1000);
    expect(written(cancel) - 4000).toBeLessThanOrEqual(180);
    expect(written(cancel) - 4000).toBeGreaterThanOrEqual(60);
    expect(written(usual) - 1000).toBeGreaterThan(180);
    expect(written(usual) - 1000).toBeLessThanOrEqual(1000);
  });
});

describe('a visitor who interrupts', () => {
  const interrupted = (bargeIn: 'duck' | 'flush'): World => {
    const world = cancelling();
    world.orders({ bargeIn });
    world.hear('a', 5000);
    world.hear('b', 2000, true);
    return world;
  };

  it('ends the translation with the second chunk of speech: the first may be a cough', () => {
    const world = interrupted('flush');
    const flushes = world.all('flush_playback').length;
    world.speak(1);
    expect(world.all('flush_playback')).toHaveLength(flushes);
    world.speak(1);
    expect(world.all('flush_playback')).toHaveLength(flushes + 1);
    expect(world.last('notify')).toMatchObject({
      kind: 'speech_dropped',
      detail: { why: 'barge_in', sentences: 2, waiting_ms: 0 },
    });
    const played = world.all('play').length;
    // The rest of the sentence that was cut short comes too late.
    world.hear('a', 1000, true);
    world.speak(3);
    expect(world.all('play')).toHaveLength(played);
  });

  it('does not keep what is said later from being heard', () => {
    const world = interrupted('flush');
    world.speak(3);
    const played = world.all('play').length;
    world.hear('c', 1000, true);
    world.speak(4);
    expect(
      world
        .all('play')
        .slice(played)
        .reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0),
    ).toBe(1000);
    world.hush(4);
    world.hear('d', 3000, true);
    world.speak(2);
    expect(world.notes.filter((kind) => kind === 'speech_dropped')).toHaveLength(2);
  });

  it('ends nothing where he is to turn it down only, nor where nothing sounds', () => {
    const world = interrupted('duck');
    world.speak(5);
    expect(world.notes).not.toContain('speech_dropped');
    const quiet = cancelling();
    quiet.orders({ bargeIn: 'flush' });
    quiet.speak(5);
    expect(quiet.all('flush_playback')).toEqual([]);
  });
});

describe('the loudspeaker', () => {
  it('is told a new volume, and only a new one', () => {
    const world = new World().goLive();
    world.orders({ volume: 40 });
    world.orders({ volume: 40 });
    world.orders({ muted: true });
    expect(world.all('set_volume').map(({ percent }) => percent)).toEqual([40]);
    expect(world.state.orders.volume).toBe(40);
  });

  it('that fails is told once, and once when it is back', () => {
    const world = new World().goLive();
    world.fault('playback');
    world.fault('playback', 'busy');
    expect(world.all('notify').filter(({ kind }) => kind.startsWith('audio_'))).toHaveLength(1);
    expect(world.last('notify')).toMatchObject({
      kind: 'audio_lost',
      detail: { device: 'playback', code: 'lost', message: 'the playback device is gone' },
    });
    expect(world.state).toMatchObject({ playbackLost: true, problem: { code: 'playback_busy' } });
    world.step({ type: 'playback_back' });
    world.step({ type: 'playback_back' });
    expect(
      world
        .all('notify')
        .slice(-2)
        .map(({ kind }) => kind),
    ).toEqual(['audio_lost', 'audio_back']);
    expect(world.last('notify').detail).toEqual({ device: 'playback' });
    expect(world.state).toMatchObject({ playbackLost: false, problem: null });
  });

  it('that is back does not excuse another trouble', () => {
    const world = new World().goLive();
    world.fault('playback');
    world.end();
    world.step({ type: 'playback_back' });
    expect(world.state.problem?.code).toBe('network');
  });

  it('that lags tells how much was dropped', () => {
    const world = new World({ settings: { playoutLagMs: 2000 } }).goLive();
    world.hear('a', 3000, true);
    for (const name of ['b', 'c', 'd']) world.hear(name, 1500, true);
    expect(world.notes.at(-1)).toBe('speech_dropped');
    // 3 s sound (1 s of them is written), c and d wait.
    expect(world.last('notify').detail).toEqual({
      why: 'lag',
      sentences: 1,
      dropped_ms: 1500,
      waiting_ms: 5000,
    });
    expect(world.state.playout.shed.sentences).toBe(1);
    world.pass(10_000);
    expect(world.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0)).toBe(6000);
  });

  it('begins with the first sound of a sentence at once', () => {
    const world = new World().goLive();
    for (let i = 0; i < 5; i++) {
      world.pass(3000);
      world.hear(`s${i}`, 200);
      expect(world.last('play').at).toBe(world.now);
      expect(world.all('play').filter(({ at }) => at === world.now)[0]?.receivedAt).toBe(world.now);
    }
  });

  it('is fed when the microphone delivers: the lane hardly ever wakes up for it alone', () => {
    const world = new World().goLive();
    world.hear('a', 20_000, true);
    world.hush(50);
    const plays = world.all('play').slice(1);
    expect(plays.length).toBeLessThan(30);
    const heardAt = new Set(world.all('send_audio').map(({ at }) => at));
    expect(plays.filter(({ at }) => !heardAt.has(at)).length).toBeLessThan(3);
    expect(plays.reduce((sum, { pcm }) => sum + pcm.byteLength / 48, 0)).toBeGreaterThan(15_000);
  });
});
