import type { BacklogChunk } from '../uplink/backlog.ts';
import { settleParts } from './parts.ts';
import { isFirst, isQuiet, isSpeech, type Piece } from './piece.ts';
import type { ReplayLog } from './record.ts';
import { languagesSaid } from './sentence.ts';

/** The languages in which a piece was spoken: on an earlier stream, by finished parts, or by all sentences that it may belong to. */
export function saidIn(log: ReplayLog, { chunk, claims, spoken }: Piece): readonly string[] {
  const before = chunk.said === undefined ? spoken : [...chunk.said, ...spoken];
  if (claims.length === 0) return before;
  const each = claims.map((id) => {
    const sentence = log.sentences.find((one) => one.id === id);
    // Too many sentences came since: this one was forgotten, not spoken.
    return sentence === undefined ? before : [...before, ...languagesSaid(sentence, log)];
  });
  return log.targets.filter((target) => each.every((said) => said.includes(target)));
}

export function isOwed(log: ReplayLog, piece: Piece): boolean {
  const said = saidIn(log, piece);
  return log.either ? said.length === 0 : !log.targets.every((target) => said.includes(target));
}

/** Rule 11: chunks for the next stream if this one ends now, oldest first, each with the languages in which it was spoken. */
export function owedChunks(given: ReplayLog): readonly BacklogChunk[] {
  const log = settleParts(given);
  const owing = new Set<number>();
  const owed = log.pieces.filter((piece) => {
    if (!isOwed(log, piece)) return false;
    // A pause is worth repeating only after the speech before it.
    if (isQuiet(piece)) return owing.has(piece.group);
    owing.add(piece.group);
    return true;
  });
  const chunks: BacklogChunk[] = [];
  for (let from = 0, to = 0; from < owed.length; from = to) {
    const seq = owed[from]?.chunk.seq;
    while (owed[to]?.chunk.seq === seq && to < owed.length) to++;
    const chunk = restOf(owed.slice(from, to), log);
    const before = chunks.at(-1);
    chunks.push(before === undefined || before.seq + 1 === chunk.seq ? chunk : { ...chunk, apart: true });
  }
  return chunks;
}

/** A chunk for the next stream: settled samples become silence. */
function restOf(pieces: readonly Piece[], log: ReplayLog): BacklogChunk {
  const [first] = pieces;
  if (first === undefined) throw new Error('a chunk without a piece');
  const { chunk, whole, fromMs } = first;
  const said = [...new Set(pieces.flatMap((piece) => saidIn(log, piece)))];
  const tagged = said.length === 0 ? chunk : { ...chunk, said };
  const toMs = pieces.at(-1)?.toMs ?? whole.toMs;
  if (chunk.pcm === null || (fromMs <= whole.fromMs && toMs >= whole.toMs)) return tagged;
  const pcm = new Uint8Array(chunk.pcm.byteLength);
  const perMs = pcm.byteLength / 2 / (whole.toMs - whole.fromMs);
  const at = (ms: number): number => 2 * Math.round((ms - whole.fromMs) * perMs);
  pcm.set(chunk.pcm.subarray(at(fromMs), at(toMs)), at(fromMs));
  return { ...tagged, pcm };
}

export function owesSpeech(log: ReplayLog): boolean {
  return log.pieces.some((piece) => !isQuiet(piece) && isOwed(log, piece));
}

/** Whether the log owes speech that the service has understood. */
export function owesUnderstood(log: ReplayLog): boolean {
  return log.pieces.some((piece) => piece.claims.length > 0 && !isQuiet(piece) && isOwed(log, piece));
}

/**
 * Whether speech that was sent after a moment is owed; only speech of which the detector is sure counts.
 * @param mistakes how often the voice detector has recently been wrong
 */
export function owesSpeechSince(log: ReplayLog, sentAfter: number, mistakes = 0): boolean {
  return log.pieces.some(
    (piece) => piece.sentAt > sentAfter && isFirst(piece) && isSpeech(piece, mistakes) && isOwed(log, piece),
  );
}
