/**
 * Reads and writes frames with sound. Sound is most of a stream's traffic, as base64 inside JSON. Handled as text like any other
 * message, it would be copied three times, and the copies would have to be garbage-collected.
 */

const HEAD = '{"message_type":"input_audio_data","data":{"data":"';
const TAIL = '"}}';
const KEY = Buffer.from('"data":');
const QUOTE = 0x22;
const SPACE = 0x20;
const PAD = 0x3d;
/** Base64 digits per group: each group, padding included, encodes up to three bytes. */
const GROUP = 4;
/** Smallest frame that is worth the search for sound (bytes). */
const LEAST_BYTES = 1024;
/** Replaces the sound in the text; base64 sound never looks like this. */
export const CUT = '#';
const QUOTED_CUT = Buffer.from(`"${CUT}"`);

/** Makes frames of `input_audio_data`, reusing the same memory. */
export interface SoundFrames {
  /**
   * The frame is valid until the next frame is created, unless `forget` is called.
   * @param pcm never changes; the frame of repeated silence is created only once
   */
  make(pcm: Uint8Array): Buffer;
  /** The last frame is still in use: the next one gets new memory. */
  forget(): void;
}

export function createSoundFrames(): SoundFrames {
  let frame: Buffer | null = null;
  let made: Uint8Array | null = null;
  return {
    make(pcm) {
      if (frame !== null && pcm === made) return frame;
      made = pcm;
      const sound = Buffer.from(pcm.buffer, pcm.byteOffset, pcm.byteLength).toString('base64');
      const length = HEAD.length + sound.length + TAIL.length;
      if (frame?.length !== length) {
        frame = Buffer.allocUnsafeSlow(length);
        frame.write(HEAD, 0, 'latin1');
        frame.write(TAIL, length - TAIL.length, 'latin1');
      }
      frame.write(sound, HEAD.length, 'latin1');
      return frame;
    },
    forget() {
      frame = null;
    },
  };
}

/**
 * Cuts the sound out of a frame.
 * @returns the frame's text with `CUT` in place of the sound; null for a frame without sound, or one written in an unusual way
 */
export function cutSound(frame: Buffer): { text: string; sound: Buffer } | null {
  if (frame.length < LEAST_BYTES || frame.includes(QUOTED_CUT)) return null;
  for (let key = frame.indexOf(KEY); key >= 0; key = frame.indexOf(KEY, key + 1)) {
    let from = key + KEY.length;
    while (frame[from] === SPACE) from++;
    if (frame[from] !== QUOTE) continue;
    from++;
    const until = frame.indexOf(QUOTE, from);
    if (until < 0 || (until - from) % GROUP !== 0) return null;
    const sound = Buffer.from(frame.toString('latin1', from, until), 'base64');
    // The decoder silently skips invalid digits: a shorter result reveals them.
    if (sound.length !== soundLength(frame, from, until)) return null;
    return { text: `${frame.toString('utf8', 0, from)}${CUT}${frame.toString('utf8', until)}`, sound };
  }
  return null;
}

/** The number of bytes that these digits encode. */
function soundLength(frame: Buffer, from: number, until: number): number {
  let end = until;
  while (end > until - 2 && frame[end - 1] === PAD) end--;
  return Math.floor(((end - from) * 3) / GROUP);
}
