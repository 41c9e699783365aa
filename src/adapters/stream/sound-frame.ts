/**
 * Sound is all but the whole of what passes on a stream, and stands as base64 inside of JSON. Made or read as text like
 * any other message, it would be copied three times over on its way, and the copies collected again.
 */

const HEAD = '{"message_type":"input_audio_data","data":{"data":"';
const TAIL = '"}}';
const KEY = Buffer.from('"data":');
const QUOTE = 0x22;
const SPACE = 0x20;
const PAD = 0x3d;
/** This many digits stand for three bytes; with the padding there are no others. */
const GROUP = 4;
/** Of a frame with sound worth the trouble. */
const LEAST_BYTES = 1024;
/** Stands in the text for the sound that was taken out of it; no sound is written like this. */
export const CUT = '#';
const QUOTED_CUT = Buffer.from(`"${CUT}"`);

/** Makes the frames of `input_audio_data`, over and over in the same memory. */
export interface SoundFrames {
  /**
   * The frame counts until the next one is made, unless it is forgotten.
   * @param pcm never changes; silence in place of sound is the same one over and over, and made once
   */
  make(pcm: Uint8Array): Buffer;
  /** The last frame is still needed: the next one is made somewhere else. */
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
 * Takes the sound out of a frame that has some.
 * @returns the frame's text with `CUT` in place of the sound; null for a frame that has none, or one written in an unusual way
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
    // What is no digit is passed over in silence: only where nothing is missing there was nothing else.
    if (sound.length !== soundLength(frame, from, until)) return null;
    return { text: `${frame.toString('utf8', 0, from)}${CUT}${frame.toString('utf8', until)}`, sound };
  }
  return null;
}

/** How many bytes this many digits stand for. */
function soundLength(frame: Buffer, from: number, until: number): number {
  let end = until;
  while (end > until - 2 && frame[end - 1] === PAD) end--;
  return Math.floor(((end - from) * 3) / GROUP);
}
