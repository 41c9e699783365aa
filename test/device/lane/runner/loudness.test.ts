import { describe, expect, it } from 'vitest';
import { createLatencyRecorder } from '../../../../src/device/lane/runner/latency.ts';
import { PlaybackPipeline } from '../../../../src/device/lane/runner/playback-pipeline.ts';
import type { WriteKind } from '../../../../src/device/playout/playout.ts';
import { RATE_HZ, speak, WOMAN } from '../../../sound/loudness/voices.ts';
import { createVirtualClock } from '../../../virtual-clock.ts';

const soft = [...speak({ ...WOMAN, amplitude: 0.1 }, 8)];
const second = (at: number): number[] => soft.slice(at * RATE_HZ, (at + 1) * RATE_HZ);
const strength = (samples: readonly number[]): number =>
  Math.sqrt(samples.reduce((sum, sample) => sum + sample ** 2, 0) / samples.length);

/** A playback pipeline; `play` returns the gain between the received and the written sound. */
async function open(normalizes: boolean) {
  const clock = createVirtualClock();
  const written: number[][] = [];
  const playbackPipeline = new PlaybackPipeline({
    clock,
    volume: 100,
    rateHz: RATE_HZ,
    normalizes,
    wireToSpeaker: createLatencyRecorder(),
    post() {},
    openPlayback: async () => ({
      mixer: null,
      write(pcm) {
        written.push([...new Int16Array(pcm.slice().buffer)]);
        return { from: clock.now(), until: clock.now() + pcm.byteLength / 2 / (RATE_HZ / 1000) };
      },
      flush: () => undefined,
      close: async () => {},
    }),
  });
  await playbackPipeline.open();
  let write = 0;
  const play = (samples: readonly number[], kind: WriteKind, language?: string): number => {
    const pcm = new Uint8Array(Int16Array.from(samples).buffer);
    playbackPipeline.play({
      type: 'play',
      kind,
      pcm,
      write: ++write,
      receivedAt: null,
      ...(language !== undefined && { language }),
    });
    return strength(written.at(-1) ?? []) / strength(samples);
  };
  return { play, written };
}

describe('the loudness of voices', () => {
  it('is evened out for speech, per language, and not for chimes', async () => {
    const { play } = await open(true);
    for (let at = 0; at < 7; at++) play(second(at), 'speech', 'es');
    const gain = play(second(6), 'speech', 'es');
    expect(gain).toBeGreaterThan(2.5);
    // A soft edge gets the gain of the sound around it.
    expect(Math.abs(play(second(5), 'fade') / gain - 1)).toBeLessThan(0.05);
    expect(play(second(0), 'speech', 'fr')).toBeLessThan(1.3);
    expect(play(second(0), 'earcon')).toBe(1);
  });

  it('is left to the service when configured so', async () => {
    const { play, written } = await open(false);
    for (let at = 0; at < 7; at++) play(second(at), 'speech');
    expect(written.flat()).toEqual(soft.slice(0, 7 * RATE_HZ));
  });
});
