import { kindOf } from '../uplink/backlog.ts';
import { addUnspoken, unclaimedSpeech, unspokenOf } from './missing.ts';
import { isQuiet, lengthOf, type Piece, type Span, splitAt } from './piece.ts';
import type { ReplayLog } from './record.ts';
import { keepPieces } from './replay-log.ts';
import { placeSpan } from './segment-times.ts';

/** Maximum distance (ms) between the service's edge of speech and the lane's own that counts as the same edge. */
const EDGE_MS = 640;
/** Longest time (ms) from the pause that ends a sentence to its transcript. */
const PROMPT_MS = 2600;
/** In running speech, longest time (ms) from the service's cut to the transcript of the speech before it. */
const CUT_MS = 1500;
/** Maximum number of remembered ids: more than a service speaks at a time. */
export const MOST_KNOWN = 16;

/** The transcript in a final text. */
export interface FinalText {
  /** Null: the service gives none. */
  readonly id: string | null;
  /** Null: the service gives no times. */
  readonly span: Span | null;
}

/** A partial transcript: a sentence is being written down. */
export function notePartial(
  log: ReplayLog,
  { id, letters }: { id: string | null; letters: number },
  now: number,
): ReplayLog {
  if (letters === 0 || (id !== null && log.known.includes(id))) return log;
  const heard = log.heard.at(-1) === log.group ? log.heard : [...log.heard, log.group].slice(-MOST_KNOWN);
  return { ...log, heard, partial: { id, at: now } };
}

/** Rule 2: a final transcript claims what the service has understood. */
export function noteTranscript(log: ReplayLog, text: FinalText): ReplayLog {
  return claim({ ...withoutPartial(log, text.id), transcribes: true, writes: true }, text);
}

/** Rule 2: without transcripts, the final text of a translation claims the speech. */
export function noteTranslation(log: ReplayLog, text: FinalText): ReplayLog {
  return log.transcribes ? log : claim({ ...withoutPartial(log, text.id), writes: true }, text);
}

export function withoutPartial(log: ReplayLog, id: string | null): ReplayLog {
  const isOf = id === null || log.partial?.id == null || log.partial.id === id;
  return log.partial !== null && isOf ? { ...log, partial: null } : log;
}

/** Gives a sentence the pieces that it was understood from. It claims only once, but later times replace a claim without times. */
export function claim(log: ReplayLog, { id, span: given }: FinalText): ReplayLog {
  if (id !== null && log.said.some((one) => one.id === id)) return log;
  const isKnown = id !== null && log.known.includes(id);
  const known = log.sentences.find((one) => one.id === id);
  if (isKnown && (given === null || known?.span != null)) return log;
  const { span, times } = placeSpan(log, given);
  if (isKnown && span === null) return { ...log, times };
  const nameless = id === null ? log.nameless + 1 : log.nameless;
  const name = id ?? `nameless ${nameless}`;
  const open = isKnown ? withoutClaim({ ...log, times }, name) : { ...log, times };
  const sentence = { id: name, languages: [], ...known, span };
  const sentences = [...open.sentences.filter((one) => one !== known), sentence].slice(-MOST_KNOWN);
  const names = isKnown || id === null ? log.known : [...log.known, id].slice(-MOST_KNOWN);
  const next = { ...open, sentences, nameless, known: names };
  return span === null
    ? claimUpTo(next, name, endWithoutTimes(open))
    : claimSpan(next, name, withEdges(open, span));
}

export function withoutClaim(log: ReplayLog, name: string): ReplayLog {
  const free = (piece: Piece): Piece => ({ ...piece, claims: piece.claims.filter((one) => one !== name) });
  return { ...log, pieces: log.pieces.map((one) => (one.claims.includes(name) ? free(one) : one)) };
}

/** Rule 3: a sentence with times claims the pieces within them. Rule 4: the service has ignored unclaimed pieces before these. */
function claimSpan(log: ReplayLog, name: string, { fromMs, toMs }: Span): ReplayLog {
  const split = log.pieces
    .flatMap((piece) => splitAt(piece, fromMs))
    .flatMap((piece) => splitAt(piece, toMs));
  const ignored = split.filter((piece) => piece.toMs <= fromMs && piece.claims.length === 0);
  const pieces = split
    .filter((piece) => !ignored.includes(piece))
    .map((piece) => (piece.fromMs >= fromMs && piece.toMs <= toMs ? { ...piece, claims: [name] } : piece));
  const counted = addUnspoken(log, unspokenOf(log, unclaimedSpeech(log, ignored)));
  return keepPieces(counted, pieces);
}

/** Rule 3: edges of a stretch of speech that lie a little outside the times belong to the sentence. */
function withEdges({ pieces, quietMs, group }: ReplayLog, { fromMs, toMs }: Span): Span {
  const voiced = pieces.filter((piece) => !isQuiet(piece));
  const first = voiced.find((piece) => piece.toMs > fromMs);
  const before = voiced.filter((one) => one.group === first?.group && one.claims.length === 0);
  const begin = Math.min(fromMs, ...before.map((one) => one.fromMs));
  const last = voiced.findLast((piece) => piece.fromMs < toMs);
  const end = Math.max(toMs, ...voiced.filter((one) => one.group === last?.group).map((one) => one.toMs));
  const isOver = quietMs >= EDGE_MS || (last?.group ?? group) < group;
  return {
    fromMs: Math.max(begin, fromMs - EDGE_MS),
    toMs: isOver && end - toMs <= EDGE_MS ? end : toMs,
  };
}

/**
 * Rule 6: a sentence without times claims everything unclaimed up to a moment. Rule 7: if nothing is left, the transcript of
 * its predecessor came late, and the sentence shares the predecessor's pieces.
 */
function claimUpTo(log: ReplayLog, name: string, endMs: number): ReplayLog {
  const isFree = (piece: Piece): boolean => piece.claims.length === 0 && piece.toMs <= endMs;
  const split = log.pieces.flatMap((piece) => (piece.claims.length === 0 ? splitAt(piece, endMs) : [piece]));
  if (split.some((piece) => isFree(piece) && !isQuiet(piece)))
    return { ...log, pieces: split.map((piece) => (isFree(piece) ? { ...piece, claims: [name] } : piece)) };
  const before = log.sentences.findLast(({ id }) => id !== name);
  if (before === undefined || before.span !== null) return log;
  const shared = (piece: Piece): Piece =>
    piece.claims.includes(before.id) ? { ...piece, claims: [before.id, name] } : piece;
  return { ...log, pieces: log.pieces.map(shared) };
}

/** Rule 6: the claim ends at the last recent pause; in running speech, 1.5 s before the end. */
function endWithoutTimes(log: ReplayLog): number {
  return Math.min(lastPause(log) ?? runningEnd(log), endOfKind(log));
}

const openSpeech = ({ pieces }: ReplayLog): readonly Piece[] =>
  pieces.filter((piece) => piece.claims.length === 0 && !isQuiet(piece));

function runningEnd(log: ReplayLog): number {
  return lengthOf(openSpeech(log)) > 2 * CUT_MS ? log.sentMs - CUT_MS : log.sentMs;
}

/** End of the last recent pause, or the present end of a pause that still lasts; null: there was none. */
function lastPause({ pieces, sentMs, quietMs }: ReplayLog): number | null {
  if (quietMs > 0) return sentMs;
  const first = pieces.findIndex((piece) => piece.claims.length === 0 && !isQuiet(piece));
  if (first < 0) return null;
  for (let index = pieces.length - 1; index > first; index--) {
    const piece = pieces[index];
    if (piece === undefined || piece.claims.length > 0 || sentMs - piece.fromMs > PROMPT_MS) break;
    if (isQuiet(piece)) return piece.toMs;
    if ((pieces[index - 1]?.toMs ?? piece.fromMs) < piece.fromMs) return piece.fromMs;
  }
  return null;
}

/** Repeated speech is sent between two pauses, so it is a sentence by itself, however late its transcript is. */
function endOfKind(log: ReplayLog): number {
  const open = openSpeech(log);
  const kind = open[0] && kindOf(open[0].chunk);
  return open.find(({ chunk }) => kindOf(chunk) !== kind)?.fromMs ?? Number.POSITIVE_INFINITY;
}
