import { lengthOf } from './piece.ts';
import type { Part, ReplayLog, Sentence, Spoken } from './record.ts';

/** Speech per letter of text (ms), until the pace is measured: most languages need 60 to 75. */
export const MS_PER_LETTER = 65;
/** Number of finished sentences after which the measured pace is used. */
const SENTENCES_TO_MEASURE = 3;
/** Smallest share of the expected length with which a translation counts as spoken: speaking rates differ by less than a factor of two. */
const LEAST_SHARE = 0.5;
/** Share of a sentence that its parts must cover, where the service gives the times of both. */
const COVERED_SHARE = 0.8;
/** Gap (ms) in the sound of a sentence after which no more sound is expected, if the stream is known to work. */
export const CUT_AFTER_MS = 5000;
/** Number of marked ends after which a service is trusted to mark every end. */
export const ENDS_TO_TRUST = 3;

export function spokenIn({ languages }: Sentence, language: string | null): Spoken {
  const known = languages.find((one) => one.language === language);
  return known ?? { language, parts: [], textAt: null, soundAt: null };
}

export function msOf({ parts }: Spoken): number {
  return parts.reduce((sum, { ms }) => sum + ms, 0);
}

export function lettersOf({ parts }: Spoken): number {
  return parts.reduce((sum, { letters }) => sum + letters, 0);
}

/** Expected duration of the sentence's sound (ms); null: its text is unknown. */
function expectedMs(spoken: Spoken, { pace }: ReplayLog): number | null {
  const letters = lettersOf(spoken);
  if (letters === 0) return null;
  return letters * (pace.sentences >= SENTENCES_TO_MEASURE ? pace.ms / pace.letters : MS_PER_LETTER);
}

/** Whether every known part is over. */
export function isOver({ parts }: Spoken): boolean {
  return parts.length > 0 && parts.every(({ over }) => over);
}

/** Whether a part has sound, and at least half of the length that its text suggests. */
export function isSaidPart(part: Part, spoken: Spoken, log: ReplayLog): boolean {
  return part.ms > 0 && !isShort({ ...spoken, parts: [part] }, log);
}

/** Whether another part is still due: by their times, the spoken parts do not cover the sentence. */
export function lacksPart({ span }: Sentence, spoken: Spoken, log: ReplayLog): boolean {
  const { parts } = spoken;
  if (span === null || parts.length === 0 || parts.some((part) => part.span === null)) return false;
  const covered = parts.flatMap((part) =>
    part.span !== null && isSaidPart(part, spoken, log) ? [part.span] : [],
  );
  return lengthOf(covered) < lengthOf([span]) * COVERED_SHARE;
}

/** Whether less than half of the expected sound has arrived. */
export function isShort(spoken: Spoken, log: ReplayLog): boolean {
  const expected = expectedMs(spoken, log);
  return expected !== null && msOf(spoken) < expected * LEAST_SHARE;
}

/** Rule 9: whether a sentence is spoken in a language. */
export function isSaid(sentence: Sentence, spoken: Spoken, log: ReplayLog): boolean {
  return (msOf(spoken) > 0 || isOver(spoken)) && !isShort(spoken, log) && !lacksPart(sentence, spoken, log);
}

/** Share of the sentence that was spoken (0 to 1), as far as is known; the missing speech is computed from it. */
export function shareSpoken(spoken: Spoken, log: ReplayLog): number {
  const ms = msOf(spoken);
  const expected = expectedMs(spoken, log);
  if (ms === 0) return isOver(spoken) && expected === null ? 1 : 0;
  if (expected === null) return 1;
  const share = Math.min(1, ms / expected);
  const isUnmarked = !isOver(spoken) && log.endsMarked >= ENDS_TO_TRUST;
  return share < LEAST_SHARE || isUnmarked ? share : 1;
}

/** The targets in which a sentence was spoken. */
export function languagesSaid(sentence: Sentence, log: ReplayLog): readonly string[] {
  if (isSaid(sentence, spokenIn(sentence, null), log)) return log.targets;
  return log.targets.filter((target) => isSaid(sentence, spokenIn(sentence, target), log));
}

export function isSaidInAll(sentence: Sentence, log: ReplayLog): boolean {
  return languagesSaid(sentence, log).length >= (log.either ? 1 : log.targets.length);
}

/** Whether no further sound of the sentence is expected in any language. */
export function isComplete(sentence: Sentence, { targets, either }: ReplayLog): boolean {
  const isOverIn = (language: string | null): boolean => isOver(spokenIn(sentence, language));
  return isOverIn(null) || (either ? targets.some(isOverIn) : targets.every(isOverIn));
}

/** Whether the sentence's sound has started, and more is expected. */
export function isSpeaking({ sentences }: ReplayLog, now: number): boolean {
  const isOpen = (spoken: Spoken): boolean =>
    spoken.soundAt !== null && now - spoken.soundAt < CUT_AFTER_MS && !isOver(spoken);
  return sentences.some(({ languages }) => languages.some(isOpen));
}

/** Whether less than half of a translation has arrived, or no sound at all although its language is spoken. */
export function hasUnfinished(log: ReplayLog): boolean {
  return log.sentences.some(({ languages }) =>
    languages.some((spoken) => {
      if (spoken.soundAt !== null) return isShort(spoken, log);
      return spoken.textAt !== null && log.voices.some(({ language }) => language === spoken.language);
    }),
  );
}
