import { describe, expect, it } from 'vitest';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import { nextPcm, SPEECH } from './sound.ts';

describe('mute', () => {
  it('sends silence in real time, and never a sound that was captured while muted', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(3);
    lane.options({ muted: true });
    lane.speak(4);
    lane.options({ muted: false });
    lane.speak(3);
    expect(lane.wire).toBe('sss....sss');
    expect(lane.accounts).toMatchObject({ sent: 6, silenced: 4 });
  });

  it('applies to audio captured while there was no stream', () => {
    const lane = new LaneHarness({ options: { muted: true } }).goAcquiring();
    lane.speak(2);
    lane.options({ muted: false });
    lane.speak(2);
    lane.grant();
    lane.open();
    lane.taskRuns();
    lane.pass(2000);
    expect(lane.wire).toMatch(/^\.ss/);
  });
});

describe('half-duplex', () => {
  it('closes during playback and for the tail after it, in whole chunks', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(2);
    lane.hear('a', 1000, true);
    lane.speak(8);
    // 1000 ms of sound and 300 ms of tail reach into five chunks.
    expect(lane.wire).toBe('ss.....sss');
    expect(lane.accounts).toMatchObject({ sent: 5, silenced: 5 });
  });

  it('gates a chunk in which the sound begins', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(2);
    lane.pass(100);
    lane.hear('a', 100, true);
    lane.pass(CHUNK_MS - 100);
    lane.capture();
    expect(lane.wire).toBe('ss.');
  });

  it('gates a chunk with a gap whose first part was captured during playback', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 640, true);
    lane.pass(300);
    const beganAt = lane.now;
    lane.pass(1500);
    const captured = { capturedAt: lane.now, pcm: nextPcm(true), levels: SPEECH } as const;
    lane.step({ type: 'captured', ...captured, beganAt });
    lane.pass(CHUNK_MS);
    lane.step({ type: 'captured', ...captured, capturedAt: lane.now, beganAt: lane.now - CHUNK_MS });
    const heard = lane.all('send_audio').filter(({ capturedAt }) => capturedAt !== null);
    expect(heard.map(({ pcm }) => pcm === null)).toEqual([true, false]);
  });

  it('stays closed for a whole burst, however it arrives', () => {
    const lane = new LaneHarness().goLive();
    for (let i = 0; i < 10; i++) lane.hear('a', 200, i === 9);
    lane.speak(10);
    expect(lane.wire).toBe('........ss');
  });

  it('opens between two sentences that are far enough apart', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 320, true);
    lane.speak(5);
    lane.hear('b', 320, true);
    lane.speak(4);
    expect(lane.wire).toBe('..sss..ss');
  });

  it('judges late chunks by the playback at their capture', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 200, true);
    lane.stall(2560);
    lane.hear('b', 200, true);
    // Captured while `a` sounded and faded, and then until `b` began; all of them come now.
    for (let i = 7; i >= 0; i--) lane.capture(true, lane.now - i * CHUNK_MS);
    lane.pass(CHUNK_MS * 7);
    expect(lane.wire).toBe('..ssssss');
  });

  it('is not in force in the mode off', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.hear('a', 2000, true);
    lane.speak(5);
    expect(lane.wire).toBe('sssss');
  });

  it('can be switched during playback', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 3000, true);
    lane.speak(2);
    lane.options({ echo: 'off' });
    lane.speak(2);
    lane.options({ echo: 'half-duplex' });
    lane.speak(2);
    expect(lane.wire).toBe('..ss..');
  });

  it('does not count its own voice as noise of the room', () => {
    const lane = new LaneHarness().goLive();
    lane.hush(10);
    lane.hear('a', 20_000, true);
    lane.speak(60);
    const before = lane.state.noiseFloor;
    expect(before.quietest).toHaveLength(10);
  });
});

describe('the loudspeaker', () => {
  it('plays sound in order, and marks sound that found the loudspeaker free', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(1000);
    lane.hear('a', 500);
    expect(lane.all('play')[0]).toMatchObject({ at: lane.now, receivedAt: lane.now });
    lane.hear('a', 500, true);
    lane.pass(1100);
    expect(lane.all('play').filter(({ receivedAt }) => receivedAt !== null)).toHaveLength(1);
    expect(lane.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength, 0)).toBe(48_000);
    expect(lane.timers.has('playout')).toBe(false);
  });

  it('keeps sentences of two streams apart that have the same id', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('1', 5000);
    lane.end();
    lane.comeBack();
    lane.hear('1', 1000, true);
    expect(lane.state.playout.utterances.map(({ stream, key }) => `${stream}/${key}`)).toEqual([
      '1/1',
      '2/1',
    ]);
    lane.pass(8000);
    expect(lane.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength, 0)).toBe(6000 * 48);
  });

  it('plays the sound of a service without sentence ids', () => {
    const lane = new LaneHarness().goLive();
    for (let i = 0; i < 5; i++) lane.hear(null, 200);
    lane.pass(2000);
    expect(lane.all('play').reduce((sum, { pcm }) => sum + pcm.byteLength, 0)).toBe(1000 * 48);
  });

  it('is silent at once at a stop', () => {
    const lane = new LaneHarness().goLive();
    lane.hear('a', 5000);
    lane.pass(500);
    lane.stop();
    const played = lane.all('play').length;
    lane.pass(10_000);
    expect(lane.all('play')).toHaveLength(played);
    expect(lane.state.playout.heard?.until).toBeLessThanOrEqual(lane.last('flush_playback').at);
  });
});
