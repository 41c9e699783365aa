/** Loudness of speech in steps of 20 ms, taken from a recording. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const RECORDING = join(import.meta.dirname, '../../src/cli/demo/visitor.wav');
const HEADER_BYTES = 44;
const TICK_SAMPLES = (24_000 * 20) / 1000;
/** Range of speech (dB): ticks that are this much softer than the loudest are gaps between words. */
const SPEECH_DB = 30;
/** Longest pause (ticks): longer ones of the recording are shortened, because visitors draw their own. */
const LONGEST_GAP_TICKS = 5;
/** Noise amplitude of the loudest tick. */
const LOUDEST = 12_000;
const STEP_DB = 1.5;
const STEPS = SPEECH_DB / STEP_DB;

/** Noise amplitudes, softest first: level 1 is the first. */
export const LEVELS: readonly number[] = Array.from(
  { length: STEPS },
  (_, step) => LOUDEST * 10 ** ((-STEP_DB * (STEPS - 1 - step)) / 20),
);

/** Level of each tick of the recording; 0 in gaps between words. */
export const ENVELOPE: Uint8Array = readEnvelope();

function readEnvelope(): Uint8Array {
  const bytes = readFileSync(RECORDING).subarray(HEADER_BYTES);
  const sound = new Int16Array(bytes.buffer.slice(bytes.byteOffset, bytes.byteOffset + (bytes.length & ~1)));
  const energies: number[] = [];
  for (let at = 0; at + TICK_SAMPLES <= sound.length; at += TICK_SAMPLES)
    energies.push(sound.subarray(at, at + TICK_SAMPLES).reduce((sum, sample) => sum + sample * sample, 0));
  const most = Math.max(...energies);
  const levels: number[] = [];
  let gap = 0;
  for (const energy of energies) {
    const level = Math.max(0, Math.ceil(STEPS + (10 * Math.log10(energy / most)) / STEP_DB));
    gap = level === 0 ? gap + 1 : 0;
    if (gap <= LONGEST_GAP_TICKS) levels.push(level);
  }
  return Uint8Array.from(levels);
}
