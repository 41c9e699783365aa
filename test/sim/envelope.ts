/** How loud somebody speaks from one 20 ms to the next: taken from a recording, because people are no steady noise. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const RECORDING = join(import.meta.dirname, '../../src/cli/demo/visitor.wav');
const HEADER_BYTES = 44;
const TICK_SAMPLES = (24_000 * 20) / 1000;
/** What is this much lower than the loudest is a gap between two words. */
const SPEECH_DB = 30;
/** Longer pauses of the recording are cut to this: visitors draw their own. */
const LONGEST_GAP_TICKS = 5;
/** The loudest tick, as an amplitude of noise. */
const LOUDEST = 12_000;
const STEP_DB = 1.5;
const STEPS = SPEECH_DB / STEP_DB;

/** Amplitudes of noise, the faintest first: level 1 is the first of them. */
export const LEVELS: readonly number[] = Array.from(
  { length: STEPS },
  (_, step) => LOUDEST * 10 ** ((-STEP_DB * (STEPS - 1 - step)) / 20),
);

/** Levels of the recording, one a tick, its long pauses shortened; 0 in the gaps between words. */
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
