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
  const isKnown = compared.some((one) => one.of === of && one.bytes === bytes && one.hash === hash);
  return {
    isTwin: isKnown && !isPeriodic(pcm),
    heard: [...before, { of, bytes, hash }].slice(-MOST_KEPT),
  };
}

/** FNV-1a, twice with different primes: 52 bits of it. */
function hashOf(pcm: Uint8Array): number {
  let [one, other] = [0x811c9dc5, 0x1b873593];
  for (const byte of pcm) {
    one = Math.imul(one ^ byte, 0x01000193);
    other = Math.imul(other ^ byte, 0x5bd1e995);
  }
  return (one >>> 0) * 2 ** 20 + ((other >>> 0) & 0xfffff);
}

/** Whether it repeats itself within its first half. */
function isPeriodic(pcm: Uint8Array): boolean {
  const isPeriod = (bytes: number): boolean => {
    for (let at = bytes; at < pcm.byteLength; at++) if (pcm[at] !== pcm[at - bytes]) return false;
    return true;
  };
  for (let bytes = 2; bytes <= pcm.byteLength / 2; bytes += 2) if (isPeriod(bytes)) return true;
  return false;
}
