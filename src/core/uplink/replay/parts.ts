import { isQuiet, type Piece, type Span, splitAt } from './piece.ts';
import type { Part, ReplayLog, Spoken } from './record.ts';
import { isShort, judgeSound, spokenIn, withSpoken } from './sentence.ts';

/**
 * A sentence may be translated and spoken in several parts, each with a text, a sound and an end of its own. It has ended when
 * every part that is known has. That another one follows can be known by its text, or by the times of the one that has ended:
 * where these tell that it speaks only the beginning, that is settled, and the rest is owed.
 */

/** Edges of two spans that are told for the same moment differ by this much at most. */
const SAME_MS = 400;
/** Seconds are rounded as they are told. */
const ROUNDING_MS = 40;
/** This many parts of one sentence are known; of a service that makes more, the latest. */
export const MOST_PARTS = 32;
/** Less than this much behind a part is no speech of which another one is to be expected. */
const LEAST_REST_MS = 640;

/** Names a part of a sentence's translation into a language. */
export function partKey(language: string | null, part: string | null): string {
  return `${language ?? ''}/${part ?? ''}`;
}

/** Texts and sound may name their parts, or not. */
function partOf(parts: readonly Part[], id: string | null): Part | undefined {
  const exact = parts.find((part) => part.id === id);
  if (exact !== undefined) return exact;
  const alike = parts.filter((part) => part.id === null || id === null);
  return alike.find(({ state }) => state === 'open') ?? alike[0];
}

function withPart(spoken: Spoken, before: Part | undefined, part: Part): Spoken {
  const known = spoken.parts;
  const parts =
    before === undefined ? keepParts([...known, part]) : known.map((one) => (one === before ? part : one));
  return {
    ...spoken,
    parts,
    letters: spoken.letters - (before?.letters ?? 0) + part.letters,
    ms: spoken.ms - (before?.ms ?? 0) + part.ms,
    complete: isAllOver(parts),
  };
}

/** What is told of a part that is not known any more stays in the sums of its sentence. */
function keepParts(parts: readonly Part[]): readonly Part[] {
  if (parts.length <= MOST_PARTS) return parts;
  const oldest = parts.slice(0, -1).find(({ state }) => state !== 'open') ?? parts[0];
  return parts.filter((one) => one !== oldest);
}

function isAllOver(parts: readonly Part[]): boolean {
  return parts.some(({ state }) => state === 'over') && parts.every(({ state }) => state !== 'open');
}

const emptyPart = (id: string | null): Part => ({ id, letters: 0, ms: 0, span: null, state: 'open' });

/** The text of a part has come. */
export function withPartText(
  spoken: Spoken,
  text: { readonly part: string | null; readonly letters: number; readonly span: Span | null },
  now: number,
): Spoken {
  const before = partOf(spoken.parts, text.part);
  // Its text comes behind its sound: which part that was is known by its number alone.
  const isKnown = before?.state === 'over' && before.id !== null && before.id === text.part;
  if (before !== undefined && before.state !== 'open' && !isKnown) return { ...spoken, textAt: now };
  const known = before ?? emptyPart(text.part);
  const letters = text.part === null ? known.letters + text.letters : text.letters;
  return { ...withPart(spoken, before, { ...known, letters, span: text.span }), textAt: now };
}

/** Sound of a part has come. */
export function withPartSound(
  spoken: Spoken,
  sound: { readonly part: string | null; readonly ms: number; readonly last: boolean },
  now: number,
): Spoken {
  const before = partOf(spoken.parts, sound.part);
  // Something of it comes once more.
  if (before?.state === 'settled') return spoken;
  const known = before ?? emptyPart(sound.part);
  const state = sound.last ? 'over' : known.state;
  const heard = withPart(spoken, before, { ...known, ms: known.ms + sound.ms, state });
  const isAll = sound.last && sound.part === null;
  const parts = isAll ? heard.parts.map((part): Part => ({ ...part, state: 'over' })) : heard.parts;
  return { ...heard, parts, soundAt: now, complete: isAllOver(parts) };
}

/** Whether the part is not known to be over. */
export function isPartOpen({ parts }: Spoken, part: string | null): boolean {
  return (partOf(parts, part)?.state ?? 'open') === 'open';
}

/**
 * Where what is told of a stretch lies in the stream's audio; null: nobody can tell. Where the zero of its times is not decided
 * yet, it can only lie in what was sent.
 */
export function placePart({ times, sentMs }: ReplayLog, told: Span | null): Span | null {
  if (told === null || times.refused !== null) return null;
  const fits = (zero: number): boolean => told.toMs + zero <= sentMs + ROUNDING_MS;
  const [zero, other] = times.zeros.length > 1 ? times.zeros.filter(fits) : times.zeros;
  if (zero === undefined || other !== undefined) return null;
  return { fromMs: told.fromMs + zero, toMs: told.toMs + zero };
}

/** From the begin of the first to the end of the last. */
export function joined(one: Span | null, other: Span | null): Span | null {
  if (one === null || other === null) return one ?? other;
  return { fromMs: Math.min(one.fromMs, other.fromMs), toMs: Math.max(one.toMs, other.toMs) };
}

/** Whether a stretch lies within another that the service has told. */
export function isWithin(inner: Span | null, outer: Span | null): boolean {
  if (inner === null || outer === null) return false;
  return inner.fromMs >= outer.fromMs - ROUNDING_MS && inner.toMs <= outer.toMs + ROUNDING_MS;
}

/** A part is over: where the service has told that it speaks no more than a part, that is settled and the rest is owed. */
export function settlePart(
  log: ReplayLog,
  id: string,
  language: string | null,
  partId: string | null,
): { readonly log: ReplayLog; readonly settled: Part | null } {
  const sentence = log.sentences.find((one) => one.id === id);
  const none = { log, settled: null };
  if (sentence === undefined || sentence.span === null || language === null) return none;
  const spoken = spokenIn(sentence, language);
  const part = partOf(spoken.parts, partId);
  if (part?.state !== 'over' || part.span === null || isShort(part, log)) return none;
  if (!isBoundary(part.span.fromMs, sentence.span, spoken)) return none;
  const said = withEdges(part.span, sentence.span);
  const pieces = log.pieces.flatMap((piece) =>
    piece.sentence === id ? saidWithin(piece, said, language) : [piece],
  );
  const rest = pieces.filter((piece) => piece.sentence === id && piece.spoken?.includes(language) !== true);
  if (lengthOf(rest) < LEAST_REST_MS) return none;
  const left = withPart(spoken, part, { ...part, letters: 0, ms: 0, state: 'settled' });
  const others = withSpoken(sentence, { ...left, soundAt: left.ms > 0 ? left.soundAt : null });
  const sentences = log.sentences.map((one) => (one === sentence ? others : one));
  return { log: { ...log, pieces, sentences }, settled: part };
}

/** A part of which most came, in a language in which next to nothing of the sentence did. */
export interface Begun {
  readonly id: string;
  readonly spoken: Spoken;
}

/**
 * The log as it is when nothing more comes of what has begun to sound: a part of which most came is not said once more with the
 * others, nor are they taken as said with it, where the service has told which seconds it speaks.
 */
export function settleBegun(given: ReplayLog): { readonly log: ReplayLog; readonly begun: readonly Begun[] } {
  let log = given;
  const begun: Begun[] = [];
  for (const { id, languages } of given.sentences)
    for (const { language } of languages) {
      const rest = settleBegunIn(log, id, language);
      log = rest.log;
      begun.push(...rest.begun);
    }
  return { log, begun };
}

/** The same of one language of a sentence. */
export function settleBegunIn(
  given: ReplayLog,
  id: string,
  language: string | null,
): { readonly log: ReplayLog; readonly begun: readonly Begun[] } {
  let log = given;
  const begun: Begun[] = [];
  const spokenNow = (): Spoken | null => {
    const sentence = log.sentences.find((one) => one.id === id);
    return sentence === undefined ? null : spokenIn(sentence, language);
  };
  for (const part of spokenNow()?.parts.filter(({ state, ms }) => state === 'open' && ms > 0) ?? []) {
    const spoken = spokenNow();
    if (spoken === null) continue;
    const isStub = judgeSound(spoken, log) === 'stub';
    const over = withSentenceSpoken(log, id, withPart(spoken, part, { ...part, state: 'over' }));
    const { log: rest, settled } = settlePart(over, id, language, part.id);
    if (settled === null) continue;
    log = rest;
    if (isStub) begun.push({ id, spoken: { ...spoken, letters: part.letters, ms: part.ms } });
  }
  return { log, begun };
}

function withSentenceSpoken(log: ReplayLog, id: string, spoken: Spoken): ReplayLog {
  const sentences = log.sentences.map((one) => (one.id === id ? withSpoken(one, spoken) : one));
  return { ...log, sentences };
}

/** What lies before the sentence's times, or behind them, is taken for its own: it goes with its first part, or its last. */
function withEdges({ fromMs, toMs }: Span, sentence: Span): Span {
  return {
    fromMs: fromMs <= sentence.fromMs + SAME_MS ? Number.NEGATIVE_INFINITY : fromMs,
    toMs: toMs >= sentence.toMs - SAME_MS ? Number.POSITIVE_INFINITY : toMs,
  };
}

/** Whether a part may begin there: where its sentence does, or where another part ends. */
function isBoundary(ms: number, sentence: Span, { parts }: Spoken): boolean {
  const begins = [sentence.fromMs, ...parts.flatMap(({ span }) => (span === null ? [] : [span.toMs]))];
  return begins.some((begin) => Math.abs(begin - ms) <= SAME_MS);
}

function lengthOf(pieces: readonly Piece[]): number {
  return pieces.filter((piece) => !isQuiet(piece)).reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
}

/** A piece, with what of it lies within a span said in a language. */
function saidWithin(piece: Piece, { fromMs, toMs }: Span, language: string): readonly Piece[] {
  return splitAt(piece, fromMs)
    .flatMap((one) => splitAt(one, toMs))
    .map((one) => {
      const isWithin = one.fromMs >= fromMs && one.toMs <= toMs;
      return isWithin ? { ...one, spoken: [...(one.spoken ?? []), language] } : one;
    });
}
