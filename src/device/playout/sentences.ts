import { joinPcm } from '../../sound/pcm.ts';

/** The sentences that wait to be played, in playing order. */

/** A stretch of translated sound as received. */
export interface Piece {
  readonly pcm: Uint8Array;
  /** When it came off the wire, monotonic milliseconds. */
  readonly receivedAt: number;
}

export interface Utterance {
  readonly key: string;
  /** Language tag from the service, if it sends one. */
  readonly language?: string | null;
  /** Number of the sentence's stream. */
  readonly stream: number;
  /** Part of the sentence has been written. */
  readonly begun: boolean;
  readonly pieces: readonly Piece[];
  /** The service marked the end of the sentence. */
  readonly complete: boolean;
  /** The sentence arrives faster than it plays, so running dry means that something is late. */
  readonly ahead: boolean;
  /** The last few milliseconds that were written. */
  readonly edge: Uint8Array | null;
  /** The sentence ran dry and was faded out. */
  readonly faded: boolean;
  /** The sentence's last sound may be noise: further noise proves it. */
  readonly endsInNoise: boolean;
}

/** Stream number of the lane's own chimes: lower than any other, so that they play before sentences that have not begun. */
export const OWN_STREAM = 0;
/** Name of the chime that confirms a key press: whoever pressed speaks over it. */
export const ANSWER = 'answer';
/** Name of a translation that the lane speaks again from memory. */
export const REPEAT = 'repeat';
/** Name of a sentence of the spoken menu. */
export const PROMPT = 'prompt';
/** Name of a phrase of the house, from a sound file. */
export const PHRASE = 'phrase';

export function bytesOf({ pieces }: Pick<Utterance, 'pieces'>): number {
  return pieces.reduce((sum, { pcm }) => sum + pcm.byteLength, 0);
}

/** @param limits the first `alone` pieces stay separate; after them, short ones are joined up to `joinedBytes` */
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

/** Takes up to this many bytes from the front, as one stretch of sound. */
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
  return { stream, key, ...(language != null && { language }), ...fresh, endsInNoise: false };
}

/** Inserts a sentence at the end, but before sentences of newer streams that have not begun. */
export function insert(utterances: readonly Utterance[], utterance: Utterance): readonly Utterance[] {
  const newer = utterances.findIndex(({ stream, begun }) => !begun && stream > utterance.stream);
  return utterances.toSpliced(newer < 0 ? utterances.length : newer, 0, utterance);
}

export interface Limits {
  /** Maximum waiting sound between the current sentence and the newest one. */
  readonly lagBytes: number;
  /** Maximum sound that is ever kept. */
  readonly capacityBytes: number;
  /** Maximum number of waiting sentences, however short. */
  readonly sentences: number;
}

/** Picks the sentence to drop against lag: the oldest that has not begun; null: none. */
export function chooseVictim(utterances: readonly Utterance[], limits: Limits): Utterance | null {
  const newest = utterances.findLast(({ stream }) => stream !== OWN_STREAM);
  const waiting = utterances.filter((one) => !one.begun && one.stream !== OWN_STREAM && one !== newest);
  const total = utterances.reduce((sum, one) => sum + bytesOf(one), 0);
  const lag = waiting.reduce((sum, one) => sum + bytesOf(one), 0);
  const isTooMuch =
    lag > limits.lagBytes || total > limits.capacityBytes || waiting.length > limits.sentences;
  if (!isTooMuch) return null;
  // The current sentence is dropped only if it alone is too long, and then whole.
  return waiting[0] ?? (newest?.begun === false ? newest : (utterances[0] ?? null));
}
