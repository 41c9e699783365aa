import { continuationOf } from './continuation.ts';
import { plainCaption } from './plain-caption.ts';
import { segmentsOf } from './words.ts';

/** A text from the service: the whole sentence so far. */
export interface CaptionText {
  /** Name of the sentence, or of its part; null: the service gives none. */
  readonly key: string | null;
  /** Name of the sentence to which a part belongs. Default: `key`. */
  readonly sentence?: string | null;
  readonly text: string;
  readonly isFinal: boolean;
}

/** `shown` only grows: text that is shown never changes. */
interface Sentence {
  readonly key: string | null;
  readonly sentence: string | null;
  /** The text that may be shown. */
  readonly shown: string;
  /** The last partial text: words are shown when the next one agrees. */
  readonly last: string;
  readonly isFinal: boolean;
  readonly hasDiverged: boolean;
  readonly updatedAt: number;
}

/** The captions of one speaker in one language: sentences one after the other, in the order of their first text. */
export interface VoiceTrack {
  /** The first sentence is on the screen, up to `emitted`; later sentences wait until it ends. */
  readonly sentences: readonly Sentence[];
  readonly emitted: number;
  /** Keys of finished sentences, whose late texts are ignored. */
  readonly finished: readonly string[];
  /** Name of the sentence that was shown last; null: it has none, or nothing was shown. */
  readonly lastSentence: string | null;
}

export const EMPTY_TRACK: VoiceTrack = { sentences: [], emitted: 0, finished: [], lastSentence: null };

/** A piece of text to append to the screen. */
export interface Piece {
  readonly text: string;
  /** The piece begins a text of the service: a sentence, or a part of one. */
  readonly starts: boolean;
  /** The piece begins a sentence. */
  readonly startsSentence: boolean;
}

export interface TrackStep {
  readonly track: VoiceTrack;
  readonly pieces: readonly Piece[];
  /** Number of sentences in which the service has changed words that were already shown. */
  readonly diverged: number;
}

/** Time (ms) for which a sentence without updates delays the next sentence: final texts arrive within two seconds. */
const PATIENCE_MS = 3000;
/** Maximum number of sentences that wait behind an unfinished sentence. */
const MOST_WAITING = 4;
const KEPT_KEYS = 32;

/** Takes a text of the service. */
export function takeText(given: VoiceTrack, said: CaptionText, language: string, now: number): TrackStep {
  if (said.key !== null && given.finished.includes(said.key))
    return { track: given, pieces: [], diverged: 0 };
  const isNamed = said.key !== null;
  const index = given.sentences.findIndex(({ key, isFinal }) => key === said.key && (isNamed || !isFinal));
  const before = given.sentences[index] ?? newSentence(said, now);
  // A late partial does not replace a final text.
  if (before.isFinal) return { track: given, pieces: [], diverged: 0 };
  const after = update(before, { ...said, text: plainCaption(said.text) }, language, now);
  const sentences = index < 0 ? [...given.sentences, after] : given.sentences.with(index, after);
  const diverged = after.hasDiverged && !before.hasDiverged ? 1 : 0;
  const step = showDue({ ...given, sentences }, language, now);
  return { ...step, diverged };
}

/** Shows text that an unfinished sentence has held back for too long. */
export function lookAtTrack(track: VoiceTrack, language: string, now: number): TrackStep {
  return { ...showDue(track, language, now), diverged: 0 };
}

/** When `lookAtTrack` is due; null: after the next text. */
export function nextLookAt({ sentences }: VoiceTrack): number | null {
  const [first] = sentences;
  return first === undefined || sentences.length < 2 ? null : first.updatedAt + PATIENCE_MS;
}

function newSentence({ key, sentence = key }: CaptionText, now: number): Sentence {
  return { key, sentence, shown: '', last: '', isFinal: false, hasDiverged: false, updatedAt: now };
}

function update(sentence: Sentence, said: CaptionText, language: string, now: number): Sentence {
  const { shown, last } = sentence;
  const { text, isFinal } = said;
  const sure = isFinal ? text : agreedStart(last, text, shown, language);
  const { rest, diverges } = continuationOf(shown, sure, language);
  const isShorter = isFinal && sure.length < shown.length;
  return {
    ...sentence,
    shown: shown + rest,
    last: text,
    isFinal,
    hasDiverged: sentence.hasDiverged || diverges || isShorter,
    updatedAt: now,
  };
}

/** The words at the beginning in which two partial texts agree. */
function agreedStart(last: string, text: string, shown: string, language: string): string {
  // Only the part after the shown text is cut into words, because partial texts come four times a second.
  const known = last.startsWith(shown) && text.startsWith(shown) ? shown.length : 0;
  const before = segmentsOf(last.slice(known), language);
  let end = known;
  for (const [index, segment] of segmentsOf(text.slice(known), language).entries()) {
    if (before[index]?.text !== segment.text) break;
    end += segment.text.length;
  }
  return text.slice(0, end).trimEnd();
}

function showDue(given: VoiceTrack, language: string, now: number): { track: VoiceTrack; pieces: Piece[] } {
  const pieces: Piece[] = [];
  let { sentences, emitted, finished, lastSentence } = given;
  while (true) {
    const [first, ...later] = sentences;
    if (first === undefined) break;
    const isOverdue = later.length > 0 && now >= first.updatedAt + PATIENCE_MS;
    const isGivenUp = !first.isFinal && (isOverdue || later.length > MOST_WAITING);
    const shown = isGivenUp
      ? first.shown + continuationOf(first.shown, first.last, language).rest
      : first.shown;
    if (shown.length > emitted) {
      const starts = emitted === 0;
      const startsSentence = starts && (first.sentence === null || first.sentence !== lastSentence);
      pieces.push({ text: shown.slice(emitted), starts, startsSentence });
      lastSentence = first.sentence;
    }
    emitted = shown.length;
    if (!first.isFinal && !isGivenUp) break;
    sentences = later;
    emitted = 0;
    if (first.key !== null) finished = [...finished, first.key].slice(-KEPT_KEYS);
  }
  return { track: { sentences, emitted, finished, lastSentence }, pieces };
}
