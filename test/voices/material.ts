import type { Dice } from '../sim/dice.ts';
import type { Material } from './noises.ts';
import {
  decode,
  musicIn,
  RATE_HZ,
  type Recording,
  recordingsOf,
  SPEAKER_NAMES,
  type Speaker,
} from './recordings.ts';
import { atLevel, speechLevelDb, spokenSpan } from './room.ts';

/** Length of recordings that count as utterances (s): sentences, not single words. */
const UTTERANCE_S = { shortest: 1.3, longest: 8 } as const;
/** Length of short answers such as "Yes" or "Thank you" (s), for the recording and the speech in it. */
const ANSWER_S = { shortest: 0.4, longest: 2 } as const;
/** Margin before and after the speech (samples), so that no part of it is cut. */
const EDGE = Math.round(0.05 * RATE_HZ);
const TALK_DB = -24;
/** Number of recordings of each speaker for background talk. */
const CHATTER = 15;

/** One utterance, from its first to its last sound. */
export interface Utterance {
  readonly speaker: Speaker;
  readonly path: string;
  readonly sound: Float32Array;
}

export interface Library extends Material {
  utterance(dice: Dice, speaker: Speaker): Utterance;
  /** A short answer of one or a few words. */
  answer(dice: Dice, speaker: Speaker): Utterance;
}

/** Opens the fetched recordings. */
export function openLibrary(folder: string): Library {
  const bySpeaker = new Map(SPEAKER_NAMES.map((speaker) => [speaker, recordingsOf(folder, speaker)]));
  const pieces = musicIn(folder);
  const decoded = new Map<string, Float32Array>();
  const sentences = new Map<string, Float32Array>();
  const load = (recording: Recording): Float32Array => {
    const known = decoded.get(recording.path);
    if (known !== undefined) return known;
    const sound = decode(recording);
    decoded.set(recording.path, sound);
    return sound;
  };
  const pickFrom = (
    dice: Dice,
    speaker: Speaker,
    length: { readonly shortest: number; readonly longest: number },
  ): Recording => {
    const fitting = (bySpeaker.get(speaker) ?? []).filter(
      ({ seconds }) => seconds >= length.shortest && seconds <= length.longest,
    );
    const [first, ...others] = fitting;
    if (first === undefined) throw new Error(`no recordings of ${speaker}`);
    return dice.pick([first, ...others]);
  };
  /** Background talk from few recordings, which are decoded once and may repeat. */
  const chatter = (dice: Dice, speaker: Speaker): Float32Array => {
    const fitting = (bySpeaker.get(speaker) ?? []).filter(({ seconds }) => seconds >= 2 && seconds <= 8);
    const every = Math.max(1, Math.floor(fitting.length / CHATTER));
    const recording = fitting[every * dice.whole(0, Math.min(CHATTER, fitting.length) - 1)];
    if (recording === undefined) throw new Error(`no recordings of ${speaker}`);
    const known = sentences.get(recording.path) ?? evened(spoken(recording));
    sentences.set(recording.path, known);
    return known;
  };
  const spoken = (recording: Recording): Float32Array => {
    const whole = load(recording);
    const { from, until } = spokenSpan(whole);
    return whole.slice(Math.max(0, from - EDGE), until + EDGE);
  };
  return {
    utterance(dice, speaker) {
      const recording = pickFrom(dice, speaker, UTTERANCE_S);
      return { speaker, path: recording.path, sound: spoken(recording) };
    },
    answer(dice, speaker) {
      while (true) {
        const recording = pickFrom(dice, speaker, ANSWER_S);
        const sound = spoken(recording);
        if (sound.length >= ANSWER_S.shortest * RATE_HZ) return { speaker, path: recording.path, sound };
      }
    },
    talk(dice, samples) {
      const speaker = dice.pick(SPEAKER_NAMES as readonly [Speaker, ...Speaker[]]);
      const sound = new Float32Array(samples);
      for (let at = -Math.round(dice.next() * 3 * RATE_HZ); at < samples; ) {
        const said = chatter(dice, speaker);
        if (at + said.length > 0) {
          const heard = at < 0 ? said.subarray(-at) : said;
          const from = Math.max(0, at);
          sound.set(heard.subarray(0, samples - from), from);
        }
        at += said.length + Math.round(dice.between(0.1, 1.2) * RATE_HZ);
      }
      return sound;
    },
    music(dice, samples) {
      const piece = load(dice.pick(pieces as readonly [Recording, ...Recording[]]));
      const start = Math.floor(dice.next() * piece.length);
      return Float32Array.from({ length: samples }, (_, index) => piece[(start + index) % piece.length] ?? 0);
    },
  };
}

function evened(sound: Float32Array): Float32Array {
  return atLevel(sound, TALK_DB, speechLevelDb(sound));
}
