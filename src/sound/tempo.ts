import { BYTES_PER_SAMPLE, samplesOf } from './pcm.ts';

/** Samples left unchanged at either end, so that pieces of one sound join without a seam. */
const EDGE_SAMPLES = 16;

/** The value between `b` and `c` on a smooth curve through four neighbours (Catmull-Rom). @param place from 0 to 1 */
function between(a: number, b: number, c: number, d: number, place: number): number {
  const slope = (c - a) / 2;
  const bend = a - 2.5 * b + 2 * c - d / 2;
  const twist = (d - a) / 2 + 1.5 * (b - c);
  return b + place * (slope + place * (bend + place * twist));
}

/**
 * Makes a piece of mono PCM a little shorter by playing it faster; its pitch rises a little.
 * @param share of its length to remove, well below 0.1: 0.003 is a twentieth of a semitone, inaudible in speech
 * @returns the piece itself if it is too short to lose a sample
 */
export function quicken(pcm: Uint8Array, share: number): Uint8Array {
  const from = samplesOf(pcm);
  const fewer = Math.round(from.length * share);
  const inner = from.length - 2 * EDGE_SAMPLES;
  if (fewer === 0 || inner <= 2 * fewer) return pcm;
  const to = new Int16Array(from.length - fewer);
  to.set(from.subarray(0, EDGE_SAMPLES));
  to.set(from.subarray(-EDGE_SAMPLES), to.length - EDGE_SAMPLES);
  const step = inner / (inner - fewer);
  const at = (index: number): number => from[index] ?? 0;
  for (let i = 0; i < inner - fewer; i++) {
    const place = EDGE_SAMPLES + i * step;
    const index = Math.floor(place);
    const value = between(at(index - 1), at(index), at(index + 1), at(index + 2), place - index);
    to[EDGE_SAMPLES + i] = Math.max(-32768, Math.min(32767, Math.round(value)));
  }
  return new Uint8Array(to.buffer, 0, to.length * BYTES_PER_SAMPLE);
}
