import { fileURLToPath } from 'node:url';
import { expect } from 'vitest';
import { loadWav } from '../../../../../src/adapters/audio/sound-source.ts';
import { seededRandom } from '../../../../../src/core/random.ts';
import { findTone, makeTone, TONE_MS } from '../../../../../src/device/doctor/checks/playback/test-tone.ts';
import { toFloat, toPcm } from '../../../../../src/sound/pcm.ts';

export interface Room {
  readonly rateHz?: number;
  readonly delayMs?: number;
  readonly gainDb?: number;
  /** Drift of the microphone's clock against the loudspeaker's. */
  readonly ppm?: number;
  /** RMS, dBFS; null: no noise. */
  readonly noiseDb?: number | null;
  /** Reflections die away within this time. */
  readonly reverbMs?: number;
  readonly volume?: number;
  readonly seed?: number;
}

export const LEAD_MS = 1500;
const TAIL_MS = 900;

/** A microphone's recording of the tone and noise. */
export function record(room: Room): Float32Array {
  const { rateHz = 24_000, delayMs = 80, gainDb = -20, ppm = 0, noiseDb = -60, reverbMs = 0 } = room;
  const next = seededRandom(room.seed ?? 1);
  const samples = Math.round(((LEAD_MS + TONE_MS + TAIL_MS) * rateHz) / 1000);
  const heard = new Float32Array(samples);
  const tone = makeTone(rateHz, room.volume ?? 1);
  const gain = 10 ** (gainDb / 20);
  const taps = [{ at: 0, gain: 1 }];
  for (let at = 7; at < (reverbMs * rateHz) / 1000; at += 5 + Math.floor(next() * 40)) {
    taps.push({ at, gain: (next() - 0.5) * 0.5 * Math.exp((-6.9 * at * 1000) / (reverbMs * rateHz)) });
  }
  const start = ((LEAD_MS + delayMs) * rateHz) / 1000;
  for (const tap of taps) {
    // From its first sample to its last.
    for (let at = Math.max(0, Math.floor(start + tap.at)); at < samples; at++) {
      const place = (at - start - tap.at) * (1 + ppm / 1e6);
      const low = Math.floor(place);
      if (low < 0) continue;
      if (low + 1 >= tone.length) break;
      const part = place - low;
      const value = (tone[low] ?? 0) * (1 - part) + (tone[low + 1] ?? 0) * part;
      heard[at] = (heard[at] ?? 0) + value * gain * tap.gain;
    }
  }
  if (noiseDb !== null) {
    const amplitude = 10 ** (noiseDb / 20) * Math.sqrt(3);
    for (let at = 0; at < samples; at++) heard[at] = (heard[at] ?? 0) + (next() * 2 - 1) * amplitude;
  }
  // 16 bits, as from a sound card.
  return toFloat(toPcm(heard));
}

/** A fan that runs for a second and more. */
export function fan(samples: number, seed: number): Float32Array {
  const burst = seededRandom(seed);
  return Float32Array.from({ length: samples }, (_, at) =>
    at < 40_000 || at > 72_000 + seed * 2000 ? 0 : (burst() - 0.5) * 0.2,
  );
}

/** The tone is found in a reverberant room with random reflections. */
export function expectFound(reverbMs: number, seed: number): void {
  const heard = findTone(record({ reverbMs, gainDb: -20, delayMs: 120, noiseDb: -65, seed }), 24_000);
  expect(Math.abs((heard?.atMs ?? 0) - LEAD_MS - 120)).toBeLessThan(15);
  // The room adds to the direct sound.
  expect(heard?.gainDb).toBeGreaterThan(-21);
  expect(heard?.gainDb).toBeLessThan(-10);
}

/** Rooms by name; @param toleranceDb of the measured gain */
export type NamedRoom = readonly [name: string, room: Room, toleranceDb: number];

/** The tone is found with its delay and its gain. */
export function expectDelayAndGain([, room, toleranceDb]: NamedRoom): void {
  const heard = findTone(record(room), room.rateHz ?? 24_000, room.volume);
  expect(heard).not.toBeNull();
  expect(Math.abs((heard?.atMs ?? 0) - LEAD_MS - (room.delayMs ?? 0))).toBeLessThan(3);
  expect(Math.abs((heard?.gainDb ?? 0) - (room.gainDb ?? 0))).toBeLessThan(toleranceDb);
}

/** The tone is not found in speech. @param every share of the stretches of four seconds that is tested */
export async function expectNotInSpeech(every: number): Promise<void> {
  const wav = fileURLToPath(new URL('../../../../../src/cli/demo/visitor.wav', import.meta.url));
  const speech = toFloat((await loadWav(wav)).pcm);
  const samples = 96_000;
  const found: number[] = [];
  let looked = 0;
  for (let from = 0; from + samples <= speech.length; from += every * samples) {
    looked += 1;
    if (findTone(speech.slice(from, from + samples), 24_000) !== null) found.push(from);
  }
  expect(looked).toBe(Math.ceil(Math.floor(speech.length / samples) / every));
  expect(looked).toBeGreaterThan(2);
  expect(found).toEqual([]);
}
