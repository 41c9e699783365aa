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

/** Babble is never silent. */
export const isSound = (sample: number): boolean => sample !== 0;

/** Behind the last sample that sounds. */
export function lastSound(timeline: Int16Array): number {
  let at = timeline.length;
  while (at > 0 && timeline[at - 1] === 0) at--;
  return at;
}

/** Where two sounds begin to differ; -1: they are the same. A comparison sample by sample that can print them takes a second. */
export function differsAt(one: Int16Array, other: Int16Array): number {
  const shorter = Math.min(one.length, other.length);
  for (let at = 0; at < shorter; at++) if (one[at] !== other[at]) return at;
  return one.length === other.length ? -1 : shorter;
}

/** What of it sounds, in a row. */
export function withoutSilence(timeline: Int16Array): Int16Array {
  const sound = new Int16Array(timeline.length);
  let length = 0;
  for (let at = 0; at < timeline.length; at++) {
    const sample = timeline[at] ?? 0;
    if (isSound(sample)) sound[length++] = sample;
  }
  return sound.slice(0, length);
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

/** A place in a sound that can be told from any other. */
export interface Marker {
  /** Sample of the sound. */
  readonly at: number;
  /** Sample of the timeline in which it was looked for; -1 where it is not. */
  readonly found: number;
}

/** A marker in speech is as loud as this at least. */
const LOUD = 500;

/** Looks for places of a sound, ten a second wherever it is loud, in a timeline that has them in the same order. */
export function findMarkers(timeline: Int16Array, sound: Int16Array, rateHz: number): Marker[] {
  const markers: Marker[] = [];
  let from = 0;
  for (let at = 0; at + CERTAIN <= sound.length; at += Math.round(rateHz / 10)) {
    const piece = sound.subarray(at, at + CERTAIN);
    if (!piece.some((sample) => Math.abs(sample) > LOUD)) continue;
    const found = findOnset(timeline, piece, from);
    markers.push({ at, found });
    if (found >= 0) from = found;
  }
  return markers;
}

/** Stretches of sound with at least `quietS` of silence between them, from their first sample to their last. */
export function findUtterances(
  timeline: Int16Array,
  rateHz: number,
  quietS = 0.2,
): { from: number; to: number }[] {
  const utterances: { from: number; to: number }[] = [];
  for (const [at, sample] of timeline.entries()) {
    if (sample === 0) continue;
    const last = utterances.at(-1);
    if (last !== undefined && at - last.to < quietS * rateHz) last.to = at;
    else utterances.push({ from: at, to: at });
  }
  return utterances;
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
}

/** The middle, the worst but for one in a hundred, and the worst. */
export function spread(values: readonly number[]): string {
  return [0.5, 0.99, 1].map((share) => quantile(values, share).toFixed(1)).join(' / ');
}

/** Of a tone: by how often it passes through zero, in most of the pieces that no gap falls into. */
export function pitchHz(tone: Int16Array, rateHz: number): number {
  const size = Math.round(rateHz / 20);
  const pitches = Array.from({ length: Math.floor(tone.length / size) }, (_, index) =>
    tone.subarray(index * size, (index + 1) * size),
  )
    .filter((piece) => piece.filter((sample) => sample === 0).length < size / 10)
    .map((piece) => {
      const crossings = piece.filter((sample, at) => at > 0 && sample < 0 !== (piece[at - 1] ?? 0) < 0);
      return (crossings.length * rateHz) / size / 2;
    });
  return pitches.toSorted((a, b) => a - b)[Math.floor(pitches.length / 2)] ?? 0;
}
