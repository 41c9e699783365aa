/** What is sent twice may change places with its neighbours. */
const SOUNDS_COMPARED = 4;

/**
 * Whether sound is, to the last bit, a piece that came just before, and no silence: a service, or somebody on the way to it,
 * sends its pieces twice.
 * @param before the last pieces, the newest at the end
 */
export function compareSound(
  before: readonly Uint8Array[],
  pcm: Uint8Array,
): { readonly isTwin: boolean; readonly lastSounds: readonly Uint8Array[] } {
  const isSame = (one: Uint8Array): boolean =>
    one.byteLength === pcm.byteLength && pcm.every((byte, at) => byte === one[at]);
  const isTwin = before.some(isSame) && pcm.some((byte) => byte !== 0);
  return { isTwin, lastSounds: [...before, pcm].slice(-SOUNDS_COMPARED) };
}
