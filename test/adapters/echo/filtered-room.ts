/** A loudspeaker and a microphone in a room, and the sound after the echo filter. */
import { createEchoFilter } from '../../../src/adapters/echo/echo-filter.ts';
import { createEchoDetector } from '../../../src/sound/echo-detector.ts';
import { toFloat } from '../../../src/sound/pcm.ts';
import { levelDb, perform, VOICE_RATE_HZ } from '../../acoustics.ts';

const FROM_MS = 1_000_000;

export interface EchoCase {
  /** Nothing is written during silences of 100 ms. */
  readonly played: Float32Array;
  readonly heard: Float32Array;
  readonly pieceMs?: number;
  /** Whether the echo detector analyses the result. */
  readonly detects?: boolean;
  /** The times that the filter gets for played and captured sound, since it began. */
  readonly playedTime?: (atMs: number) => number;
}

export interface Left {
  /** Every output sample at its capture time. */
  readonly left: Float32Array;
  /** How often the echo detector found the loudspeaker in it, if it was used. */
  readonly observations: number;
  /** Stretches in which the filter rested, seconds. */
  readonly rests: { readonly from: number; until: number }[];
}

export async function clean({
  played,
  heard,
  pieceMs = 80,
  detects = false,
  playedTime = (at) => at,
}: EchoCase): Promise<Left> {
  const rates = { heardRateHz: VOICE_RATE_HZ, playedRateHz: VOICE_RATE_HZ };
  const filter = createEchoFilter(rates);
  const echo = createEchoDetector(rates);
  const left = new Float32Array(heard.length);
  const rests: Left['rests'] = [];
  let observations = 0;
  let rested = false;
  perform(
    { played, heard, pieceMs, fromMs: FROM_MS },
    {
      play(pcm, heardAt) {
        if (!pcm.some((byte) => byte !== 0)) return;
        const at = FROM_MS + playedTime(heardAt - FROM_MS);
        filter.played(pcm, at);
        if (detects) echo.played(pcm, at);
      },
      capture(pcm, capturedAt) {
        const out = filter.filter(pcm, capturedAt);
        const until = (capturedAt - FROM_MS) / 1000;
        if (filter.rests && !rested) rests.push({ from: until - pieceMs / 1000, until });
        const last = rests.at(-1);
        if (filter.rests && last !== undefined) last.until = until;
        rested = filter.rests;
        const samples = toFloat(out.pcm);
        const begin = Math.round(((out.capturedAt - FROM_MS) * VOICE_RATE_HZ) / 1000) - samples.length;
        left.set(begin < 0 ? samples.subarray(-begin) : samples, Math.max(0, begin));
        const measure = detects ? echo.hear(out.pcm, out.capturedAt) : null;
        if (measure !== null && measure.gainDb > -40) observations += 1;
      },
    },
  );
  return { left, observations, rests };
}

/** Echo return loss, decibels, over some seconds. */
export function lossDb(heard: Float32Array, left: Float32Array, fromS: number, untilS: number): number {
  return levelDb(heard, fromS, untilS) - levelDb(left, fromS, untilS);
}

/** Similarity of two sounds, -1 to 1, over some seconds. */
export function likeness(one: Float32Array, other: Float32Array, fromS: number, untilS: number): number {
  let [product, power, otherPower] = [0, 1e-12, 1e-12];
  for (let at = Math.round(fromS * VOICE_RATE_HZ); at < untilS * VOICE_RATE_HZ; at++) {
    const [a, b] = [one[at] ?? 0, other[at] ?? 0];
    product += a * b;
    power += a * a;
    otherPower += b * b;
  }
  return product / Math.sqrt(power * otherPower);
}

/** The same sound, this much later. */
export function later(sound: Float32Array, ms: number): Float32Array {
  const shifted = new Float32Array(sound.length);
  const samples = Math.round((ms * VOICE_RATE_HZ) / 1000);
  shifted.set(sound.subarray(0, sound.length - samples), samples);
  return shifted;
}
