import { beginOfWritten, writtenOf } from './interim.ts';
import { awaitUnderstood } from './nameless.ts';
import { isWithin, joined, partKey, placePart } from './parts.ts';
import { notePassedOver } from './passed-over.ts';
import { isQuiet, type Piece, type Span, splitAt } from './piece.ts';
import type { ReplayLog, Sentence } from './record.ts';
import { keepPieces } from './replay-log.ts';
import { targetOf } from './sentence.ts';
import { OVERLAP_MS, placeSpan } from './times.ts';
import { divideWithLate, endByPauses, shareCut, shareWithNext } from './without-times.ts';

/** Our own idea of where a stretch of speech begins and ends may differ from the service's by this much. */
const EDGE_MS = 640;
/** This many sentences are under way at most: said, understood, and not spoken to their end. */
const MOST_KNOWN = 16;

/** A sentence that the service has understood: its name and its times, where it gives them. */
export interface Understood {
  readonly id: string | null;
  /** Of which part of its translation this is word; left out: of all of it. */
  readonly part?: { readonly id: string | null; readonly language: string };
  readonly span: Span | null;
  /** Of its text in the language that is spoken; left out: not known. */
  readonly letters?: number;
}

/** The service has understood a sentence (`validated_transcription`). @param now left out: when the last of it was sent */
export function noteUnderstood(given: ReplayLog, word: Understood, now?: number): ReplayLog {
  const log = markUnderstood(given.isTold ? given : { ...given, isTold: true }, word);
  if (word.id !== null) return log;
  const name = `#${log.namelessCount}`;
  const own = log.pieces.filter((piece) => piece.sentence === name && !isQuiet(piece));
  const at = now ?? own.at(-1)?.sentAt;
  return at === undefined ? log : { ...log, nameless: awaitUnderstood(log, own, at) };
}

/** A translation has come as text: a service that does not say what it has understood has understood that. */
export function noteTranslated(log: ReplayLog, word: Understood): ReplayLog {
  return log.isTold ? log : markUnderstood(log, word);
}

/** Each name counts once; but times that come behind the sound correct what was taken for the sentence until then. */
export function markUnderstood(log: ReplayLog, { id, part, span: told, letters }: Understood): ReplayLog {
  const isKnown = id !== null && log.known.includes(id);
  const known = log.sentences.find((sentence) => sentence.id === id && sentence.span !== null);
  if (isKnown && known !== undefined) return part === undefined ? log : withFurtherPart(log, known, told);
  // The same is told for each language.
  const saidBefore = log.said.find((one) => one.id === id);
  if (isWithin(placePart(log, told), saidBefore?.span ?? null)) return log;
  const placed = told === null ? null : placeSpan(log, told, letters);
  const timed = placed === null ? log : { ...log, times: placed.times };
  const span = placed?.span ?? null;
  if (isKnown && span === null) return timed;
  const named = id === null || isKnown ? timed : { ...timed, known: [...timed.known, id].slice(-MOST_KNOWN) };
  const namelessCount = id === null ? named.namelessCount + 1 : named.namelessCount;
  const name = id ?? `#${namelessCount}`;
  const counted = { ...named, namelessCount };
  const open = isKnown ? withoutName(counted, id) : counted;
  const stretch = span === null ? upToNext(open, id) : withEdges(open, name, span);
  const marked = label(open, name, stretch, span !== null);
  const given = span === null || isKnown ? marked : notePassedOver(open, marked, stretch.fromMs);
  const divided = id === null || span !== null ? given : divideWithLate(given, id, letters ?? null);
  const labelled = shareWithNext(divided, name);
  // Its times come behind all of its sound.
  if (isSaidToItsEnd(log, name, part)) {
    const rest = labelled.pieces.filter((piece) => piece.sentence !== name);
    const said = labelled.said.map((one) =>
      one.id === name ? { ...one, span: joined(one.span, span) } : one,
    );
    return { ...keepPieces(labelled, rest), said };
  }
  const shared =
    span === null ? shareCut(labelled, name, stretch.toMs, writtenOf(log, id, letters ?? null)) : labelled;
  const understood = withSentence(shared, name, span, letters);
  if (!understood.isAhead || isKnown) return understood;
  const ahead = understood.pieces.filter(({ sentence }) => sentence === null);
  return keepPieces({ ...understood, isAhead: false }, ahead);
}

/** Where a service tells no more than translations, each part of one tells a part of what was said. */
function withFurtherPart(log: ReplayLog, { id, span }: Sentence, told: Span | null): ReplayLog {
  if (span === null || told === null) return log;
  const { span: placed, times } = placeSpan(log, told);
  if (placed === null || placed.toMs <= span.toMs) return log;
  const labelled = label({ ...log, times }, id, withEdges(log, id, placed), true);
  return withSentence(labelled, id, { fromMs: span.fromMs, toMs: placed.toMs });
}

function isSaidToItsEnd(log: ReplayLog, id: string, part: Understood['part']): boolean {
  const said = log.said.find((one) => one.id === id);
  if (said === undefined || part === undefined) return said !== undefined;
  return said.parts.includes(partKey(targetOf(part.language, log.targets), part.id));
}

/** What was taken for a sentence before is open again, and where that may have ended is no doubt any more. */
function withoutName(log: ReplayLog, id: string | null): ReplayLog {
  if (id === null) return log;
  const pieces = log.pieces.map((piece): Piece => {
    if (piece.sentence !== id) return piece;
    const { seam, ...rest } = piece;
    return seam?.next == null ? { ...rest, sentence: null } : { ...piece, sentence: null };
  });
  return { ...log, pieces };
}

/** The log with a record of this sentence. */
export function withSentence(
  log: ReplayLog,
  id: string,
  span: Span | null = null,
  letters: number | null = null,
): ReplayLog {
  if (log.sentences.some((sentence) => sentence.id === id)) {
    if (span === null) return log;
    const marked = log.sentences.map((sentence) => (sentence.id === id ? { ...sentence, span } : sentence));
    return { ...log, sentences: marked };
  }
  const sentences = [...log.sentences, { id, languages: [], span, letters }];
  const spare = sentences.length - MOST_KNOWN;
  if (spare <= 0) return { ...log, sentences };
  const gone = new Set(sentences.slice(0, spare).map((sentence) => sentence.id));
  const kept = log.pieces.filter(({ sentence }) => sentence === null || !gone.has(sentence));
  return { ...keepPieces(log, kept), sentences: sentences.slice(spare) };
}

/** All that is nobody's so far: up to where the interim texts of another sentence tell that it begins. */
function upToNext(log: ReplayLog, id: string | null): Span {
  const own = log.interims.find((one) => one.id === id)?.told ?? null;
  const nextMs = own === null ? beginOfWritten(log, id) : nextBegin(log, id, own.fromMs);
  return { fromMs: 0, toMs: Math.min(endByPauses(log), nextMs) };
}

/**
 * Where another sentence begins behind a moment, of which interim texts tell where it lies, or that sounds already and was
 * understood later; infinite: none is known.
 */
function nextBegin({ interims, sentences, pieces }: ReplayLog, id: string | null, behindMs: number): number {
  const told = interims.flatMap((one) => (one.id === id || one.told === null ? [] : [one.told.fromMs]));
  const index = sentences.findIndex((sentence) => sentence.id === id);
  const later = new Set(index < 0 ? [] : sentences.slice(index + 1).map((sentence) => sentence.id));
  const taken = pieces.flatMap(({ sentence, fromMs }) =>
    sentence !== null && later.has(sentence) ? [fromMs] : [],
  );
  return Math.min(...[...told, ...taken].filter((ms) => ms > behindMs), Number.POSITIVE_INFINITY);
}

/** A piece that was taken for another sentence than the one which begins here, by its times. */
function corrected(piece: Piece, id: string, fromMs: number): readonly Piece[] {
  return splitAt(piece, fromMs).map((one) => (one.fromMs >= fromMs ? { ...one, sentence: id } : one));
}

/** Gives the pieces of a span to a sentence; what lies before it and is nobody's was left out by the service. */
function label(log: ReplayLog, id: string, { fromMs, toMs }: Span, isTimed: boolean): ReplayLog {
  const pieces = log.pieces.flatMap((piece): readonly Piece[] => {
    if (piece.fromMs >= toMs) return [piece];
    // What was taken for the end of the sentence before is another one.
    if (piece.sentence !== null) return isTimed ? corrected(piece, id, fromMs) : [piece];
    if (piece.toMs <= fromMs) return [];
    if (isQuiet(piece)) return [{ ...piece, sentence: id }];
    return splitAt(piece, toMs).map((one) => (one.toMs <= toMs ? { ...one, sentence: id } : one));
  });
  return keepPieces(log, pieces);
}

/**
 * Where a stretch of speech begins a little before the span, or ends in a pause behind it, those edges belong to it. Where
 * speech goes on as the word of it comes, or another sentence is known to follow, the service has cut a long one just there.
 */
function withEdges(log: ReplayLog, id: string, { fromMs, toMs }: Span): Span {
  const { pieces, quietMs, group } = log;
  const voiced = pieces.filter((piece) => !isQuiet(piece));
  let from = fromMs;
  for (const piece of voiced.toReversed()) {
    if (piece.toMs > from || piece.sentence !== null) {
      if (piece.fromMs < from && piece.sentence === null) from = Math.max(piece.fromMs, fromMs - EDGE_MS);
    } else if (piece.toMs === from && piece.fromMs >= fromMs - EDGE_MS) from = piece.fromMs;
    else break;
  }
  let end = toMs;
  let last: Piece | undefined;
  for (const piece of voiced) {
    if (piece.fromMs > end) break;
    if (piece.toMs > end) end = piece.toMs;
    last = piece;
  }
  const isOver = quietMs >= EDGE_MS || (last?.group ?? group) < group;
  const isClosed = quietMs > 0 || end < (voiced.at(-1)?.toMs ?? 0);
  if (!isOver && (!isClosed || end - toMs > EDGE_MS)) return { fromMs: from, toMs };
  return { fromMs: from, toMs: Math.max(toMs, Math.min(end, nextBegin(log, id, toMs - OVERLAP_MS))) };
}
