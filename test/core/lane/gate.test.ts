import { describe, expect, it } from 'vitest';
import { nextPcm, SPEECH } from './sound.ts';
import { CHUNK_MS, World } from './world.ts';

describe('mute', () => {
  it('sends silence in real time, and never a sound that was captured while muted', () => {
    const world = new World().goLive();
    world.speak(3);
    world.orders({ muted: true });
    world.speak(4);
    world.orders({ muted: false });
    world.speak(3);
    expect(world.wire).toBe('sss....sss');
    expect(world.accounts).toMatchObject({ sent: 6, silenced: 4 });
  });

  it('holds for what was said while there was no stream', () => {
    const world = new World({ orders: { muted: true } }).goAcquiring();
    world.speak(2);
    world.orders({ muted: false });
    world.speak(2);
    world.grant();
    world.open();
    world.taskRuns();
    world.pass(2000);
    expect(world.wire).toMatch(/^\.ss/);
  });
});

describe('half-duplex', () => {
  it('is deaf while it speaks and for the tail after it, in whole chunks', () => {
    const world = new World().goLive();
    world.speak(2);
    world.hear('a', 1000, true);
    world.speak(8);
    // 1000 ms of sound and 300 ms of tail reach into five chunks.
    expect(world.wire).toBe('ss.....sss');
    expect(world.accounts).toMatchObject({ sent: 5, silenced: 5 });
  });

  it('gates the chunk in the middle of which the sound begins', () => {
    const world = new World().goLive();
    world.speak(2);
    world.pass(100);
    world.hear('a', 100, true);
    world.pass(CHUNK_MS - 100);
    world.capture();
    expect(world.wire).toBe('ss.');
  });

  it('gates a chunk whose first part was captured while it sounded, and whose last part a second later', () => {
    const world = new World().goLive();
    world.hear('a', 640, true);
    world.pass(300);
    const beganAt = world.now;
    world.pass(1500);
    const captured = { capturedAt: world.now, pcm: nextPcm(true), levels: SPEECH } as const;
    world.step({ type: 'captured', ...captured, beganAt });
    world.pass(CHUNK_MS);
    world.step({ type: 'captured', ...captured, capturedAt: world.now, beganAt: world.now - CHUNK_MS });
    const heard = world.all('send_audio').filter(({ capturedAt }) => capturedAt !== null);
    expect(heard.map(({ pcm }) => pcm === null)).toEqual([true, false]);
  });

  it('is deaf for a whole burst, however it comes', () => {
    const world = new World().goLive();
    for (let i = 0; i < 10; i++) world.hear('a', 200, i === 9);
    world.speak(10);
    expect(world.wire).toBe('........ss');
  });

  it('hears between two sentences that are far enough apart', () => {
    const world = new World().goLive();
    world.hear('a', 320, true);
    world.speak(5);
    world.hear('b', 320, true);
    world.speak(4);
    expect(world.wire).toBe('..sss..ss');
  });

  it('knows late chunks from before by the sound of then', () => {
    const world = new World().goLive();
    world.hear('a', 200, true);
    world.stall(2560);
    world.hear('b', 200, true);
    // Captured while a sounded and died away, and after that until b began; all of them come now.
    for (let i = 7; i >= 0; i--) world.capture(true, world.now - i * CHUNK_MS);
    world.pass(CHUNK_MS * 7);
    expect(world.wire).toBe('..ssssss');
  });

  it('is not in force in the mode off', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    world.hear('a', 2000, true);
    world.speak(5);
    expect(world.wire).toBe('sssss');
  });

  it('can be switched while it speaks', () => {
    const world = new World().goLive();
    world.hear('a', 3000, true);
    world.speak(2);
    world.orders({ echo: 'off' });
    world.speak(2);
    world.orders({ echo: 'half-duplex' });
    world.speak(2);
    expect(world.wire).toBe('..ss..');
  });

  it('does not take its own voice for the noise of the room', () => {
    const world = new World().goLive();
    world.hush(10);
    world.hear('a', 20_000, true);
    world.speak(60);
    const before = world.state.activity;
    expect(before.quietest).toHaveLength(10);
  });
});

describe('the loudspeaker', () => {
  it('plays what comes, in order, and tells when it found it free', () => {
    const world = new World().goLive();
    world.pass(1000);
    world.hear('a', 500);
    expect(world.all('play')[0]).toMatchObject({ at: world.now, receivedAt: world.now });
    world.hear('a', 500, true);
    world.pass(1100);
    expect(world.all('play').filter(({ receivedAt }) => receivedAt !== null)).toHaveLength(1);
    expect(world.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength, 0)).toBe(48_000);
    expect(world.timers.has('playout')).toBe(false);
  });

  it('keeps sentences of two streams apart, although they have the same name', () => {
    const world = new World().goLive();
    world.hear('1', 5000);
    world.end();
    world.comeBack();
    world.hear('1', 1000, true);
    expect(world.state.playout.utterances.map(({ stream, key }) => `${stream}/${key}`)).toEqual([
      '1/1',
      '2/1',
    ]);
    world.pass(8000);
    expect(world.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength, 0)).toBe(6000 * 48);
  });

  it('plays the sound of a service that names no sentences', () => {
    const world = new World().goLive();
    for (let i = 0; i < 5; i++) world.hear(null, 200);
    world.pass(2000);
    expect(world.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength, 0)).toBe(1000 * 48);
  });

  it('goes silent at a stop, at once', () => {
    const world = new World().goLive();
    world.hear('a', 5000);
    world.pass(500);
    world.stop();
    const played = world.all('play').length;
    world.pass(10_000);
    expect(world.all('play')).toHaveLength(played);
    expect(world.state.playout.heard?.until).toBeLessThanOrEqual(world.last('flush_playback').at);
  });
});
