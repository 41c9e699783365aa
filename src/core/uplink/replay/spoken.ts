import { withSound, withText } from './balance.ts';
import { awaitText, hearRun, noteTextBehind, OTHER_SOUND_MS } from './nameless.ts';
import {
  isPartOpen,
  joined,
  MOST_PARTS,
  partKey,
  placePart,
  settlePart,
  withPartSound,
  withPartText,
} from './parts.ts';
import { isQuiet, noisesIn, type Piece, type Span } from './piece.ts';
import {
  isNameless,
  type Part,
  type ReplayLog,
  type SaidSentence,
  SETTLED,
  type Sentence,
  type Spoken,
  type Voice,
} from './record.ts';
import { keepPieces } from './replay-log.ts';
import {
  allSaid,
  differ,
  isComplete,
  isShort,
  isUnderWay,
  judgeSound,
  owesVoice,
  primaryOf,
  spokenIn,
  targetOf,
  withSpoken,
} from './sentence.ts';
import { markUnderstood, withSentence } from './understood.ts';
import { lastPause } from './without-times.ts';

export const MOST_NAMED = 16;

/** Translated sound as it came. */
export interface Sound {
  /** The service's name for the sentence; null: it gives none. */
  readonly id: string | null;
  /** Its number for the part of the translation; left out or null: it gives none. */
  readonly part?: string | null;
  readonly language: string | null;
  readonly ms: number;
  /** Nothing more of the part comes in this language. */
  readonly last: boolean;
  /** A piece that has come before comes once more: it makes the sentence no longer. */
  readonly isTwin?: boolean;
}

/** The text of a translation as it came. */
export interface Text {
  readonly id: string | null;
  readonly part?: string | null;
  readonly language: string;
  readonly letters: number;
  /** The stretch of the service's audio that it translates, as it is told; left out or null: it is not. */
  readonly span?: Span | null;
}

/** The text of a translation has come: how long it will sound can be calculated from it. */
export function noteText(log: ReplayLog, text: Text, now: number): ReplayLog {
  const { id, part = null, letters, span = null } = text;
  if (isOfBefore(text.language, log)) return log;
  if (id === null) return noteNamelessText(log, text, now);
  // It is being said once more: by another name.
  if (log.withdrawn.includes(id)) return log;
  const language = targetOf(text.language, log.targets);
  // It has been said to its end: its text comes behind that.
  if (isSaidToItsEnd(log, id, language, part)) return log;
  const told = { part, letters, span: placePart(log, span) };
  const noted = change(withSentence(log, id), id, language, (spoken) => withPartText(spoken, told, now));
  return settlePart(noted, id, language, part).log;
}

/** Whether it is in a language that was wanted before the last change, and is not any more. */
function isOfBefore(tag: string, { targets, before }: ReplayLog): boolean {
  return (
    before.targets.some((target) => primaryOf(target) === primaryOf(tag)) &&
    targets.every((target) => differ(target, tag))
  );
}

/** Whether this part of it had ended when the sentence was said to its end. */
function isSaidToItsEnd(log: ReplayLog, id: string, language: string | null, part: string | null): boolean {
  const said = log.said.find((one) => one.id === id);
  if (said === undefined) return false;
  // Another part of it may have come since.
  if (part !== null && said.parts.includes(partKey(language, part))) return true;
  if (log.sentences.some((one) => one.id === id)) return false;
  const isUnnumbered = part === null || said.parts.includes(partKey(language, null));
  return isUnnumbered ? said.isUntold : said.parts.includes(partKey(language, part));
}

/** A text without a name has come: behind its sound, where there was more of that than other texts had promised. */
function noteNamelessText(log: ReplayLog, { language, letters }: Text, now: number): ReplayLog {
  const { balance, isSpoken } = withText(log.balance, letters, now);
  const id = `#${log.namelessCount}`;
  const own = log.pieces.filter((piece) => piece.sentence === id && !isQuiet(piece));
  const saidAt = own.at(-1)?.sentAt;
  if (isSpoken && saidAt === undefined) return { ...log, balance, nameless: noteTextBehind(log, language) };
  // No sound speaks what was said after it.
  const isBehind = isSpoken && saidAt !== undefined && log.soundAt !== null && saidAt < log.soundAt;
  if (!isBehind) return { ...log, balance, nameless: awaitText(log, language, letters, now) };
  const rest = log.pieces.filter(({ sentence }) => sentence !== id);
  return { ...keepPieces(log, rest), balance, nameless: noteTextBehind(log, language) };
}

/**
 * Translated sound has come. Without a name it is for everything that was understood, or will be next.
 * @returns `isRepeat`: the sentence was said in this language before, on a stream that broke off
 */
export function noteSound(log: ReplayLog, sound: Sound, now: number): { log: ReplayLog; isRepeat: boolean } {
  const { id } = sound;
  if (id === null) return { log: noteNameless(log, sound, now), isRepeat: false };
  // It is being said once more: what comes late of the first try would be heard twice.
  if (log.withdrawn.includes(id)) return { log, isRepeat: true };
  const isTwin = sound.isTwin === true;
  if (isTwin && isSettled(log, id)) return { log, isRepeat: false };
  // What is spoken has been understood, whether or not the service has said so by now.
  const told = log.known.includes(id) ? log : markUnderstood(log, { id, span: null });
  const own = told.pieces.filter(({ sentence }) => !isNameless(sentence));
  const language = targetOf(sound.language, log.targets);
  const part = sound.part ?? null;
  const voices = withVoice(told, sentenceOf(told, id), language, now);
  const kept = { ...keepPieces(told, own), voices, twins: isTwin ? id : told.twins };
  const heard = change(withSentence(kept, id), id, language, (spoken) =>
    withPartSound(spoken, { part, ms: isTwin ? 0 : sound.ms, last: sound.last }, now),
  );
  const isRepeat = isSaidBefore(told, id, language);
  // What comes once more of a part that has ended tells nothing of how long it was.
  const isEnd = sound.last && isPartOpen(spokenIn(sentenceOf(told, id), language), part);
  if (!isEnd) return { log: settle(heard, id), isRepeat };
  const marked = { ...heard, endsMarked: heard.endsMarked + 1 };
  const { log: rest, settled } = settlePart(marked, id, language, part);
  const ended = settled === null ? spokenIn(sentenceOf(rest, id), language).parts : [settled];
  const isWhole = settled !== null || spokenIn(sentenceOf(rest, id), language).complete;
  // What comes twice lasts twice as long as it should.
  const isMeasure = isWhole && rest.twins !== id;
  return { log: settle(isMeasure ? learnPace(rest, ended) : rest, id), isRepeat };
}

function withVoice(
  { voices }: ReplayLog,
  sentence: Sentence,
  tag: string | null,
  now: number,
): readonly Voice[] {
  const language = tag ?? '';
  const before = voices.find((one) => one.language === language);
  const textAt = Math.max(before?.textAt ?? Number.NEGATIVE_INFINITY, spokenIn(sentence, tag).textAt ?? 0);
  return [...voices.filter((one) => one !== before), { language, soundAt: now, textAt }];
}

function isSettled(log: ReplayLog, id: string): boolean {
  return log.said.some((one) => one.id === id) && !log.sentences.some((one) => one.id === id);
}

/** Changes what is known of a sentence in a language. */
export function change(
  log: ReplayLog,
  id: string,
  language: string | null,
  how: (spoken: Spoken) => Spoken,
): ReplayLog {
  const sentences = log.sentences.map((sentence) =>
    sentence.id === id ? withSpoken(sentence, how(spokenIn(sentence, language))) : sentence,
  );
  return { ...log, sentences };
}

function sentenceOf(log: ReplayLog, id: string): Sentence {
  return (
    log.sentences.find((sentence) => sentence.id === id) ?? { id, languages: [], span: null, letters: null }
  );
}

/** What has no text yet, or no sound, tells nothing of how long a letter lasts. */
function learnPace(log: ReplayLog, parts: readonly Part[]): ReplayLog {
  const told = parts.filter((part) => part.letters > 0 && part.ms > 0);
  const heard = {
    letters: told.reduce((sum, part) => sum + part.letters, 0),
    ms: told.reduce((sum, part) => sum + part.ms, 0),
  };
  if (isShort(heard, log)) return log;
  const { sentences, ms, letters } = log.pace;
  return { ...log, pace: { sentences: sentences + 1, ms: ms + heard.ms, letters: letters + heard.letters } };
}

/** A sentence that has been said to its end in every language needs no record any more. */
export function settle(log: ReplayLog, id: string): ReplayLog {
  const sentence = sentenceOf(log, id);
  const isDone = isComplete(sentence, log) && allSaid(sentence, log);
  if (!isDone && !isLastPart(sentence, log)) return log;
  const isOpen = (next: string | null): boolean =>
    next === null || (next !== id && log.sentences.some((one) => one.id === next));
  const pieces = log.pieces.flatMap((piece): readonly Piece[] => {
    const { sentence: own, seam, chunk } = piece;
    if (own !== id && (own !== SETTLED || seam?.next !== id)) return [piece];
    // That the end of it was said before has to be known of the next one, which may begin with it, or owes it.
    const isKnown = chunk.said !== undefined || seam?.isOfWritten === true;
    const isShared = isKnown && seam !== undefined && isOpen(seam.next);
    // Whether another sentence follows in this breath is not known while nothing of it is written down.
    const isOfNext = seam?.next === null && piece.group === log.group;
    return isShared || isOfNext ? [{ ...piece, sentence: SETTLED }] : [];
  });
  return {
    ...log,
    pieces,
    said: withSaid(log, sentence),
    sentences: log.sentences.filter((one) => one.id !== id),
  };
}

/** Whether it was said before, in every language, and no more than a further part of it has come since, to its end. */
function isLastPart({ id, languages }: Sentence, log: ReplayLog): boolean {
  if (languages.length === 0 || !log.said.some((one) => one.id === id)) return false;
  return languages.every(({ complete }) => complete) && !log.pieces.some(({ sentence }) => sentence === id);
}

function withSaid(log: ReplayLog, { id, languages, span }: Sentence): readonly SaidSentence[] {
  const { said, targets } = log;
  const before = said.find((one) => one.id === id);
  const isUntold = (before?.isUntold ?? true) && languages.every(({ letters }) => letters === 0);
  const parts = languages.flatMap(({ language, parts }) => parts.map((part) => partKey(language, part.id)));
  const known = [...(before?.parts ?? []), ...parts].slice(-MOST_PARTS);
  const repeats = targets.filter((target) => isSaidBefore(log, id, target));
  const ended = { id, isUntold, parts: known, span: joined(before?.span ?? null, span), repeats };
  return [...said.filter((one) => one !== before), ended].slice(-MOST_NAMED);
}

/** Sound without a name is for everything that was understood; word of a sentence can come behind its sound. */
function noteNameless(given: ReplayLog, { ms, language, isTwin = false }: Sound, now: number): ReplayLog {
  const isOther = given.soundAt === null || now - given.soundAt >= OTHER_SOUND_MS;
  const isAwaited = given.pieces.some(({ sentence }) => sentence !== null);
  const isOpen = given.pieces.some((piece) => !isQuiet(piece));
  const isAhead = isOther ? given.isTold && !isAwaited && isOpen : given.isAhead;
  const aheadMs = isOther && isAhead ? (lastPause(given) ?? given.aheadMs) : given.aheadMs;
  const balance = withSound(given.balance, isTwin ? 0 : ms, isOther, now);
  const log = { ...given, soundAt: now, isAhead, aheadMs, balance };
  // Sound that goes on as its text has promised says nothing of what was said meanwhile.
  const isPromised = !isOther && balance.promisedMs > 0;
  const isSilent = !log.isTold && !isAwaited && !isPromised;
  const told = isSilent ? markUnderstood(log, { id: null, span: null }) : log;
  const spoken = told.pieces.filter(({ sentence }) => sentence !== null);
  const rest = told.pieces.filter(({ sentence }) => sentence === null);
  return {
    ...keepPieces(told, rest),
    nameless: hearRun(told, { language, ms, isTwin, pieces: spoken }, now),
  };
}

/** Whether it is of this sentence, or may be. */
function isPartOf({ sentence, seam }: Piece, id: string): boolean {
  return sentence === id || seam?.next === id;
}

/** Whether a sentence of this stream was said in this language before, on a stream that broke off. */
function isSaidBefore(log: ReplayLog, id: string, language: string | null): boolean {
  if (language === null) return false;
  // Another part of it may come when it seemed to have been said to its end.
  if (log.said.some((one) => one.id === id && one.repeats.includes(language))) return true;
  const own = log.pieces.filter((piece) => isPartOf(piece, id) && !isQuiet(piece));
  // Nothing is left for it: it is the end of what has just been said, which the service has cut.
  const isEnd = own.length === 0 && log.known.at(-1) === id && log.known.at(-2) === log.said.at(-1)?.id;
  if (isEnd && log.said.at(-1)?.repeats.includes(language) === true) return true;
  const isNoise = noisesIn(own);
  const isSaid = ({ chunk }: Piece): boolean => chunk.said?.includes(language) === true;
  return own.some(isSaid) && own.every((piece) => isSaid(piece) || isNoise(piece));
}

/** Whether it has begun to speak a sentence of which next to nothing came. */
export function owesRest(log: ReplayLog): boolean {
  return log.sentences.some(({ languages }) =>
    languages.some((spoken) => judgeSound(spoken, log) === 'stub'),
  );
}

/** Whether it has written down a translation, or spoken a part of it, and has not begun with the rest. */
export function owesTranslation(log: ReplayLog): boolean {
  return log.sentences.some((sentence) => owesVoice(sentence, log));
}

/** Whether it has begun to speak a sentence, and has not come to its end. */
export function isSpeaking(log: ReplayLog): boolean {
  return log.sentences.some((sentence) => isUnderWay(sentence, log));
}
