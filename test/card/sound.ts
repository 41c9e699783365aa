/** Sound that never repeats itself: wherever a piece of it turns up, it says where it came from. */
export function babble(samples: number, seed: number): Int16Array {
  const sound = new Int16Array(samples);
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  for (let at = 0; at < samples; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    // Never 0, which is silence; a third of full scale leaves room for what is added to it.
    sound[at] = ((state >>> 17) % 10_000) + 1 - (at % 2 === 0 ? 0 : 10_001);
  }
  return sound;
}

/** Samples that must agree for a place to be found. */
const CERTAIN = 64;

/** Where the beginning of `sound` stands in `timeline`, at `from` or later; -1 where it does not. */
export function findOnset(timeline: Int16Array, sound: Int16Array, from = 0): number {
  const first = sound[0];
  for (let at = timeline.indexOf(first ?? 0, from); at >= 0; at = timeline.indexOf(first ?? 0, at + 1)) {
    let agreed = 1;
    while (agreed < CERTAIN && timeline[at + agreed] === sound[agreed]) agreed++;
    if (agreed === CERTAIN) return at;
  }
  return -1;
}

/** Of a tone: by how often it passes through zero. */
export function pitchHz(tone: Int16Array, rateHz: number): number {
  let crossings = 0;
  for (let at = 1; at < tone.length; at++) if ((tone[at - 1] ?? 0) < 0 !== (tone[at] ?? 0) < 0) crossings++;
  return (crossings * rateHz) / 2 / tone.length;
}
