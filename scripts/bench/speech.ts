/** The sound of all microphones of the benchmark: short sentences, each followed by time for its translation. */
import { seededRandom } from '../../src/core/random.ts';

export const RATE_HZ = 24_000;
const FRAME = RATE_HZ / 50;
/** Peak of a 20 ms frame from which it counts as voice. */
const VOICE_PEAK = 600;
/** Frames of silence that end a sentence. Shorter sentences are left out. */
const PAUSE_FRAMES = 12;
const SHORTEST_FRAMES = 30;
/** Time for the service to confirm and speak a sentence, and for the room to become silent (ms). */
const ANSWER_MS = 2400;
/** Peak of the added noise: inaudible, and enough to make each part of the sound unique. */
const MARK_PEAK = 4;

/** The PCM of a mono WAV file with a plain header at the stream's rate. */
export function readPcm(wav: Uint8Array): Int16Array {
  const at = Buffer.from(wav.buffer, wav.byteOffset, wav.byteLength).indexOf('data') + 8;
  return new Int16Array(wav.slice(at, at + (((wav.byteLength - at) >> 1) << 1)).buffer);
}

/** The sentences of a recording, without the pauses. */
export function cutSentences(recording: Int16Array): Int16Array[] {
  const sentences: Int16Array[] = [];
  let from = -1;
  let until = -1;
  const close = (): void => {
    if (from >= 0 && until - from >= SHORTEST_FRAMES)
      sentences.push(recording.slice(from * FRAME, until * FRAME));
    from = -1;
  };
  for (let frame = 0; (frame + 1) * FRAME <= recording.length; frame++) {
    const isVoice = recording
      .subarray(frame * FRAME, (frame + 1) * FRAME)
      .some((s) => Math.abs(s) > VOICE_PEAK);
    if (isVoice) {
      if (from < 0) from = frame;
      until = frame + 1;
    } else if (from >= 0 && frame - until >= PAUSE_FRAMES) close();
  }
  close();
  return sentences;
}

/** All sentences, each followed by silence for its translation and the answer time. */
export function conversation(recording: Int16Array): Int16Array {
  const sentences = cutSentences(recording);
  const pause = (ANSWER_MS * RATE_HZ) / 1000;
  const sound = new Int16Array(sentences.reduce((sum, { length }) => sum + 2 * length + pause, 0));
  let at = 0;
  for (const sentence of sentences) {
    sound.set(sentence, at);
    at += 2 * sentence.length + pause;
  }
  return mark(sound);
}

function mark(sound: Int16Array): Int16Array {
  const random = seededRandom(1);
  return sound.map((sample) => {
    const marked = sample + Math.floor(random() * (2 * MARK_PEAK + 1)) - MARK_PEAK;
    return Math.max(-32_768, Math.min(32_767, marked));
  });
}
