import { isTalk } from '../../../sound/speech/decision.ts';
import type { BacklogChunk } from '../uplink/backlog.ts';

/** A stretch of the stream's audio, milliseconds from its first sample. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** One sent chunk, or the part of a chunk that belongs to one sentence. */
export interface Piece extends Span {
  readonly chunk: BacklogChunk;
  /** Span of the whole chunk. */
  readonly whole: Span;
  readonly sentAt: number;
  /** Number of the stretch of speech between two pauses. */
  readonly group: number;
  /** Ids of the sentences that the piece may belong to: none, one, or two where the service gives no times. */
  readonly claims: readonly string[];
  /** Languages in which a finished part of a translation covers the piece. */
  readonly spoken: readonly string[];
}

/** Cuts a piece in two at a moment of the stream's audio, if it lies inside the piece. */
export function splitAt(piece: Piece, ms: number): readonly Piece[] {
  if (ms <= piece.fromMs || ms >= piece.toMs) return [piece];
  return [
    { ...piece, toMs: ms },
    { ...piece, fromMs: ms },
  ];
}

export function isQuiet({ chunk }: Pick<Piece, 'chunk'>): boolean {
  return chunk.pcm === null || !chunk.voiced;
}

/**
 * Whether the voice detector is sure of speech.
 * @param mistakes how often it has recently been wrong; more evidence is needed then
 */
export function isSpeech({ chunk }: Pick<Piece, 'chunk'>, mistakes = 0): boolean {
  return !isQuiet({ chunk }) && (chunk.levels === undefined || isTalk(chunk.voiced, chunk.levels, mistakes));
}

/** Whether the piece stands for its whole chunk in a count: the first piece of a chunk does. */
export function isFirst({ fromMs, whole }: Piece): boolean {
  return fromMs === whole.fromMs;
}

export function lengthOf(spans: readonly Span[]): number {
  return spans.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
}
