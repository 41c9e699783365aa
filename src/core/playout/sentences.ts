import { joinPcm } from '../audio/pcm.ts';

/** The sentences that wait to be heard, in the order in which they will be. */

/** A stretch of translated sound as it arrived. */
export interface Piece {
  readonly pcm: Uint8Array;
  /** When it came off the wire, monotonic milliseconds. */
  readonly receivedAt: number;
}

export interface Utterance {
  readonly key: string;
  /** As the service tags it, where it does. */
  readonly language?: string | null;
  /** Number of the stream that it came on. */
  readonly stream: number;
  /** Some of it has been written. */
  readonly begun: boolean;
  readonly pieces: readonly Piece[];
  /** The service said that nothing more comes. */
  readonly complete: boolean;
  /** It comes faster than it sounds: where it runs dry all the same, something is late. */
  readonly ahead: boolean;
  /** The last few milliseconds that were written of it. */
  readonly edge: Uint8Array | null;
  /** It ran dry and was faded out. */
  readonly faded: boolean;
}

/** Stands for the stream of the lane's own sounds: older than any other, so that they come before what has not begun. */
export const OWN_STREAM = 0;

export function bytesOf({ pieces }: Utterance): number {
  return pieces.reduce((sum, { pcm }) => sum + pcm.byteLength, 0);
}

/** @param limits this many pieces stay as they came; behind them short ones become one of `joinedBytes` at most */
export function withPiece(
  pieces: readonly Piece[],
  piece: Piece,
  { alone, joinedBytes }: { readonly alone: number; readonly joinedBytes: number },
): readonly Piece[] {
  const last = pieces.at(-1);
  const isLong = (last?.pcm.byteLength ?? 0) + piece.pcm.byteLength > joinedBytes;
  if (last === undefined || pieces.length < alone || isLong) return [...pieces, piece];
  return pieces.with(-1, { ...last, pcm: joinPcm([last.pcm, piece.pcm]) });
}

/** Takes up to this many bytes off the front, as one stretch of sound. */
export function cut(pieces: readonly Piece[], bytes: number): { pcm: Uint8Array; pieces: readonly Piece[] } {
  const parts: Uint8Array[] = [];
  const left: Piece[] = [];
  let missing = bytes;
  for (const piece of pieces) {
    const { pcm } = piece;
    if (missing > 0) parts.push(pcm.subarray(0, missing));
    if (pcm.byteLength > missing) left.push({ ...piece, pcm: pcm.subarray(missing) });
    missing = Math.max(0, missing - pcm.byteLength);
  }
  return { pcm: joinPcm(parts), pieces: left };
}

export function newUtterance(stream: number, key: string, language?: string | null): Utterance {
  const fresh = { begun: false, pieces: [], complete: false, ahead: false, edge: null, faded: false };
  return { stream, key, ...(language != null && { language }), ...fresh };
}

/** Puts a sentence behind all others, or before those of newer streams that have not begun. */
export function insert(utterances: readonly Utterance[], utterance: Utterance): readonly Utterance[] {
  const newer = utterances.findIndex(({ stream, begun }) => !begun && stream > utterance.stream);
  return utterances.toSpliced(newer < 0 ? utterances.length : newer, 0, utterance);
}

export interface Limits {
  /** This much may wait between what sounds and the newest sentence. */
  readonly lagBytes: number;
  /** More than this is never kept. */
  readonly capacityBytes: number;
  /** And no more sentences than this, however short they are. */
  readonly sentences: number;
}

/** Which sentence has to go, so that speech does not lag: the oldest that has not begun; null: none. */
export function chooseVictim(utterances: readonly Utterance[], limits: Limits): Utterance | null {
  const newest = utterances.findLast(({ stream }) => stream !== OWN_STREAM);
  const waiting = utterances.filter((one) => !one.begun && one.stream !== OWN_STREAM && one !== newest);
  const total = utterances.reduce((sum, one) => sum + bytesOf(one), 0);
  const lag = waiting.reduce((sum, one) => sum + bytesOf(one), 0);
  const isTooMuch =
    lag > limits.lagBytes || total > limits.capacityBytes || waiting.length > limits.sentences;
  if (!isTooMuch) return null;
  // The one that sounds is only given up when it alone is too long, and then whole.
  return waiting[0] ?? (newest?.begun === false ? newest : (utterances[0] ?? null));
}
