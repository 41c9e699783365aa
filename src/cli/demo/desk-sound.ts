import type { CaptureSink, OpenCapture } from '../../ports/audio.ts';
import type { Clock } from '../../ports/clock.ts';

/** A period in which one person of the recording speaks (s). */
export interface Spoken {
  readonly speaker: string;
  readonly start: number;
  readonly end: number;
}

/** Amplitude factor of the person who is farther from a microphone. */
const FAR = 0.3;
/** Time (s) around a sentence that belongs to its speaker. */
const AROUND_S = 0.4;
/** Amplitude of a microphone's own noise, which does not depend on who speaks (-54 dB of full scale). */
const NOISE = 120;
const PIECE_MS = 100;

/** Pitch factor of the visitors: the emulator tells two people apart by the pitch of their voices. */
const HIGHER = 1.9;

/** The recording with higher voices for some of its people. */
export function raiseVoices(
  sound: Int16Array,
  rateHz: number,
  sentences: readonly Spoken[],
  isHigh: (speaker: string) => boolean,
): Int16Array {
  const raised = sound.slice();
  for (const { speaker, start, end } of sentences) {
    if (!isHigh(speaker)) continue;
    const from = Math.round(start * rateHz);
    const voice = sound.subarray(from, Math.round(end * rateHz));
    for (const [index, value] of higher(voice, rateHz).entries())
      raised[from + index] = Math.max(-32_768, Math.min(32_767, Math.round(value)));
  }
  return raised;
}

const GRAIN_MS = 60;

/** The same length of speech in a higher voice: overlapping grains, each played faster. */
function higher(voice: Int16Array, rateHz: number): Float32Array {
  const grain = Math.round((GRAIN_MS * rateHz) / 1000);
  const hop = grain / 2;
  const raised = new Float32Array(voice.length);
  for (let start = 0; start < voice.length; start += hop) {
    for (let index = 0; index < grain && start + index < voice.length; index++) {
      const weight = 0.5 - 0.5 * Math.cos((2 * Math.PI * (index + 0.5)) / grain);
      const sample = voice[start + Math.round(index * HIGHER)] ?? 0;
      raised[start + index] = (raised[start + index] ?? 0) + weight * sample;
    }
  }
  return raised;
}

/** The recording as heard by a microphone near some of its people. */
export function recordNear(
  pcm: Int16Array,
  rateHz: number,
  sentences: readonly Spoken[],
  isNear: (speaker: string) => boolean,
): Int16Array {
  const heard = pcm.slice();
  for (const { speaker, start, end } of sentences) {
    if (isNear(speaker)) continue;
    const from = Math.max(0, Math.round((start - AROUND_S) * rateHz));
    const until = Math.min(heard.length, Math.round((end + AROUND_S) * rateHz));
    for (let index = from; index < until; index++) heard[index] = Math.round((heard[index] ?? 0) * FAR);
  }
  let state = 1;
  for (const [index, sample] of heard.entries()) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    const noise = ((state >>> 8) / 2 ** 23 - 1) * NOISE;
    heard[index] = Math.max(-32_768, Math.min(32_767, Math.round(sample + noise)));
  }
  return heard;
}

/** When the people begin to speak; null: no microphone is open yet. */
export interface Beginning {
  at: number | null;
}

/** Plays a sound into a lane in real time, and then silence. Microphones with the same `beginning` hear it simultaneously. */
export function playInto(sound: Int16Array, rateHz: number, clock: Clock, beginning: Beginning): OpenCapture {
  const samples = Math.round((PIECE_MS * rateHz) / 1000);
  return async (sink: CaptureSink) => {
    beginning.at ??= clock.now();
    const beginsAt = beginning.at;
    let at = samples * Math.floor((clock.now() - beginsAt) / PIECE_MS);
    let cancel = (): void => {};
    const next = (): void => {
      const until = beginsAt + ((at + samples) / rateHz) * 1000;
      cancel = clock.at(until, () => {
        const piece = new Int16Array(samples);
        piece.set(sound.subarray(at, at + samples));
        const isLast = at < sound.length && at + samples >= sound.length;
        at += samples;
        sink.frames(new Uint8Array(piece.buffer), until);
        if (isLast) sink.ended();
        next();
      });
    };
    next();
    return { close: async () => cancel() };
  };
}
