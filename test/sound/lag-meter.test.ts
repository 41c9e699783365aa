import { describe, expect, it } from 'vitest';
import { createLagMeter, type LagMeasure } from '../../src/sound/canceller/lag-meter.ts';
import { drifted, noise, through } from '../acoustics.ts';

const RATE_HZ = 24_000;
const BLOCK = 240;
const PATH = { delayMs: 0, gainDb: -6, rt60S: 0.3 };

/** A vowel: harmonics of one pitch, the strongest around a formant. */
function vowel(seconds: number, pitchHz: number, formantHz: number): Float32Array {
  const sound = new Float32Array(Math.round(seconds * RATE_HZ));
  for (let harmonic = 1; harmonic * pitchHz < 4000; harmonic++) {
    const hz = harmonic * pitchHz;
    const amplitude = 0.2 / (1 + ((hz - formantHz) / 300) ** 2);
    for (let at = 0; at < sound.length; at++)
      sound[at] = (sound[at] ?? 0) + amplitude * Math.sin((2 * Math.PI * hz * at) / RATE_HZ + harmonic ** 2);
  }
  return sound;
}

function joined(...sounds: readonly Float32Array[]): Float32Array {
  const all = new Float32Array(sounds.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const sound of sounds) {
    all.set(sound, at);
    at += sound.length;
  }
  return all;
}

const silence = (seconds: number) => new Float32Array(Math.round(seconds * RATE_HZ));

/** Every measurement, and the time of its middle in samples. */
function measures(played: Float32Array, heard: Float32Array) {
  const meter = createLagMeter(RATE_HZ);
  const room = noise(played.length, -60, 3);
  const all = heard.map((sample, at) => sample + (room[at] ?? 0));
  const found: { at: number; measure: LagMeasure }[] = [];
  for (let at = 0; at + BLOCK <= played.length; at += BLOCK) {
    const now = at + BLOCK;
    const measure = meter.hear(played.subarray(at, now), all.subarray(at, now), now);
    if (measure !== null) found.push({ at: now - measure.ago, measure });
  }
  return found;
}

describe('the lag of an echo', () => {
  it.each([
    { ppm: 300, pitchHz: 152, formantHz: 1300 },
    { ppm: -300, pitchHz: 190, formantHz: 1500 },
  ])('is not a period of the voice between two vowels that share few tones, $ppm ppm', (given) => {
    const { ppm, pitchHz, formantHz } = given;
    const played = joined(vowel(0.6, 140, 500), silence(0.5), vowel(0.4, pitchHz, formantHz));
    const [first, other] = measures(played, drifted(through(PATH, played), ppm));
    if (first === undefined || other === undefined) throw new Error('one of them was not measured');
    expect(first.measure.isFirst).toBe(true);
    expect(other.measure.isFirst).toBe(false);
    const expected = -(other.at - first.at) * ppm * 1e-6;
    expect(Math.abs(other.measure.lag - expected)).toBeLessThan(1.5);
  });

  it('is measured when it jumps further than clocks can drift', () => {
    const hiss = noise(3 * RATE_HZ, -30, 7);
    const late = 20 * (RATE_HZ / 1000);
    const echo = through(PATH, hiss);
    const heard = echo.map((sample, at) => (at < 1.5 * RATE_HZ ? sample : (echo[at - late] ?? 0)));
    const lags = measures(hiss, heard).map(({ measure }) => measure.lag);
    expect(lags[1]).toBeCloseTo(0, 1);
    expect(lags.at(-1)).toBeCloseTo(late, 1);
  });
});
