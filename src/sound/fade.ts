import { BYTES_PER_SAMPLE, sampleCount } from './pcm.ts';

/** Fades for sound that stops or begins in the middle. The sound stays unchanged; the fade is put before or after it. */

/** A quieter edge does not click: 40 dB below full scale. */
const INAUDIBLE = 328;

function viewOf(pcm: Uint8Array): DataView {
  return new DataView(pcm.buffer, pcm.byteOffset, pcm.byteLength);
}

/** Gain of a fade-out from 1 to 0, smooth at both ends. @param place from 0 to 1 */
function fallingGain(place: number): number {
  return 0.5 + 0.5 * Math.cos(Math.PI * place);
}

/**
 * Makes a fade to put after a sound: the sound's last milliseconds backwards, fading out. So the wave continues where it
 * broke off.
 * @param edge the last few milliseconds of the sound; the fade has the same length
 * @returns null if the sound ends so quietly that the break is inaudible
 */
export function fadeAfter(edge: Uint8Array): Uint8Array | null {
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
 * Makes a fade-in to put before a sound.
 * @param edge the first few milliseconds of the sound; the fade has the same length
 * @returns null if the sound begins so quietly that the start is inaudible
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

/** Fades the sound itself out over its whole length. */
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
