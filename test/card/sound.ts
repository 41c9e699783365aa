/** Sound without repetition, so that each piece of it identifies its origin. */
export function babble(samples: number, seed: number): Int16Array {
  const sound = new Int16Array(samples);
  let state = Math.imul(seed, 0x9e3779b1) >>> 0;
  for (let at = 0; at < samples; at++) {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    // Never 0, which is silence. A third of full scale leaves room for added sound.
    sound[at] = ((state >>> 17) % 10_000) + 1 - (at % 2 === 0 ? 0 : 10_001);
  }
  return sound;
}

/** Babble is never silent. */
export const isSound = (sample: number): boolean => sample !== 0;

/** Index after the last sample that is not silent. */
export function lastSound(timeline: Int16Array): number {
  let at = timeline.length;
  while (at > 0 && timeline[at - 1] === 0) at--;
  return at;
}

/** Index of the first difference of two sounds; -1 if equal. `toEqual` would take a second. */
export function differsAt(one: Int16Array, other: Int16Array): number {
  const shorter = Math.min(one.length, other.length);
  for (let at = 0; at < shorter; at++) if (one[at] !== other[at]) return at;
  return one.length === other.length ? -1 : shorter;
}

/** All samples that are not silent. */
export function withoutSilence(timeline: Int16Array): Int16Array {
  const sound = new Int16Array(timeline.length);
  let length = 0;
  for (let at = 0; at < timeline.length; at++) {
    const sample = timeline[at] ?? 0;
    if (isSound(sample)) sound[length++] = sample;
  }
  return sound.slice(0, length);
}

/** Number of samples that must agree for a match. */
const CERTAIN = 64;

/** Index of the beginning of `sound` in `timeline`, at `from` or later; -1 if not found. */
export function findOnset(timeline: Int16Array, sound: Int16Array, from = 0): number {
  const first = sound[0];
  for (let at = timeline.indexOf(first ?? 0, from); at >= 0; at = timeline.indexOf(first ?? 0, at + 1)) {
    let agreed = 1;
    while (agreed < CERTAIN && timeline[at + agreed] === sound[agreed]) agreed++;
    if (agreed === CERTAIN) return at;
  }
  return -1;
}

/** A unique place in a sound. */
export interface Marker {
  /** Sample in the sound. */
  readonly at: number;
  /** Sample in the searched timeline; -1 if not found. */
  readonly found: number;
}

/** Smallest loudness of a marker in speech. */
const LOUD = 500;

/** Searches for markers of a sound (ten a second where it is loud) in a timeline with the same order. */
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

/** Parts of sound with at least `quietS` of silence between them, from the first to the last sample. */
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

/** Median, 99th percentile and maximum. */
export function spread(values: readonly number[]): string {
  return [0.5, 0.99, 1].map((share) => quantile(values, share).toFixed(1)).join(' / ');
}

/** Pitch of a tone, by its zero crossings in pieces without a gap. */
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
