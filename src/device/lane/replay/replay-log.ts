import type { BacklogChunk } from '../uplink/backlog.ts';
import { addUnanswered, addUnspoken, countUnanswered, unclaimedSpeech, unspokenOf } from './missing.ts';
import { isOwed } from './owed.ts';
import { isQuiet, lengthOf, type Piece } from './piece.ts';
import type { ReplayLog } from './record.ts';
import { NO_TIMES } from './segment-times.ts';

/** Pause that ends a stretch of speech (ms): longer than the service's own 0.7 s, so that it ends a sentence there too. */
export const PAUSE_MS = 900;

/**
 * @param endsMarked number of ends that the service marked in earlier sessions
 * @param either each sentence is spoken in one of the targets only
 */
export function emptyReplayLog(
  targets: readonly string[],
  keptMs: number,
  endsMarked = 0,
  either = false,
): ReplayLog {
  return {
    targets,
    either,
    keptMs,
    pieces: [],
    sentences: [],
    sentMs: 0,
    quietMs: PAUSE_MS,
    group: 0,
    times: NO_TIMES,
    transcribes: false,
    writes: false,
    partial: null,
    heard: [],
    known: [],
    said: [],
    withdrawn: [],
    nameless: 0,
    namelessAt: null,
    voices: [],
    endsMarked,
    pace: { sentences: 0, ms: 0, letters: 0 },
    unspoken: [],
    unanswered: null,
  };
}

/** Rule 1: notes a chunk that was sent. Only the beginning of a pause is kept. */
export function noteSent(log: ReplayLog, chunk: BacklogChunk, chunkMs: number, now: number): ReplayLog {
  const quiet = isQuiet({ chunk });
  const sentMs = log.sentMs + chunkMs;
  const quietMs = quiet ? log.quietMs + chunkMs : 0;
  if (quiet && log.quietMs >= PAUSE_MS) return forgetOld({ ...log, sentMs, quietMs }, now);
  const group = !quiet && log.quietMs >= PAUSE_MS ? log.group + 1 : log.group;
  const whole = { fromMs: log.sentMs, toMs: sentMs };
  const piece: Piece = { chunk, whole, ...whole, sentAt: now, group, claims: [], spoken: [] };
  return forgetOld({ ...log, sentMs, quietMs, group, pieces: [...log.pieces, piece] }, now);
}

/** Notes silence that was sent in place of captured sound: the service hears the end of the speech before it. */
export function noteSilence(log: ReplayLog, chunkMs: number, now: number): ReplayLog {
  const quietMs = Math.max(PAUSE_MS, log.quietMs + chunkMs);
  return forgetOld({ ...log, sentMs: log.sentMs + chunkMs, quietMs }, now);
}

/**
 * Rule 13: a stretch of speech is forgotten as a whole, when its end is too old or the log is too long: the second half of a
 * sentence is never sent alone. Only a stretch that is longer than the log loses its beginning.
 */
function forgetOld(log: ReplayLog, now: number): ReplayLog {
  const { pieces, keptMs } = log;
  const [oldest] = pieces;
  if (oldest === undefined || (now - oldest.sentAt < keptMs && lengthOf(pieces) <= keptMs)) return log;
  const isRecent = (piece: Piece): boolean => !isQuiet(piece) && now - piece.sentAt < keptMs;
  const recent = new Set(pieces.filter(isRecent).map(({ group }) => group));
  let kept = pieces.filter(({ group }) => recent.has(group));
  while (lengthOf(kept) > keptMs) {
    const first = kept[0]?.group;
    kept = first === kept.at(-1)?.group ? kept.slice(1) : kept.filter(({ group }) => group !== first);
  }
  const stays = new Set(kept);
  const gone = pieces.filter((piece) => !stays.has(piece) && isOwed(log, piece));
  const claimed = gone.filter(({ claims }) => claims.length > 0);
  const unanswered = addUnanswered(log.unanswered, countUnanswered(unclaimedSpeech(log, gone)));
  return keepPieces({ ...addUnspoken(log, unspokenOf(log, claimed)), unanswered }, kept);
}

/** The log with these pieces. A sentence that has lost its last piece is forgotten. */
export function keepPieces(log: ReplayLog, pieces: readonly Piece[]): ReplayLog {
  const had = new Set(log.pieces.flatMap(({ claims }) => claims));
  const has = new Set(pieces.flatMap(({ claims }) => claims));
  return { ...log, pieces, sentences: log.sentences.filter(({ id }) => !had.has(id) || has.has(id)) };
}

/** The stream translates into other languages from now on. Sentences that were spoken in the previous languages count as spoken. */
export function retarget(log: ReplayLog, targets: readonly string[], either = false): ReplayLog {
  const open = log.pieces.filter((piece) => piece.claims.length === 0 || isOwed(log, piece));
  return { ...keepPieces(log, open), targets, either };
}

/** Distance from a detected voice within which a word may begin or end (ms). */
const AROUND_SPEECH_MS = 960;

/** Keeps only pieces that are near a voice or were understood: a service that ended cleanly took the rest for noise. */
export function nearSpeech(log: ReplayLog): ReplayLog {
  const speech = log.pieces.filter((piece) => !isQuiet(piece) && piece.chunk.levels?.isSpeech === true);
  const isNear = ({ fromMs, toMs }: Piece): boolean =>
    speech.some((one) => toMs > one.fromMs - AROUND_SPEECH_MS && fromMs < one.toMs + AROUND_SPEECH_MS);
  return keepPieces(
    log,
    log.pieces.filter((piece) => piece.claims.length > 0 || isNear(piece)),
  );
}
