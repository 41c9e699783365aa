import type { LeftOut } from './left-out.ts';
import { isOrderly } from './nameless.ts';
import { placePart } from './parts.ts';
import { passedOverBy } from './passed-over.ts';
import { isQuiet, type Piece, type Span } from './piece.ts';
import { type Interim, interimOf, type ReplayLog } from './record.ts';
import { countSpeech, FORGOTTEN_AFTER_MS, owedSpeech, owedSpeechIn } from './replay-log.ts';
import { addSpeech, lessSpeech, NO_SPEECH, type SpeechCount } from './speech-count.ts';
import { placeSpan } from './times.ts';

/**
 * Sentences of which no more than interim texts have come. A service may take such a text back, and write the same speech down
 * in another sentence; or it leaves the speech out, and goes on with the next as if nothing had been said. What is left out is
 * to be told: speech for which interim texts came, and neither a final text, nor sound, nor another sentence that covers it.
 */

/** No more are under way at a time. */
const MOST_INTERIMS = 8;
/** A sentence goes on for so long after its last interim text. */
const TAIL_MS = 1000;
/** And so much may have been said in it by then that is in none. */
const UNWRITTEN_MS = 1500;
/** A new sentence that begins with so much of the text of the one before is the same under another name. */
const SAME_SHARE = 0.6;
/** Begins our names for sentences to which the service gives none, and behind which it has begun another one. */
const SET_ASIDE = '~';
/** What other sentences cover so far has not been left out. */
const COVERED_SHARE = 0.5;
/** So shortly after its last interim text a sentence is being written down. */
const UNDER_WAY_MS = 5000;
/** Sound without a name that came so long before a text may be of it: texts come late. */
const SOUND_BEFORE_MS = 10_000;
/** Seconds are rounded as they are told. */
const ROUNDING_MS = 40;
/** About three seconds. */
const LEAST_SPEECH_CHUNKS = 10;
/** A service that has fallen silent is left for that by then, or nobody speaks to it any more. */
const LEFT_WITHIN_MS = 120_000;
/** Sound is sent in chunks, and a sentence begins somewhere in one. */
const EDGE_MS = 320;

/** An interim text as it came. */
export interface InterimText {
  readonly id: string | null;
  readonly letters: number;
  /** Which stretch of the service's audio it covers so far; left out or null: not told. */
  readonly span?: Span | null;
}

/** The service has understood this much of a sentence that goes on. */
export function notePartial(given: ReplayLog, text: InterimText, now: number): ReplayLog {
  const { id, letters } = text;
  if (letters === 0 || (id !== null && isFinal(given, id))) return given;
  const log = closeOther(given, text);
  const known = log.interims.find((one) => one.id === id);
  const told = toldSpan(log, text.span ?? null);
  const more = letters - (known?.letters ?? 0);
  const same = log.interims.findLast((one) => one !== known && isSame(one, more, told));
  const others = log.interims.filter((one) => one !== known && one !== same);
  const begun = joined(known, same) ?? begin(log, told, now);
  const toMs = told?.toMs ?? log.sentMs;
  const counted = countTo(log, begun, told === null ? toMs : toMs + EDGE_MS);
  const next: Interim = {
    ...counted,
    id,
    letters,
    at: now,
    told,
    toMs: Math.max(counted.toMs, toMs),
    group: log.group,
  };
  return { ...log, interims: [...others, next].slice(-MOST_INTERIMS) };
}

/**
 * A text comes of what is said behind a pause. What was said on before that is of the sentence that was being written down, as far as no
 * times tell otherwise; and where the service gives no names, and the text is much shorter, it is of another one.
 */
function closeOther(log: ReplayLog, { id, letters }: InterimText): ReplayLog {
  const interims = log.interims.map((one): Interim => {
    if (one.group === log.group || one.told !== null) return one;
    const toMs = log.pieces.findLast(({ group }) => group === one.group)?.toMs ?? one.countedMs;
    const whole = countTo(log, one, toMs);
    const isOther = id === null && one.id === null && letters < one.letters * SAME_SHARE;
    return isOther ? { ...whole, id: `${SET_ASIDE}${one.since}` } : whole;
  });
  return { ...log, interims };
}

const isSetAside = ({ id }: Interim): boolean => id?.startsWith(SET_ASIDE) === true;

/** Speech goes on behind the last interim text. */
export function noteTail(log: ReplayLog): ReplayLog {
  const last = log.interims.at(-1);
  if (last === undefined || last.told !== null || last.group !== log.group) return log;
  const toMs = Math.min(log.sentMs, last.toMs + TAIL_MS);
  if (toMs <= last.countedMs) return log;
  return { ...log, interims: [...log.interims.slice(0, -1), countTo(log, last, toMs)] };
}

/** Goes on with these interim texts, and remembers the others. */
function keepInterims(log: ReplayLog, interims: readonly Interim[]): ReplayLog {
  const kept = new Set(interims.map(({ id }) => id));
  const left = log.interims.filter(({ id }) => !kept.has(id));
  return { ...log, interims, pastInterims: [...log.pastInterims, ...left].slice(-MOST_INTERIMS) };
}

function isFinal(log: ReplayLog, id: string): boolean {
  return log.known.includes(id) || log.said.some((one) => one.id === id);
}

/** Where the service tells that it lies in the stream's audio; null: it does not, or that can't be true. */
function toldSpan(log: ReplayLog, told: Span | null): Span | null {
  const isOpen = log.times.zeros.length > 1;
  const span = isOpen && told !== null ? placeSpan(log, told).span : placePart(log, told);
  if (span === null || span.toMs <= span.fromMs || span.fromMs < -ROUNDING_MS) return null;
  return span.toMs > log.sentMs + ROUNDING_MS ? null : span;
}

/** @param more how many letters the text has at once that it had not before */
function isSame(one: Interim, more: number, told: Span | null): boolean {
  if (told !== null && one.told !== null) return shareOf(one, told) >= COVERED_SHARE;
  return more >= one.letters * SAME_SHARE;
}

/** The text of one sentence has become part of another. */
function joined(one: Interim | undefined, other: Interim | undefined): Interim | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  const fromMs = Math.min(one.fromMs, other.fromMs);
  const since = Math.min(one.since, other.since);
  return { ...one, fromMs, since, speech: addSpeech(one.speech, other.speech) };
}

/** It begins where the service tells, or with the last stretch of speech; behind what was written down before. */
function begin(log: ReplayLog, told: Span | null, now: number): Interim {
  const behindMs = Math.max(0, ...log.interims.map(({ countedMs }) => countedMs));
  const first = log.pieces.find((piece) => isOpen(log, piece) && piece.group === log.group);
  const beginMs = told === null ? (first?.fromMs ?? log.sentMs) : told.fromMs - EDGE_MS;
  const fromMs = Math.max(behindMs, beginMs);
  return {
    ...{ id: null, letters: 0, told, group: log.group, since: now, at: now },
    ...{ fromMs, toMs: fromMs, countedMs: fromMs, speech: NO_SPEECH, coveredShare: 0 },
  };
}

/** Whether no other sentence has it for certain: the service may have cut one off before it. */
function isOpen(log: ReplayLog, { sentence, seam, toMs }: Piece): boolean {
  return sentence === null ? !log.isAhead || toMs > log.aheadMs : seam?.next === null;
}

/** Counts the speech that no other sentence has. */
function countTo(log: ReplayLog, interim: Interim, toMs: number): Interim {
  const { countedMs } = interim;
  const own = log.pieces.filter(
    (piece) => isOpen(log, piece) && !isQuiet(piece) && piece.fromMs >= countedMs && piece.fromMs < toMs,
  );
  const speech = addSpeech(interim.speech, countSpeech(log, own));
  return { ...interim, speech, countedMs: Math.max(countedMs, Math.min(toMs, log.sentMs)) };
}

/** Which share of it lies within a span. */
function shareOf({ told, fromMs, toMs }: Interim, span: Span): number {
  const own = told ?? { fromMs, toMs };
  const overlapMs = Math.min(own.toMs, span.toMs) - Math.max(own.fromMs, span.fromMs);
  return Math.max(0, overlapMs) / Math.max(1, own.toMs - own.fromMs);
}

/**
 * A whole sentence has come, and been noted: it covers its own interim texts, and others as far as it tells the same stretch
 * of sound, or without times is longer than its own interim text was.
 * @param letters of its text in the language that was spoken; 0: not known
 */
export function coverInterims(log: ReplayLog, { id, letters }: InterimText): ReplayLog {
  if (log.interims.length === 0) return log;
  const span = spanOf(log, id ?? `#${log.namelessCount}`);
  const own = interimOf(log, id);
  let spare = letters - (own === undefined ? 0 : lettersOf(own));
  // Without a name it may be of any of those that have none.
  const others = id === null && span === null ? log.interims.filter(isSetAside) : log.interims;
  const interims = others.flatMap((one): readonly Interim[] => {
    if (one === own) return [];
    const share = span === null ? spare / one.letters : shareOf(one, span);
    if (span === null) spare -= one.letters;
    const coveredShare = one.coveredShare + Math.max(0, share);
    if (coveredShare >= COVERED_SHARE) return [];
    // How long a sentence is beyond its own interim text is not known so well that several add up.
    return [span === null && own !== undefined ? one : { ...one, coveredShare }];
  });
  return keepInterims(log, interims);
}

/** How long its whole text may be: somebody has spoken on since its last interim text. */
function lettersOf({ letters, fromMs, toMs }: Interim): number {
  return letters * (1 + UNWRITTEN_MS / Math.max(UNWRITTEN_MS, toMs - fromMs));
}

function spanOf(log: ReplayLog, id: string): Span | null {
  return [...log.sentences, ...log.said].find((one) => one.id === id)?.span ?? null;
}

/**
 * Sound has come, and been noted: it covers the interim texts of its sentence; where it has no name, or one that no text has
 * told, all of them but those of what is being said now.
 */
export function coverBySound(before: ReplayLog, log: ReplayLog, id: string | null): ReplayLog {
  if (log.interims.length === 0) return log;
  const isOfText =
    id !== null &&
    (isFinal(before, id) || before.withdrawn.includes(id) || log.interims.some((one) => one.id === id));
  const isOther = ({ id: own }: Interim): boolean => own !== id;
  // It speaks what its own text promises, and of these no whole one has come.
  if (id === null && isOrderly(log)) return log;
  return keepInterims(log, isOfText ? log.interims.filter(isOther) : interimsBehind(before, id));
}

/**
 * Where the sentences begin that are being written down now, by the names and times of their interim texts; infinite: none
 * is known. One of which no text has come under its own name was cut off before them.
 */
export function beginOfWritten(log: ReplayLog, id: string | null): number {
  return Math.min(...interimsBehind(log, id).map(({ told }) => told?.fromMs ?? Number.POSITIVE_INFINITY));
}

function interimsBehind(log: ReplayLog, id: string | null): readonly Interim[] {
  const { interims, sentMs, said } = log;
  if (id === null || interims.some((one) => one.id === id)) return [];
  // The service has named a sentence alike in its interim texts and in its sound.
  if (!log.pastInterims.some((past) => said.some((one) => one.id === past.id))) return [];
  return interims.filter(
    (one) => one.id !== null && one.told !== null && sentMs - one.told.toMs < UNDER_WAY_MS,
  );
}

/** What the interim texts of a sentence tell of where it was cut in running speech. */
export interface Written {
  /** What had been sent when the last of them came, as far as its whole text has the same words: the cut lies behind that. */
  readonly toMs: number;
  /** When interim texts of another sentence of the same stretch of speech came since that do not tell where it begins; infinite: none. */
  readonly followedAt: number;
  /** They began before the last pause, and what they cover behind it is in doubt: the service may be late with them. */
  readonly isLate: boolean;
}

/**
 * Null: no interim text of it has come.
 * @param letters of its whole text: a service that cuts a long sentence takes the last words out of it that were in an interim one
 */
export function writtenOf(log: ReplayLog, id: string | null, letters: number | null): Written | null {
  const own = id === null ? undefined : interimOf(log, id);
  if (own === undefined) return null;
  const isNext = (one: Interim): boolean =>
    one !== own && one.id !== null && one.told === null && one.group === own.group && one.since > own.at;
  const stretch = log.pieces.find(({ group }) => group === log.group);
  const isLate = stretch !== undefined && own.fromMs < stretch.fromMs;
  const share = letters === null || letters >= own.letters ? 1 : letters / own.letters;
  const toMs = own.fromMs + (own.toMs - own.fromMs) * share;
  return { toMs, followedAt: Math.min(...log.interims.filter(isNext).map(({ since }) => since)), isLate };
}

/**
 * Takes what has been left out from the log: nothing more was heard of it for as long as anything is remembered, but of
 * something else.
 * @param settledAt what the service has written by then has come
 * @param newsAt when a text or sound came last
 */
export function takeLeftOut(
  log: ReplayLog,
  settledAt: number,
  newsAt: number | null,
): { readonly log: ReplayLog; readonly leftOut: readonly LeftOut[] } {
  const isUnanswered = unansweredIn(log, settledAt, newsAt);
  const isOver = (one: Interim): boolean =>
    settledAt - one.at >= FORGOTTEN_AFTER_MS && !isUnanswered(one) && owedIn(log, one).possible === 0;
  const over = log.interims.filter(isOver);
  const sentBy = settledAt - FORGOTTEN_AFTER_MS;
  const passedOver = log.passedOver.filter(({ at }) => at > sentBy);
  if (over.length === 0 && passedOver.length === log.passedOver.length) return { log, leftOut: [] };
  const interims = log.interims.filter((one) => !isOver(one));
  const leftOut = [...passedOverBy(log, sentBy), ...over.filter((one) => !maySound(log, one))];
  return { log: { ...keepInterims(log, interims), passedOver }, leftOut };
}

/** The speech of all sentences of which no more than interim texts have come. */
export function writtenSpeech({ interims }: ReplayLog): SpeechCount {
  return interims.map(({ speech }) => speech).reduce(addSpeech, NO_SPEECH);
}

/** Tells of which nothing has come since, nor of what was said besides: the service may have fallen silent, and be left for that. */
function unansweredIn(log: ReplayLog, settledAt: number, newsAt: number | null): (one: Interim) => boolean {
  const besides = log.unheard.possible + owedSpeech(log).possible - writtenSpeech(log).possible;
  return ({ at }) =>
    besides >= LEAST_SPEECH_CHUNKS &&
    at + UNDER_WAY_MS >= (newsAt ?? Number.NEGATIVE_INFINITY) &&
    settledAt - at < LEFT_WITHIN_MS;
}

/**
 * What the service has left out of a stream that ends.
 * @param isLast nothing that the stream has left is said again
 */
export function leftOutAtEnd(log: ReplayLog, now: number, isLast = false): readonly LeftOut[] {
  return [...passedOverBy(log, now), ...begunAtEnd(log, now, isLast)];
}

/** Takes from the log what the service has left out, as at its end: it is told. */
export function takeLeftOutAtEnd(
  log: ReplayLog,
  now: number,
): { readonly log: ReplayLog; readonly leftOut: readonly LeftOut[] } {
  const begun = begunAtEnd(log, now, false);
  const told = new Set(begun.map(({ id }) => id));
  const interims = log.interims.filter(({ id }) => !told.has(id));
  const leftOut = [...passedOverBy(log, now), ...begun];
  return { log: { ...keepInterims(log, interims), passedOver: [] }, leftOut };
}

/**
 * The sentences that were begun to be written down. What the stream still owes of them is said again, or told with it; where that is
 * the most of a sentence, the rest lay where the one before was cut off. One that was being written down is not left out. But of
 * one that went on for longer than anything is remembered the beginning is gone.
 */
function begunAtEnd(log: ReplayLog, now: number, isLast: boolean): readonly LeftOut[] {
  return log.interims.flatMap((one): readonly LeftOut[] => {
    if (maySound(log, one)) return [];
    if (isLast) return [one];
    const isLong = now - one.since > FORGOTTEN_AFTER_MS;
    if (!isLong && now - one.at < UNDER_WAY_MS) return [];
    const owed = owedIn(log, one);
    const isSaidAgain = !isLong && owed.possible * 2 >= one.speech.possible;
    const rest = lessSpeech(one.speech, owed);
    const until = isLong ? (owed.possibleSince ?? rest.until) : rest.until;
    return isSaidAgain ? [] : [{ ...one, speech: { ...rest, until } }];
  });
}

/** Whether the last sound may have been of it. */
function maySound(log: ReplayLog, { id, since }: Interim): boolean {
  const { soundAt } = log;
  return id === null && soundAt !== null && soundAt > since - SOUND_BEFORE_MS && !isOrderly(log);
}

function owedIn(log: ReplayLog, { fromMs, countedMs }: Interim): SpeechCount {
  return owedSpeechIn(log, { fromMs, toMs: countedMs });
}
