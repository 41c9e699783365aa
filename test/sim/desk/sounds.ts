/** What the microphones of a desk hear: two voices, the loudspeakers, and noise. */
import type { Dice } from '../dice.ts';
import { RATE_HZ, TICK_MS, TICK_SAMPLES } from '../sound.ts';
import type { Person, Utterance } from './people.ts';

/** The emulator tells people apart by their pitch. */
const PITCH_HZ = [110, 230] as const;
const HARMONICS = 6;
const VOICE_PEAK = 5000;

/** One second of a voice, which repeats without a seam. */
function voiceOf(hz: number): Float32Array {
  const sound = new Float32Array(RATE_HZ);
  for (let harmonic = 1; harmonic <= HARMONICS; harmonic++)
    for (let index = 0; index < RATE_HZ; index++)
      sound[index] =
        (sound[index] ?? 0) +
        ((VOICE_PEAK / harmonic) * Math.sin((2 * Math.PI * hz * harmonic * index) / RATE_HZ)) / 2;
  return sound;
}

const VOICES = PITCH_HZ.map(voiceOf);
const NOISE = Float32Array.from({ length: RATE_HZ }, (_, index) => {
  const mixed = Math.imul(index ^ (index >>> 15), 0x2c1b3c6d);
  return (((mixed ^ (mixed >>> 12)) >>> 8) / 2 ** 23 - 1) * 1;
});

/** Where a microphone stands. */
export interface Place {
  /** How much of each person it hears. */
  readonly people: readonly [number, number];
  /** How much of each loudspeaker it hears. */
  readonly loudspeakers: readonly number[];
  readonly gain: number;
  readonly noise: number;
}

/** Sound of a loudspeaker at a moment (ms), as one tick; null: silence. */
export type PlayedAt = (at: number) => Int16Array | null;

export function drawPlaces(dice: Dice, rooms: boolean): readonly Place[] {
  // Louder noise after digital silence is a voice for the emulator's detector.
  const noise = dice.between(15, rooms ? 70 : 100);
  if (!rooms)
    return [
      {
        people: [dice.between(0.6, 1), dice.between(0.6, 1)],
        loudspeakers: [dice.between(0.2, 0.6)],
        gain: 1,
        noise,
      },
    ];
  return [0, 1].map((own) => {
    // The other person is 8 to 13 dB softer: twice to four times as far.
    const far = dice.between(0.22, 0.4);
    const near = dice.between(0.8, 1);
    // The other loudspeaker may be the nearer one.
    const echo = [dice.between(0.1, 0.8), dice.between(0.1, 0.8)];
    echo[own] = dice.between(0.3, 0.7);
    return {
      people: own === 0 ? ([near, far] as const) : ([far, near] as const),
      loudspeakers: echo,
      gain: dice.between(0.6, 1.4),
      noise,
    };
  });
}

/** What one tick at a microphone has of a loudspeaker; null: silence. */
export function echoOf(
  place: Place,
  loudspeaker: number,
  playedAt: PlayedAt,
  tick: number,
): Float32Array | null {
  const played = playedAt(tick * TICK_MS);
  if (played === null) return null;
  const gain = (place.loudspeakers[loudspeaker] ?? 0) * 0.5;
  // The loudspeaker plays 24 kHz.
  return Float32Array.from(
    { length: TICK_SAMPLES },
    (_, index) => gain * (played[Math.floor(index * 1.5)] ?? 0),
  );
}

/** The sound of one tick at one microphone. */
export function hearAt(
  place: Place,
  tick: number,
  utterances: readonly Utterance[],
  playing: readonly PlayedAt[],
): Int16Array {
  const sound = new Int16Array(TICK_SAMPLES);
  const first = (tick * TICK_SAMPLES) % RATE_HZ;
  const voices: number[] = [0, 0];
  for (const { person, voiced } of utterances) if (voiced.has(tick)) voices[person] = place.people[person];
  const [low = 0, high = 0] = voices;
  const echoes = playing.flatMap((playedAt, index) => echoOf(place, index, playedAt, tick) ?? []);
  const noiseFrom = (tick * 7919) % (RATE_HZ - TICK_SAMPLES);
  for (let index = 0; index < TICK_SAMPLES; index++) {
    let sample = place.noise * (NOISE[noiseFrom + index] ?? 0);
    if (low > 0) sample += low * (VOICES[0]?.[first + index] ?? 0);
    if (high > 0) sample += high * (VOICES[1]?.[first + index] ?? 0);
    for (const echo of echoes) sample += echo[index] ?? 0;
    sound[index] = Math.max(-32_768, Math.min(32_767, Math.round(place.gain * sample)));
  }
  return sound;
}

export const otherPerson = (person: Person): Person => (person === 0 ? 1 : 0);
