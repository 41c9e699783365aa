import { claim, MOST_KNOWN, withoutClaim, withoutPartial } from './claims.ts';
import { targetOf } from './language-tags.ts';
import { isQuiet, type Span } from './piece.ts';
import type { Part, ReplayLog, Sentence, Spoken } from './record.ts';
import { keepPieces } from './replay-log.ts';
import { placePart } from './segment-times.ts';
import { isComplete, isOver, isSaidInAll, isShort, lettersOf, msOf, spokenIn } from './sentence.ts';

/** In sound without ids, a gap of this length (ms) separates two sentences: the service sends a sentence as a burst. */
export const OTHER_SOUND_MS = 1000;

/** A piece of translated sound. */
export interface Sound {
  readonly id: string | null;
  readonly part: string | null;
  readonly language: string | null;
  readonly ms: number;
  /** The service marks this sound as the last of its part. */
  readonly last: boolean;
}

/** The text of a translation, or of a part of one. */
export interface TranslatedText {
  readonly id: string | null;
  readonly part: string | null;
  readonly language: string;
  readonly letters: number;
  readonly span: Span | null;
}

/** Updates a sentence's record in a language; creates the record of an unknown sentence. */
export function changeSpoken(
  log: ReplayLog,
  id: string,
  language: string | null,
  how: (spoken: Spoken) => Spoken,
): ReplayLog {
  const known: Sentence = log.sentences.find((one) => one.id === id) ?? { id, span: null, languages: [] };
  const languages = known.languages.filter((one) => one.language !== language);
  const next = { ...known, languages: [...languages, how(spokenIn(known, language))] };
  return { ...log, sentences: [...log.sentences.filter((one) => one.id !== id), next].slice(-MOST_KNOWN) };
}

function withPart(spoken: Spoken, id: string | null, how: (part: Part) => Part): Spoken {
  const { parts } = spoken;
  const known = parts.find((part) => part.id === id) ?? parts.find((part) => part.id === null || id === null);
  const part = how(known ?? { id, letters: 0, ms: 0, span: null, over: false });
  const next = known ? parts.map((one) => (one === known ? part : one)) : [...parts, part];
  return { ...spoken, parts: next.slice(-MOST_KNOWN) };
}

/** Notes a translated text, from which the length of its sound is estimated. */
export function noteText(log: ReplayLog, text: TranslatedText, now: number): ReplayLog {
  const { id, part, language, letters } = text;
  if (id === null || log.withdrawn.includes(id) || log.said.some((one) => one.id === id)) return log;
  if (isForgotten(log, id)) return log;
  const span = placePart(log, text.span);
  return changeSpoken(log, id, targetOf(language, log.targets), (spoken) => ({
    ...withPart(spoken, part, (one) => ({ ...one, letters, span })),
    textAt: now,
  }));
}

/** Notes translated sound. @returns `isRepeat`: it was played before, and must not be played again */
export function noteSound(
  given: ReplayLog,
  { id, part, language: tag, ms, last }: Sound,
  now: number,
): { log: ReplayLog; isRepeat: boolean } {
  const log = withoutPartial(given, id);
  if (id === null) return { log: noteNameless(log, now), isRepeat: false };
  if (log.withdrawn.includes(id)) return { log, isRepeat: true };
  const language = targetOf(tag, log.targets);
  const before = log.said.find((one) => one.id === id);
  if (before !== undefined) return { log, isRepeat: language !== null && before.repeats.includes(language) };
  // Without its record, it is unknown whether the sentence is complete: the speech that it claims stays owed.
  if (isForgotten(log, id)) return { log, isRepeat: false };
  const claimed = log.known.includes(id) || log.writes ? log : claim(log, { id, span: null });
  const isRepeat = language !== null && wasSaidBefore(claimed, id, language);
  const voices = [...log.voices.filter((one) => one.language !== language), { language, soundAt: now }];
  const heard = changeSpoken({ ...claimed, voices }, id, language, (spoken) => ({
    ...withPart(spoken, part, (one) => ({ ...one, ms: one.ms + ms, over: one.over || last })),
    soundAt: now,
  }));
  return { log: settle(last ? noteEnd(heard, id, language) : heard, id), isRepeat };
}

/** Whether the record of a sentence that claims speech had to make room for others. */
function isForgotten({ sentences, pieces }: ReplayLog, id: string): boolean {
  return !sentences.some((one) => one.id === id) && pieces.some(({ claims }) => claims.includes(id));
}

/** The service has marked the end of a part. */
function noteEnd(log: ReplayLog, id: string, language: string | null): ReplayLog {
  const sentence = log.sentences.find((one) => one.id === id);
  if (sentence === undefined) return log;
  const pace = measured(log, spokenIn(sentence, language));
  return { ...log, endsMarked: log.endsMarked + 1, pace };
}

/** The pace of the service's voice, with one more complete sentence. */
function measured(log: ReplayLog, spoken: Spoken): ReplayLog['pace'] {
  const letters = lettersOf(spoken);
  const { pace } = log;
  if (!isOver(spoken) || letters === 0 || isShort(spoken, log)) return pace;
  return { sentences: pace.sentences + 1, ms: pace.ms + msOf(spoken), letters: pace.letters + letters };
}

function wasSaidBefore({ pieces }: ReplayLog, id: string, language: string): boolean {
  const own = pieces.filter((piece) => piece.claims.includes(id) && !isQuiet(piece));
  return own.length > 0 && own.every(({ chunk }) => chunk.said?.includes(language) === true);
}

/** A sentence that was spoken completely in every language needs no record any more. */
export function settle(log: ReplayLog, id: string): ReplayLog {
  const sentence = log.sentences.find((one) => one.id === id);
  if (sentence === undefined || !isComplete(sentence, log) || !isSaidInAll(sentence, log)) return log;
  const repeats = log.targets.filter((target) => wasSaidBefore(log, id, target));
  const others = log.pieces.filter(({ claims }) => claims.length !== 1 || claims[0] !== id);
  const said = [...log.said, { id, repeats }].slice(-MOST_KNOWN);
  const sentences = log.sentences.filter((one) => one !== sentence);
  return { ...withoutClaim({ ...log, pieces: others }, id), said, sentences };
}

/**
 * Rule 10: sound without an id counts for all claimed speech. If none is claimed, and the sound follows a second without
 * sound, it counts for all speech before the last pause.
 */
function noteNameless(given: ReplayLog, now: number): ReplayLog {
  const begins = given.namelessAt === null || now - given.namelessAt >= OTHER_SOUND_MS;
  const isAwaited = given.pieces.some(({ claims }) => claims.length > 0);
  const log = begins && !isAwaited ? claim(given, { id: null, span: null }) : given;
  const rest = log.pieces.filter(({ claims }) => claims.length === 0);
  return { ...keepPieces(log, rest), namelessAt: now };
}
