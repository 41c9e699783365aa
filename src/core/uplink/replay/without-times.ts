import { kindOf } from '../backlog.ts';
import type { Written } from './interim.ts';
import { isQuiet, noisesIn, type Piece, type Seam, splitAt } from './piece.ts';
import { isNameless, isOfWritten, type ReplayLog, SETTLED } from './record.ts';

/**
 * Where a sentence ends, of a service that does not tell its times. The rule: word of a sentence is word of all that was sent
 * before it and that no other sentence has, up to the last pause, if that was heard of late; otherwise up to now, for a service
 * cuts long sentences in running speech.
 *
 * Two things follow from what nobody can know. The end of a sentence that was cut in running speech belongs to the next one as
 * well (`shareCut`), and is owed with that one from its interim texts on. And where nothing is left for a sentence, word of the
 * one before it came late, and that one is divided (`divideWithLate`).
 */

/** Word of a sentence comes within this much after the pause that ended it: the service's longest threshold (2 s) and its delay. */
const PROMPT_MS = 2600;
/** Word of a sentence that was cut in running speech comes up to this long after the cut, of a prompt service. */
const CUT_TOLD_AFTER_MS = 960;
/** So much silence, and what of the chunks around it is silent, is rather the end of a sentence than a breath in one. */
const PAUSE_CHUNKS = 2;
/** An interim text tells nothing of what was sent just before it came: a chunk was still on its way. */
const UNWRITTEN_MS = 320;

/** Up to where a service has understood, as its word comes; milliseconds of the stream's audio. */
export function endByPauses(log: ReplayLog): number {
  return Math.min(lastPause(log) ?? log.sentMs, endOfKind(log));
}

/** Where a pause that was heard of late behind speech ends, or has not ended; null: none was. */
export function lastPause({ pieces, sentMs, quietMs }: ReplayLog): number | null {
  if (quietMs > 0) return sentMs;
  const first = pieces.findIndex((piece) => piece.sentence === null && !isQuiet(piece));
  if (first < 0) return null;
  for (let index = pieces.length - 1; index > first; index--) {
    const piece = pieces[index];
    if (piece === undefined || piece.sentence !== null || sentMs - piece.fromMs > PROMPT_MS) break;
    if (isQuiet(piece)) return piece.toMs;
    const before = pieces[index - 1];
    if (before !== undefined && before.toMs < piece.fromMs) return piece.fromMs;
  }
  return null;
}

/**
 * What is said once more, or was said in other languages, goes out between two pauses of ours: where it follows what comes
 * first, but for noises, or comes first itself, that is understood by itself, however late the word of it is. Infinite: all of it
 * is alike.
 */
function endOfKind({ pieces }: ReplayLog): number {
  const open = pieces.filter((piece) => piece.sentence === null && !isQuiet(piece));
  const isNoise = noisesIn(open);
  const from = open.findIndex((piece) => !isNoise(piece));
  const first = open[from]?.chunk;
  if (first === undefined) return Number.POSITIVE_INFINITY;
  const kind = kindOf(first);
  const behind = open.slice(from).find(({ chunk }) => kindOf(chunk) !== kind);
  return behind?.fromMs ?? Number.POSITIVE_INFINITY;
}

/**
 * The last of a sentence that the service has cut off in running speech may be the first of the next one: what its own interim
 * texts do not cover, or without such texts as much as the delay of its word. Where these began before the last pause, or there
 * are none, so may all that was said since that pause. Interim texts of the next one tell of a cut whatever was heard since.
 */
export function shareCut(log: ReplayLog, id: string, toMs: number, written: Written | null): ReplayLog {
  const isRunning = log.quietMs === 0 && toMs >= log.sentMs;
  const followedAt = written?.followedAt ?? Number.POSITIVE_INFINITY;
  if (!isRunning && followedAt === Number.POSITIVE_INFINITY) return log;
  const own = log.pieces.filter((piece) => piece.sentence === id && !isQuiet(piece));
  if (own.length === 0) return log;
  const cutMs = written === null ? toMs - CUT_TOLD_AFTER_MS : Math.min(written.toMs, toMs) - UNWRITTEN_MS;
  const fromMs = written === null || written.isLate ? Math.min(cutMs, lastStretch(log, own)) : cutMs;
  const pauseMs = endOfPause(log, id, followedAt);
  return { ...log, pieces: share(log.pieces, Math.max(fromMs, pauseMs), { of: id, toMs, next: null }) };
}

/**
 * Where the last pause in a sentence ends at which a service may have ended it; infinitely early: there is none.
 * @param followedAt when the next one had begun
 */
function endOfPause({ pieces }: ReplayLog, id: string, followedAt: number): number {
  let endMs = Number.NEGATIVE_INFINITY;
  let quietChunks = 0;
  for (const piece of pieces) {
    if (piece.sentence !== id || piece.sentAt >= followedAt) continue;
    quietChunks = isQuiet(piece) ? quietChunks + 1 : 0;
    if (quietChunks >= PAUSE_CHUNKS) endMs = piece.toMs;
  }
  return endMs;
}

/** Where a sentence goes on behind its last pause; infinite: it has none. */
function lastStretch({ group }: ReplayLog, own: readonly Piece[]): number {
  const isNoise = noisesIn(own);
  const first = own.find((piece) => piece.group === group);
  const isBefore = own.some((piece) => piece.group < group && !isNoise(piece));
  return isBefore && first !== undefined ? first.fromMs : Number.POSITIVE_INFINITY;
}

/** The pieces, with what lies behind a place in a sentence shared. */
function share(pieces: readonly Piece[], fromMs: number, seam: Seam): readonly Piece[] {
  return pieces.flatMap((piece): readonly Piece[] => {
    if (piece.sentence !== seam.of || piece.toMs <= fromMs) return [piece];
    if (isQuiet(piece)) return [{ ...piece, seam }];
    return splitAt(piece, fromMs).map((one) => (one.fromMs >= fromMs ? { ...one, seam } : one));
  });
}

/**
 * Speech goes on behind a cut, or was over there: what is shared has its second sentence. Where the next one begins behind a
 * pause, what is shared may have been a sentence of its own, or the end of the first: of none that comes later.
 */
export function shareWithNext(log: ReplayLog, id: string): ReplayLog {
  const first = log.pieces.find((piece) => piece.sentence === id && !isQuiet(piece));
  const pieces = log.pieces.flatMap((piece): readonly Piece[] => {
    const { seam, ...rest } = piece;
    if (seam === undefined || seam.next !== null) return [piece];
    if (first === undefined || seam.toMs === first.fromMs)
      return [{ ...piece, seam: { ...seam, next: id, isOfWritten: isOfWritten(log, piece) } }];
    if (seam.toMs > first.fromMs) return [piece];
    return piece.sentence === SETTLED ? [] : [rest];
  });
  return { ...log, pieces };
}

/**
 * Two stretches with a pause between them are never one sentence of the service. Where its word of the first comes so late
 * that both were taken for that, and word of another follows for which nothing is left, the other is what lies behind the
 * first. In one stretch it is the end of that: the service has cut it.
 */
export function divideWithLate(log: ReplayLog, id: string, letters: number | null): ReplayLog {
  if (log.pieces.some((piece) => piece.sentence === id && !isQuiet(piece))) return log;
  const [before] = log.sentences.slice(-1).filter((one) => one.span === null && !isNameless(one.id));
  const own = log.pieces.filter((piece) => piece.sentence === before?.id && !isQuiet(piece));
  const isNoise = noisesIn(own);
  const [first, next] = [...new Set(own.filter((piece) => !isNoise(piece)).map(({ group }) => group))];
  if (before === undefined || first === undefined) return log;
  if (next === undefined) return divideStretch(log, own, before.letters, letters);
  const pieces = log.pieces.map((piece): Piece => {
    if (piece.sentence !== before.id || piece.group < next) return piece;
    const { seam, ...rest } = piece;
    return { ...rest, sentence: id };
  });
  return { ...log, pieces };
}

/**
 * How long the two texts are tells where one stretch was cut: what lies behind that is shared. With which sentence follows, as
 * behind any cut (`shareWithNext`).
 */
function divideStretch(
  log: ReplayLog,
  own: readonly Piece[],
  before: number | null,
  letters: number | null,
): ReplayLog {
  const [first, last] = [own[0], own.at(-1)];
  if (first?.sentence == null || last === undefined || !before || !letters) return log;
  if (own.some(({ seam }) => seam !== undefined)) return log;
  const cutMs = first.fromMs + ((last.toMs - first.fromMs) * before) / (before + letters);
  const seam = { of: first.sentence, toMs: last.toMs, next: null };
  return { ...log, pieces: share(log.pieces, cutMs - CUT_TOLD_AFTER_MS, seam) };
}
