import type { Dice } from '../sim/dice.ts';

/** Turns a recording into a whisper: keeps the resonances (linear prediction) and replaces the voice by noise. */

const FRAME = 720;
const HOP = FRAME / 2;
const ORDER = 26;
/** Widens resonances by 150 Hz: an open glottis damps them, and otherwise they would keep a harmonic of the voice. */
const DAMPING = 0.98;

/** @param voiced remaining amplitude of the voice, 0 (a whisper) to 1 */
export function whispered(sound: Float32Array, dice: Dice, voiced: number): Float32Array {
  const said = new Float32Array(sound.length);
  const window = Float64Array.from(
    { length: FRAME },
    (_, index) => 0.5 - 0.5 * Math.cos((2 * Math.PI * (index + 0.5)) / FRAME),
  );
  for (let from = 0; from + FRAME <= sound.length; from += HOP) {
    const frame = window.map((weight, index) => weight * (sound[from + index] ?? 0));
    const filter = predictor(frame);
    const residue = frame.map((value, index) =>
      filter.reduce((sum, weight, lag) => sum - weight * (frame[index - lag - 1] ?? 0), value),
    );
    const strength = Math.sqrt(residue.reduce((sum, value) => sum + value * value, 0) / FRAME);
    // The mean power of evenly distributed dice is a third.
    const breath = residue.map(
      (value, index) =>
        voiced * value +
        (1 - voiced) * strength * Math.sqrt(3) * (dice.next() * 2 - 1) * (window[index] ?? 0) * 1.63,
    );
    const heard = new Float64Array(FRAME);
    for (let index = 0; index < FRAME; index++) {
      let value = breath[index] ?? 0;
      for (let lag = 0; lag < ORDER; lag++) value += (filter[lag] ?? 0) * (heard[index - lag - 1] ?? 0);
      heard[index] = value;
      said[from + index] = (said[from + index] ?? 0) + value;
    }
  }
  return said;
}

/** Weights of earlier samples that predict the next one (Levinson and Durbin). */
function predictor(frame: Float64Array): number[] {
  const likeness = Array.from({ length: ORDER + 1 }, (_, lag) =>
    frame.reduce((sum, value, index) => sum + value * (frame[index + lag] ?? 0), 0),
  );
  let error = (likeness[0] ?? 0) * 1.0001 + 1e-9;
  let weights: number[] = [];
  for (let order = 1; order <= ORDER; order++) {
    const rest = weights.reduce(
      (sum, weight, lag) => sum - weight * (likeness[order - lag - 1] ?? 0),
      likeness[order] ?? 0,
    );
    const reflection = rest / error;
    weights = [
      ...weights.map((weight, lag) => weight - reflection * (weights[order - lag - 2] ?? 0)),
      reflection,
    ];
    error *= 1 - reflection * reflection;
  }
  return weights.map((weight, lag) => weight * DAMPING ** (lag + 1));
}
