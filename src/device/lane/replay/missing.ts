import { isOwed, saidIn } from './owed.ts';
import { settleParts } from './parts.ts';
import { isFirst, isQuiet, isSpeech, lengthOf, type Piece } from './piece.ts';
import type { ReplayLog, Unanswered, Unspoken } from './record.ts';
import { shareSpoken, spokenIn } from './sentence.ts';

/** Minimum number of voiced chunks in a stretch of speech (about one second): fewer may be a cough or a door. */
const LEAST_CHUNKS = 3;
/** Share of a stretch's voiced chunks of which the voice detector must be sure: a tenth or more in speech, hardly any in noise. */
const SURE_SHARE = 0.1;

/** Rule 14: the unspoken speech of these pieces, by language and sentence. */
export function unspokenOf(log: ReplayLog, pieces: readonly Piece[]): readonly Unspoken[] {
  const voiced = pieces.filter((piece) => !isQuiet(piece));
  return (log.either ? log.targets.slice(0, 1) : log.targets).flatMap((language) => {
    const missing = new Map<string, number>();
    for (const piece of voiced) {
      const ms = lengthOf([piece]) * (1 - shareOf(log, piece, language));
      const sentence = piece.claims[0] ?? `stretch ${piece.group}`;
      if (ms > 0) missing.set(sentence, ms + (missing.get(sentence) ?? 0));
    }
    return [...missing].map(([sentence, ms]) => ({ language, ms, sentence }));
  });
}

/** Which share of a piece was spoken in a language. */
function shareOf(log: ReplayLog, { chunk, claims, spoken }: Piece, language: string): number {
  const isSaid = (one: string): boolean => chunk.said?.includes(one) === true || spoken.includes(one);
  const languages = log.either ? log.targets : [language];
  if (languages.some(isSaid)) return 1;
  const shares = claims.map((id) => {
    const sentence = log.sentences.find((one) => one.id === id);
    if (sentence === undefined) return 0;
    return Math.max(...[...languages, null].map((tag) => shareSpoken(spokenIn(sentence, tag), log)));
  });
  return shares.length === 0 ? 0 : Math.min(...shares);
}

/** Adds to the unspoken speech that a log has counted. */
export function addUnspoken(log: ReplayLog, more: readonly Unspoken[]): ReplayLog {
  return more.length === 0 ? log : { ...log, unspoken: [...log.unspoken, ...more] };
}

/**
 * The pieces that are owed, have no sentence and are speech, judged by whole stretches. A stretch is speech if the voice
 * detector is sure of a part, or the service has sent partial transcripts.
 */
export function unclaimedSpeech(log: ReplayLog, pieces: readonly Piece[]): readonly Piece[] {
  const open = pieces.filter((piece) => piece.claims.length === 0 && !isQuiet(piece) && isOwed(log, piece));
  const isVoice = (group: number): boolean => {
    const own = log.pieces.filter((piece) => piece.group === group && isFirst(piece) && !isQuiet(piece));
    const sure = own.filter((piece) => isSpeech(piece)).length;
    return own.length >= LEAST_CHUNKS && (log.heard.includes(group) || sure >= own.length * SURE_SHARE);
  };
  const voices = new Set([...new Set(open.map(({ group }) => group))].filter(isVoice));
  return open.filter(({ group }) => voices.has(group));
}

/**
 * Counts pieces as speech that the service has not reacted to. Pieces are in the order of sending, and replayed speech may
 * follow newer speech.
 */
export function countUnanswered(pieces: readonly Piece[]): Unanswered | null {
  if (pieces.length === 0) return null;
  return {
    chunks: pieces.filter(isFirst).length,
    from: Math.min(...pieces.map(({ chunk, whole }) => chunk.capturedAt - lengthOf([whole]))),
    to: Math.max(...pieces.map(({ chunk }) => chunk.capturedAt)),
  };
}

export function addUnanswered(one: Unanswered | null, other: Unanswered | null): Unanswered | null {
  if (one === null || other === null) return one ?? other;
  return {
    chunks: one.chunks + other.chunks,
    from: Math.min(one.from, other.from),
    to: Math.max(one.to, other.to),
  };
}

/**
 * The service has reacted to its input: it works, so speech that the log forgot before counts as heard but not spoken.
 * @param chunkMs length of a chunk
 */
export function noteReaction(log: ReplayLog, chunkMs: number): ReplayLog {
  const { unanswered, targets, either } = log;
  if (unanswered === null) return log;
  const ms = unanswered.chunks * chunkMs;
  return addUnspoken(
    { ...log, unanswered: null },
    (either ? targets.slice(0, 1) : targets).map((language) => ({ language, ms, sentence: 'unanswered' })),
  );
}

/** How a stream has ended: broken (its unanswered speech is replayed), ended cleanly by the service, or stopped with the lane. */
export type StreamEnd = 'replayed' | 'clean' | 'stopped';

/** @returns the unspoken speech at the end of a stream, the speech that the service never answered, and the speech lost by a stop */
export function settleEnd(
  given: ReplayLog,
  end: StreamEnd,
): {
  unspoken: readonly Unspoken[];
  unanswered: Unanswered | null;
  stopped: Unanswered | null;
} {
  const log = settleParts(given);
  const claimed = log.pieces.filter(({ claims }) => claims.length > 0);
  // Only speech that was not spoken in any language counts as lost by a stop: the rest was spoken in part.
  const isLost = (piece: Piece): boolean =>
    end === 'stopped' && !isQuiet(piece) && saidIn(log, piece).length === 0;
  const cut = claimed.filter((piece) => !(end === 'replayed' ? isOwed(log, piece) : isLost(piece)));
  const open = end === 'replayed' ? [] : unclaimedSpeech(log, log.pieces);
  const stopped = log.pieces.filter(
    (piece) => open.includes(piece) || (claimed.includes(piece) && isLost(piece)),
  );
  return {
    unspoken: [...log.unspoken, ...unspokenOf(log, cut)],
    unanswered: addUnanswered(log.unanswered, end === 'stopped' ? null : countUnanswered(open)),
    stopped: end === 'stopped' ? countUnanswered(stopped) : null,
  };
}
