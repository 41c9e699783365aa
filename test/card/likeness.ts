/** Low enough to be quick, high enough for speech. */
const COMPARED_HZ = 4000;

/**
 * How much of a sound is in another one, wherever it begins there: their normalized cross-correlation at its best, 0 to 1.
 * Loudness does not matter.
 */
export function likeness(heard: Int16Array, heardHz: number, wanted: Int16Array, wantedHz: number): number {
  const [timeline, sound] = [slowed(heard, heardHz), slowed(wanted, wantedHz)];
  const energy = sound.reduce((sum, value) => sum + value * value, 0);
  let best = 0;
  let own = 0;
  for (let at = 0; at < Math.min(sound.length, timeline.length); at++) own += (timeline[at] ?? 0) ** 2;
  for (let from = 0; from + sound.length <= timeline.length + COMPARED_HZ / 10; from++) {
    let product = 0;
    for (let at = 0; at < sound.length; at++) product += (sound[at] ?? 0) * (timeline[from + at] ?? 0);
    if (own > 0) best = Math.max(best, product / Math.sqrt(energy * own));
    own += (timeline[from + sound.length] ?? 0) ** 2 - (timeline[from] ?? 0) ** 2;
  }
  return best;
}

/** At a lower rate, each sample the mean of those that it stands for. */
function slowed(sound: Int16Array, rateHz: number): Float64Array {
  const ratio = rateHz / COMPARED_HZ;
  const slow = new Float64Array(Math.floor(sound.length / ratio));
  for (let at = 0; at < slow.length; at++) {
    const [from, to] = [Math.round(at * ratio), Math.round((at + 1) * ratio)];
    let sum = 0;
    for (let i = from; i < to; i++) sum += sound[i] ?? 0;
    slow[at] = sum / (to - from);
  }
  return slow;
}
