import { BYTES_PER_SAMPLE, sampleCount } from './pcm.ts';

/** Soft edges for sound that stops or begins in the middle. The sound itself stays as it is; the edge is put beside it. */

/** An edge this quiet does not click: -40 dB of full scale. */
const INAUDIBLE = 328;

function viewOf(pcm: Uint8Array): DataView {
  return new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
}

/** The gain of a fade-out from 1 to 0, without a corner at either end. @param place from 0 to 1 */
function fallingGain(place: number): number {
  return 0.5 + 0.5 * Math.cos(Math.PI * place);
}

/**
 * Lets a sound die away behind its end: its last milliseconds backwards, fading. Continues the wave where it broke off,
 * with its own colour.
 * @param edge the last few milliseconds that sounded; the fade is as long
 * @returns null where the sound ends so quietly that nothing would be heard of its breaking off
 */
export function fadeBehind(edge: Uint8Array): Uint8Array | null {
  const samples = sampleCount(edge);
  const from = viewOf(edge);
  if (samples === 0 || Math.abs(from.getInt16((samples - 1) * BYTES_PER_SAMPLE, true)) < INAUDIBLE) {
    return null;
  }
  const fade = new Uint8Array(samples * BYTES_PER_SAMPLE);
  const to = viewOf(fade);
  for (let i = 0; i < samples; i++) {
    const mirrored = from.getInt16((samples - 1 - i) * BYTES_PER_SAMPLE, true);
    to.setInt16(i * BYTES_PER_SAMPLE, Math.round(mirrored * fallingGain((i + 1) / samples)), true);
  }
  return fade;
}

/**
 * Lets a sound come up before its begin.
 * @param edge the first few milliseconds that will sound; the fade is as long
 * @returns null where the sound begins so quietly that nothing would be heard of it
 */
export function fadeBefore(edge: Uint8Array): Uint8Array | null {
  const samples = sampleCount(edge);
  const from = viewOf(edge);
  if (samples === 0 || Math.abs(from.getInt16(0, true)) < INAUDIBLE) return null;
  const fade = new Uint8Array(samples * BYTES_PER_SAMPLE);
  const to = viewOf(fade);
  for (let i = 0; i < samples; i++) {
    const mirrored = from.getInt16((samples - 1 - i) * BYTES_PER_SAMPLE, true);
    to.setInt16(i * BYTES_PER_SAMPLE, Math.round(mirrored * fallingGain((samples - i) / samples)), true);
  }
  return fade;
}

/** The sound itself, fading to nothing over its whole length. */
export function fadeOut(pcm: Uint8Array): Uint8Array {
  const samples = sampleCount(pcm);
  const from = viewOf(pcm);
  const faded = new Uint8Array(samples * BYTES_PER_SAMPLE);
  const to = viewOf(faded);
  for (let i = 0; i < samples; i++) {
    const at = i * BYTES_PER_SAMPLE;
    to.setInt16(at, Math.round(from.getInt16(at, true) * fallingGain((i + 1) / samples)), true);
  }
  return faded;
}
