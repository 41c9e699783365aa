import { describe, expect, test } from 'vitest';
import { anotherVoice, estimatePitch, shiftFor } from '../../../src/emulator/core/another-voice.ts';
import { render } from '../../../src/emulator/core/render.ts';
import { resampleBy, toFloat, toSamples } from '../../../src/emulator/core/resample.ts';
import { samplesOf } from '../../../src/sound/pcm.ts';
import { concat, noise, speech, vowel } from './voice.ts';

const HZ = 24_000;

function loudness(sound: Float32Array): number {
  return Math.sqrt(sound.reduce((sum, value) => sum + value * value, 0) / sound.length);
}

/** The sharpest bend in a wave: a click has a sharper bend than speech. */
function sharpest(sound: Float32Array): number {
  let most = 0;
  for (let at = 2; at < sound.length; at++) {
    const bend = (sound[at] ?? 0) - 2 * (sound[at - 1] ?? 0) + (sound[at - 2] ?? 0);
    most = Math.max(most, Math.abs(bend));
  }
  return most;
}

function sine(seconds: number, rateHz: number, hz: number): Float32Array {
  return Float32Array.from(
    { length: seconds * rateHz },
    (_, at) => 0.5 * Math.sin((2 * Math.PI * hz * at) / rateHz),
  );
}

describe('resampling', () => {
  test.each([
    [24_000, 16_000],
    [16_000, 24_000],
    [48_000, 24_000],
    [44_100, 8000],
    [24_000, 44_100],
  ])('keeps a tone from %i to %i Hz', (from, to) => {
    const out = resampleBy(sine(1, from, 440), from / to);
    const wanted = sine(1, to, 440);
    expect(out).toHaveLength(to);
    const middle = out.subarray(200, to - 200).map((value, at) => value - (wanted[at + 200] ?? 0));
    expect(loudness(middle)).toBeLessThan(0.003);
  });

  test('removes frequencies above the new half rate, without aliasing', () => {
    expect(loudness(resampleBy(sine(1, 48_000, 9000), 3).subarray(50, -50))).toBeLessThan(0.01);
  });

  test('keeps samples when they are converted to floats and back', () => {
    const samples = Int16Array.of(0, 1, -1, 32_767, -32_768, 1234);
    expect(toSamples(toFloat(samples))).toEqual(samples);
    expect(toSamples(Float32Array.of(2, -2))).toEqual(Int16Array.of(32_767, -32_768));
  });
});

describe('another voice', () => {
  test.each([100, 130, 190, 240])('finds the pitch of a voice at %i Hz', (hz) => {
    expect(estimatePitch(toFloat(vowel(1, HZ, hz)), HZ)).toBeGreaterThan(hz * 0.96);
    expect(estimatePitch(toFloat(vowel(1, HZ, hz)), HZ)).toBeLessThan(hz * 1.04);
  });

  test('finds no pitch in silence and noise', () => {
    expect(estimatePitch(new Float32Array(HZ), HZ)).toBeNull();
    expect(estimatePitch(toFloat(noise(1, HZ, 8000)), HZ)).toBeNull();
  });

  test.each([0.8, 1.24])('shifts the pitch by %f and keeps length and loudness', (shift) => {
    const sound = toFloat(speech(2, HZ, 150));
    const out = anotherVoice(sound, HZ, HZ, shift);
    expect(out).toHaveLength(sound.length);
    expect(estimatePitch(out, HZ)).toBeGreaterThan(150 * shift * 0.94);
    expect(estimatePitch(out, HZ)).toBeLessThan(150 * shift * 1.06);
    expect(loudness(out) / loudness(sound)).toBeGreaterThan(0.85);
    expect(loudness(out) / loudness(sound)).toBeLessThan(1.15);
  });

  test('keeps the rhythm: silence stays at the same time', () => {
    const sound = toFloat(concat(vowel(0.5, HZ, 140), new Int16Array(HZ * 0.4), vowel(0.5, HZ, 140)));
    const out = anotherVoice(sound, HZ, HZ, 1.24);
    expect(loudness(out.subarray(HZ * 0.56, HZ * 0.84))).toBeLessThan(loudness(out) * 0.05);
    expect(loudness(out.subarray(HZ * 0.1, HZ * 0.4))).toBeGreaterThan(loudness(out) * 0.8);
    expect(loudness(out.subarray(HZ, HZ * 1.3))).toBeGreaterThan(loudness(out) * 0.8);
  });

  test('makes no clicks, neither inside nor at the ends', () => {
    const sound = toFloat(vowel(1.5, HZ, 145));
    for (const shift of [0.76, 0.8, 1.24, 1.45]) {
      const out = anotherVoice(sound, HZ, HZ, shift);
      const padded = new Float32Array(out.length + 200);
      padded.set(out, 100);
      // Moving formants up makes every bend sharper by the square of the shift.
      expect(sharpest(padded)).toBeLessThan(sharpest(sound) * Math.max(1, shift * shift) * 1.6);
    }
  });

  test('keeps the pitch at another tempo', () => {
    const out = anotherVoice(toFloat(vowel(1.5, HZ, 160)), HZ, HZ, 1, 1.5);
    expect(out).toHaveLength(HZ);
    expect(estimatePitch(out, HZ)).toBeCloseTo(160, -1);
  });

  test.each([0, 1, 100, 500])('accepts a sound of %i samples', (length) => {
    const out = anotherVoice(new Float32Array(length).fill(0.1), HZ, HZ, 1.24);
    expect(out).toHaveLength(length);
    expect(out.every(Number.isFinite)).toBe(true);
  });

  test('answers a low voice with a high one and vice versa, differently in each language', () => {
    expect(shiftFor('contrast', 110, 0)).toBeGreaterThan(1.15);
    expect(shiftFor('contrast', 210, 0)).toBeLessThan(0.85);
    expect(shiftFor('low', 110, 0)).toBeLessThan(0.85);
    expect(shiftFor('high', 210, 0)).toBeGreaterThan(1.15);
    expect(shiftFor('contrast', 110, 1)).not.toBe(shiftFor('contrast', 110, 0));
  });
});

describe('renderings', () => {
  const job = {
    id: 1,
    stream: 's',
    sentence: 's-1',
    mode: 'transform',
    spoken: speech(1, HZ),
    spokenHz: HZ,
    text: 'Buenos días',
    language: 'es',
    voice: 'contrast',
    variant: 0,
    tempo: 1,
    outputHz: HZ,
    outputChannels: 1,
  } as const;

  test('are as long as the spoken sentence, at the requested rate and channels', () => {
    expect(render(job)).toHaveLength(HZ * 2);
    expect(render({ ...job, outputHz: 16_000 })).toHaveLength(16_000 * 2);
    const stereo = samplesOf(render({ ...job, outputChannels: 2 }));
    expect(stereo).toHaveLength(HZ * 2);
    expect(stereo.every((sample, at) => at % 2 === 0 || sample === stereo[at - 1])).toBe(true);
  });

  test('differ from the spoken sound', () => {
    expect(Buffer.compare(Buffer.from(render(job)), Buffer.from(job.spoken.buffer))).not.toBe(0);
  });

  test('are silence of the same length with `silence`', () => {
    const out = render({ ...job, mode: 'silence' });
    expect(out).toHaveLength(HZ * 2);
    expect(out.every((byte) => byte === 0)).toBe(true);
  });

  test('hum a text of the client', () => {
    const out = samplesOf(render({ ...job, spoken: new Int16Array(0) }));
    expect(out.length).toBeGreaterThan(HZ / 2);
    expect(loudness(toFloat(out))).toBeGreaterThan(0.02);
  });

  test('are the same sound for the same job', () => {
    expect(render(job)).toEqual(render(job));
  });
});
