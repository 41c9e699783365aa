import { samplesOf } from '../../audio/pcm.ts';

/** What is sent twice may change places with its neighbours. */
const NAMELESS_COMPARED = 4;
/** Of named sentences: more than a minute of sound. */
const MOST_KEPT = 400;

/** A piece of sound that has come, by which it is known again. */
export interface HeardSound {
  /** The sentence, and the language; null: it has no name. */
  readonly of: string | null;
  readonly bytes: number;
  readonly hash: number;
}

/** Of which sentence a piece is. */
export interface SoundOf {
  readonly id: string | null;
  readonly language: string | null;
}

/**
 * Whether sound is, to the last bit, a piece of the same sentence that came before: a service, or somebody on the way to it,
 * sends its pieces twice. Without a name it is known only right behind the first, for the same words sound the same. Silence,
 * or a tone, is like itself without that.
 * @param before the last pieces, the newest at the end
 */
export function compareSound(
  before: readonly HeardSound[],
  { id, language }: SoundOf,
  pcm: Uint8Array,
): { readonly isTwin: boolean; readonly heard: readonly HeardSound[] } {
  if (pcm.byteLength === 0) return { isTwin: false, heard: before };
  const of = id === null ? null : `${id}/${language ?? ''}`;
  const { byteLength: bytes } = pcm;
  const hash = hashOf(pcm);
  const compared = of === null ? before.slice(-NAMELESS_COMPARED) : before;
  // The hash first: names are new strings each time, and compared letter by letter.
  const isKnown = compared.some((one) => one.hash === hash && one.bytes === bytes && one.of === of);
  return {
    isTwin: isKnown && !isPeriodic(pcm),
    heard: [...before, { of, bytes, hash }].slice(-MOST_KEPT),
  };
}

/** Whether the last piece is of another sentence, or in another language, than the one before it; never so without names. */
export function beginsSentence(before: readonly HeardSound[], heard: readonly HeardSound[]): boolean {
  const of = heard.at(-1)?.of ?? null;
  return of !== null && of !== before.at(-1)?.of;
}

/** A text as it came. */
interface ReadText {
  readonly transcription_id?: string | null | undefined;
  readonly translation_part_id?: string | number | null | undefined;
  readonly language: string;
  readonly text: string;
}

/** Texts come far apart, compared with pieces of sound. */
const TEXTS_KEPT = 16;

/**
 * Whether a translation is, to the last letter, one of the same sentence that came before: parts without numbers are added up, and
 * one that comes twice is none of them.
 * @param before the last texts, the newest at the end
 */
export function compareText(
  before: readonly string[],
  kind: string,
  { transcription_id: id, translation_part_id: part, language, text }: ReadText,
): { readonly isTwin: boolean; readonly read: readonly string[] } {
  if (kind !== 'translated_transcription' || id == null) return { isTwin: false, read: before };
  const name = JSON.stringify([id, part ?? null, language, text]);
  if (before.includes(name)) return { isTwin: true, read: before };
  return { isTwin: false, read: [...before, name].slice(-TEXTS_KEPT) };
}

/**
 * FNV-1a over samples, twice with different primes: 52 bits of it. A dangling byte does not count. Begun as signed: what passes
 * 31 bits makes V8 compile it anew each time.
 */
function hashOf(pcm: Uint8Array): number {
  const samples = samplesOf(pcm);
  let one = 0x811c9dc5 | 0;
  let other = 0x1b873593 | 0;
  for (let at = 0; at < samples.length; at++) {
    const sample = samples[at] as number;
    one = Math.imul(one ^ sample, 0x01000193);
    other = Math.imul(other ^ sample, 0x5bd1e995);
  }
  return (one >>> 0) * 2 ** 20 + ((other >>> 0) & 0xfffff);
}

/**
 * Whether it repeats itself within its first half. By the longest border of each of its beginnings (Knuth, Morris and Pratt), for
 * the work must not grow with the square of a length that the service chooses.
 */
function isPeriodic(pcm: Uint8Array): boolean {
  const samples = samplesOf(pcm);
  const borders = new Int32Array(samples.length);
  let border = 0;
  for (let at = 1; at < samples.length; at++) {
    while (border > 0 && samples[at] !== samples[border]) border = borders[border - 1] ?? 0;
    if (samples[at] === samples[border]) border++;
    borders[at] = border;
  }
  return samples.length - border <= samples.length / 2;
}
