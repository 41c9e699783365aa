import { differ } from '../../lane/replay/language-tags.ts';
import type { Caption } from '../../lane/state/lane-effect.ts';
import { maskProfanity } from './profanity.ts';
import {
  EMPTY_TRACK,
  lookAtTrack,
  nextLookAt,
  type Piece,
  takeText,
  type VoiceTrack,
} from './voice-track.ts';
import { usesBlanks } from './words.ts';

/** Text to append to the captions of one language. */
export interface Append {
  /** One of the languages on the screen. */
  readonly language: string;
  readonly text: string;
  /** The text begins a block: another sentence, or another speaker than before. */
  readonly breaks: boolean;
  /** Said in this language by a person; false: translated into it. */
  readonly isSpoken: boolean;
}

interface Voice {
  readonly language: string;
  readonly isSpoken: boolean;
  readonly track: VoiceTrack;
}

/** The captions of a conversation. Text that is shown never changes: more text is only appended. */
export interface Captions {
  readonly voices: Readonly<Record<string, Voice>>;
  /** The voice that was appended last, by language. */
  readonly lastVoice: Readonly<Record<string, string>>;
  /** When the last text came (monotonic ms); null: none in this conversation. */
  readonly heardAt: number | null;
  /** Sentences, since the start, in which the service changed words that were already shown. */
  readonly diverged: number;
}

export const NO_CAPTIONS: Captions = { voices: {}, lastVoice: {}, heardAt: null, diverged: 0 };

export interface CaptionOptions {
  readonly masksProfanity: boolean;
}

/** Maximum number of voices: a lane has one for its source and one for each target. Beyond it the oldest one goes. */
const MOST_VOICES = 64;

/** The languages of the lane that a caption comes from. */
export interface LaneLanguages {
  readonly lane: string;
  readonly source: string;
  readonly targets: readonly string[];
}

interface CaptionStep {
  readonly captions: Captions;
  readonly appends: readonly Append[];
}

export function takeCaption(
  given: Captions,
  caption: Caption,
  lane: LaneLanguages,
  options: CaptionOptions,
  now: number,
): CaptionStep {
  const language = shownLanguage(caption, lane);
  const name = `${lane.lane}/${caption.kind}/${language}`;
  const { track } = given.voices[name] ?? { track: EMPTY_TRACK };
  const others = Object.entries(given.voices).filter(([other]) => other !== name);
  const known = name in given.voices ? given.voices : Object.fromEntries(others.slice(1 - MOST_VOICES));
  const { id, part, text, isFinal } = caption;
  const key = part === null ? id : `${id ?? ''}/${part}`;
  const step = takeText(track, { key, sentence: id, text, isFinal }, language, now);
  const diverged = given.diverged + step.diverged;
  const isSpoken = caption.kind === 'source';
  const voices = { ...known, [name]: { language, isSpoken, track: step.track } };
  return append({ ...given, voices, diverged, heardAt: now }, name, step.pieces, options);
}

/** Shows text that has waited long enough. */
export function lookAtCaptions(given: Captions, options: CaptionOptions, now: number): CaptionStep {
  let captions = given;
  const appends: Append[] = [];
  for (const [name, voice] of Object.entries(given.voices)) {
    const step = lookAtTrack(voice.track, voice.language, now);
    const voices = { ...captions.voices, [name]: { ...voice, track: step.track } };
    const shown = append({ ...captions, voices }, name, step.pieces, options);
    captions = shown.captions;
    appends.push(...shown.appends);
  }
  return { captions, appends };
}

/** When `lookAtCaptions` is due; null: after the next caption. */
export function captionsDueAt({ voices }: Captions): number | null {
  const moments = Object.values(voices).flatMap(({ track }) => nextLookAt(track) ?? []);
  return moments.length === 0 ? null : Math.min(...moments);
}

/** The conversation has ended: all its captions are removed, and late texts of its sentences are ignored. */
export function forgetCaptions({ voices, diverged }: Captions): Captions {
  const kept = Object.entries(voices).map(([name, { track, ...voice }]) => {
    const open = track.sentences.flatMap(({ key }) => (key === null ? [] : [key]));
    const forgotten = { ...EMPTY_TRACK, finished: [...track.finished, ...open] };
    return [name, { ...voice, track: forgotten }] as const;
  });
  return { ...NO_CAPTIONS, voices: Object.fromEntries(kept), diverged };
}

/** The column in which a caption is shown: that of its own language, otherwise that of the lane's source or first target. */
function shownLanguage({ kind, language }: Caption, { source, targets }: LaneLanguages): string {
  const [target = source] = targets;
  const usual = kind === 'source' ? source : target;
  const all = kind === 'source' ? [source, ...targets] : [...targets, source];
  const same = all.find((one) => one.toLowerCase() === language.toLowerCase());
  return same ?? all.find((one) => !differ(one, language)) ?? usual;
}

function append(
  given: Captions,
  voice: string,
  pieces: readonly Piece[],
  { masksProfanity }: CaptionOptions,
): CaptionStep {
  const { language = 'en', isSpoken = false } = given.voices[voice] ?? {};
  let lastVoice = given.lastVoice[language];
  const appends = pieces.map(({ text, starts, startsSentence }): Append => {
    const breaks = startsSentence || lastVoice !== voice;
    const joins = starts && !breaks && usesBlanks(language);
    lastVoice = voice;
    const shown = masksProfanity ? maskProfanity(text, language) : text;
    return { language, text: joins ? ` ${shown}` : shown, breaks, isSpoken };
  });
  if (lastVoice === undefined) return { captions: given, appends };
  return { captions: { ...given, lastVoice: { ...given.lastVoice, [language]: lastVoice } }, appends };
}
