/**
 * The sounds of the simulated world. Time in the room is divided into ticks of 20 ms. A tick with speech carries its number
 * in its first samples, so that an oracle can find out which ticks are in a piece of sound.
 */
export const RATE_HZ = 16_000;
export const TICK_MS = 20;
export const TICK_SAMPLES = (RATE_HZ * TICK_MS) / 1000;
const TICK_BYTES = TICK_SAMPLES * 2;
const STUMP_BYTES = 5 * TICK_BYTES;

/** Content of a tick. */
export type TickSound = 'room' | 'speech' | 'echo';

/** First sample of a tick with speech or echo. The faint mark is no louder than the room, so that it hides no soft speech. */
const MARK = { speech: 12_345, echo: 12_347, faint: 301 } as const;
/** Digits of a tick's number, one per sample. */
const DIGITS = 3;
const DIGIT_BITS = 9;
const DIGIT_OFFSET = 6000;
const FAINT_OFFSET = -(2 ** (DIGIT_BITS - 1));

function noise(amplitude: number, samples: number): Int16Array {
  const sound = new Int16Array(samples);
  let state = 1;
  for (let index = 0; index < samples; index++) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) | 0;
    sound[index] = Math.round(((state >>> 8) / 2 ** 24 - 0.5) * 2 * amplitude);
  }
  return sound;
}

/** Size of the reused buffer (bytes): two minutes of sound, longer than any part keeps it. */
const RING_BYTES = 4_000_000;

/** Paints the sound of a room. */
export interface Painter {
  /**
   * @param first number of the first tick
   * @param ticks content of each tick
   * @param levels loudness of each tick with speech, from 1
   */
  paint(first: number, ticks: readonly TickSound[], levels: readonly number[]): Uint8Array;
}

/** Amplitudes of steady speech: one level, with a mark as loud as that. */
const STEADY: readonly number[] = [7000];

/**
 * @param roomAmplitude amplitude of the room's noise: 20 for a quiet room, 100 for a busy one
 * @param voices amplitudes of the levels of speech; default: a single one
 */
export function createPainter(roomAmplitude: number, voices: readonly number[] = STEADY): Painter {
  const rooms = new Map<number, Uint8Array>();
  const room = bytes(noise(roomAmplitude, TICK_SAMPLES));
  const speech = voices.map((amplitude) => bytes(noise(amplitude, TICK_SAMPLES)));
  const echo = bytes(noise(3000, TICK_SAMPLES));
  const isFaint = voices !== STEADY;
  const ring = new Int16Array(RING_BYTES / 2);
  const ringBytes = bytes(ring);
  let at = 0;
  const quiet = (ticks: number): Uint8Array => {
    const known = rooms.get(ticks) ?? bytes(noise(roomAmplitude, ticks * TICK_SAMPLES));
    rooms.set(ticks, known);
    return known;
  };
  return {
    paint(first, ticks, levels) {
      if (ticks.every((tick) => tick === 'room')) return quiet(ticks.length);
      const size = ticks.length * TICK_BYTES;
      if (at + size > RING_BYTES) at = 0;
      const start = at;
      at += size;
      for (const [index, tick] of ticks.entries()) {
        const from = start + index * TICK_BYTES;
        if (tick === 'room') {
          ringBytes.set(room, from);
          continue;
        }
        if (tick === 'echo') {
          ringBytes.set(echo, from);
          stamp(ring, from / 2, MARK.echo, first + index);
          continue;
        }
        ringBytes.set(speech[(levels[index] ?? 1) - 1] ?? echo, from);
        if (isFaint) stamp(ring, from / 2, MARK.faint, first + index, FAINT_OFFSET);
        else stamp(ring, from / 2, MARK.speech, first + index);
      }
      return ringBytes.subarray(start, start + size);
    },
  };
}

function stamp(sound: Int16Array, at: number, mark: number, number: number, offset = DIGIT_OFFSET): void {
  sound[at] = mark;
  for (let digit = 0; digit < DIGITS; digit++) {
    sound[at + 1 + digit] = offset + ((number >>> (digit * DIGIT_BITS)) & (2 ** DIGIT_BITS - 1));
  }
}

function readStamp(sound: Int16Array, at: number, offset = DIGIT_OFFSET): number {
  let number = 0;
  for (let digit = 0; digit < DIGITS; digit++) {
    number |= ((sound[at + 1 + digit] ?? 0) - offset) << (digit * DIGIT_BITS);
  }
  return number;
}

function bytes(sound: Int16Array): Uint8Array {
  return new Uint8Array(sound.buffer, sound.byteOffset, sound.byteLength);
}

/** Reads the numbers of the ticks with speech in a piece of sound. `echoes` counts the ticks with the loudspeaker's sound. */
export function readTicks(sound: Int16Array, onSpeech: (tick: number) => void): { echoes: number } {
  let echoes = 0;
  for (let at = 0; at < sound.length; at += TICK_SAMPLES) {
    const mark = sound[at];
    if (mark === MARK.faint) onSpeech(readStamp(sound, at, FAINT_OFFSET));
    else if (mark === MARK.speech) onSpeech(readStamp(sound, at));
    else if (mark === MARK.echo) echoes++;
  }
  return { echoes };
}

/** Whether the microphone was unplugged soon after the chunk began: its sound is too short for a word, and the rest is zero. */
export function isStump(pcm: Uint8Array): boolean {
  return pcm.byteLength > STUMP_BYTES && pcm.subarray(STUMP_BYTES).every((byte) => byte === 0);
}

/** Replaces the loudspeaker's sound with the room's noise. */
export function withoutEcho(pcm: Uint8Array, roomAmplitude: number): Uint8Array {
  const sound = new Int16Array(pcm.slice().buffer);
  for (let at = 0; at < sound.length; at += TICK_SAMPLES)
    if (sound[at] === MARK.echo) sound.set(noise(roomAmplitude, TICK_SAMPLES), at);
  return bytes(sound);
}

/** Translated speech: 24 kHz, stamped every 20 ms with the number of the rendering and the place in it. */
const OUTPUT_TICK_SAMPLES = 480;
const OUTPUT_MARK = 12_351;
const PLACE_AT = 1 + DIGITS;

/** Paints the sound of a rendering. @param durationMs multiple of 20 */
export function paintRendering(job: number, durationMs: number): Uint8Array {
  const ticks = Math.max(1, Math.round(durationMs / TICK_MS));
  const sound = new Int16Array(ticks * OUTPUT_TICK_SAMPLES);
  for (let place = 0; place < ticks; place++) {
    stamp(sound, place * OUTPUT_TICK_SAMPLES, OUTPUT_MARK, job);
    sound[place * OUTPUT_TICK_SAMPLES + PLACE_AT] = place;
  }
  return bytes(sound);
}

export function ticksOfRendering(pcm: Uint8Array): number {
  return pcm.byteLength / 2 / OUTPUT_TICK_SAMPLES;
}

/** A stretch of one rendering, in ticks from its beginning. */
export interface RenderedStretch {
  readonly job: number;
  readonly place: number;
  readonly ticks: number;
}

/** Finds the renderings in a piece of sound, in order: several may be written at once. Empty for other sounds. */
export function readRenderings(pcm: Uint8Array): RenderedStretch[] {
  const sound = new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1);
  const stretches: { job: number; place: number; ticks: number }[] = [];
  if (sound[0] !== OUTPUT_MARK) return stretches;
  for (let at = 0; at < sound.length; at += OUTPUT_TICK_SAMPLES) {
    const last = stretches.at(-1);
    const job = sound[at] === OUTPUT_MARK ? readStamp(sound, at) : last?.job;
    if (last !== undefined && job === last.job) last.ticks++;
    else stretches.push({ job: job ?? 0, place: sound[at + PLACE_AT] ?? 0, ticks: 1 });
  }
  return stretches;
}
