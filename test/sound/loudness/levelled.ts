import { expect } from 'vitest';
import { createWeightedSquares, loudnessOf } from '../../../src/sound/loudness/k-weighting.ts';
import { createNormalizer, type Normalizer } from '../../../src/sound/loudness/normalizer.ts';
import { TARGET_LUFS } from '../../../src/sound/loudness/voice-level.ts';
import { samplesOf } from '../../../src/sound/pcm.ts';
import { CHILD, MAN, RATE_HZ, speak, type Voice, WOMAN } from './voices.ts';

export const bytesOf = (samples: Int16Array): Uint8Array => new Uint8Array(samples.slice().buffer);
/** Written in pieces of this length, as by the lane. */
export function level(normalizer: Normalizer, sound: Int16Array, voice = 'es', pieceMs = 320): Int16Array {
  const piece = (pieceMs * RATE_HZ) / 1000;
  const levelled = new Int16Array(sound.length);
  const lengths = { given: 0, made: 0 };
  for (let at = 0; at < sound.length; at += piece) {
    const given = sound.subarray(at, at + piece);
    const made = samplesOf(normalizer.level(bytesOf(given), voice));
    if (made.length !== given.length) lengths.made = Number.NaN;
    lengths.given += given.length;
    lengths.made += made.length;
    levelled.set(made, at);
  }
  // Unprocessed pieces are NaN.
  expect(lengths).toEqual({ given: sound.length, made: sound.length });
  return levelled;
}
/** Loudness by blocks of 100 ms, without pauses. */
export function loudness(sound: Int16Array): number {
  const squares = createWeightedSquares(RATE_HZ);
  const block = RATE_HZ / 10;
  const powers: number[] = [];
  for (let at = 0; at + block <= sound.length; at += block)
    powers.push(squares(sound, at, at + block) / block);
  const mean = (values: number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;
  const loud = powers.filter((power) => loudnessOf(power) > -60);
  return loudnessOf(mean(loud.filter((power) => loudnessOf(power) > loudnessOf(mean(loud)) - 10)));
}
export const peakOf = (sound: Int16Array): number =>
  sound.reduce((most, one) => Math.max(most, Math.abs(one)), 0);
export const seconds = (sound: Int16Array, from: number, until?: number): Int16Array =>
  sound.subarray(from * RATE_HZ, until === undefined ? undefined : until * RATE_HZ);
export const as = (voice: Voice, amplitude: number, seed = 3): Voice => ({ ...voice, amplitude, seed });

/** All voices have the same loudness after some seconds. @param amplitudes of each voice */
export function expectEquallyLoud(
  amplitudes: Readonly<Record<'MAN' | 'WOMAN' | 'CHILD', readonly number[]>>,
): void {
  for (const [name, voice] of Object.entries({ MAN, WOMAN, CHILD })) {
    for (const amplitude of amplitudes[name as keyof typeof amplitudes]) {
      const sound = speak(as(voice, amplitude), 20);
      const lufs = loudness(seconds(level(createNormalizer(RATE_HZ), sound), 6));
      const what = `${name} ${amplitude}: ${loudness(sound).toFixed(1)}`;
      expect(Math.abs(lufs - TARGET_LUFS), what).toBeLessThan(2);
    }
  }
}

/** Processes half a minute of speech this many times. @returns the cost as text */
export function expectCheap(rounds: number): string {
  const normalizer = createNormalizer(RATE_HZ);
  const sound = speak(as(WOMAN, 0.3), 30);
  level(normalizer, sound, 'es', 1000);
  const began = process.cpuUsage();
  for (let round = 0; round < rounds; round++) {
    for (let at = 0; at < 30; at++) normalizer.level(bytesOf(seconds(sound, at, at + 1)), 'es');
  }
  const { user, system } = process.cpuUsage(began);
  const msPerSecond = (user + system) / 1000 / (rounds * 30);
  expect(msPerSecond).toBeLessThan(10);
  return `${msPerSecond.toFixed(2)} ms of CPU time per second of speech`;
}
