import { isTalk, mayBeSpeech } from '../../speech/decision.ts';
import type { BacklogChunk } from '../backlog.ts';

/** One sent chunk, or the part of it that belongs to one sentence. Positions are milliseconds of the stream's audio. */
export interface Piece {
  readonly chunk: BacklogChunk;
  /** Where the whole chunk begins and ends. */
  readonly whole: Span;
  readonly fromMs: number;
  readonly toMs: number;
  readonly sentAt: number;
  readonly group: number;
  /** The sentence that it belongs to, where the service has understood it. */
  readonly sentence: string | null;
  /** Languages in which the part of the translation that speaks it is over, while other parts are not. */
  readonly spoken?: readonly string[];
  /** The service has cut a sentence off in running speech, somewhere here: it may belong to the next one. */
  readonly seam?: Seam;
}

/** A piece, divided at a moment if that lies within it. */
export function splitAt(piece: Piece, ms: number): readonly Piece[] {
  if (ms <= piece.fromMs || ms >= piece.toMs) return [piece];
  return [
    { ...piece, toMs: ms },
    { ...piece, fromMs: ms },
  ];
}

/** The place between two sentences where the service tells no times: its word of the first comes when the second is under way. */
export interface Seam {
  /** The first sentence. */
  readonly of: string;
  readonly toMs: number;
  /** The second sentence; null while it is not understood. */
  readonly next: string | null;
  /** Interim texts of the second one came first: it is owed with that one. */
  readonly isOfWritten?: boolean;
}

/** A stretch of the stream's audio, milliseconds from its first sample. */
export interface Span {
  readonly fromMs: number;
  readonly toMs: number;
}

/** Whether somebody speaks in it, as far as can be told. */
export function isSpeech(piece: Pick<Piece, 'chunk'>): boolean {
  return isSpeechDespite(piece, 0);
}

/** The same in a room where something else has been taken for speech so often of late. */
export function isSpeechDespite({ chunk }: Pick<Piece, 'chunk'>, mistakes: number): boolean {
  return !isQuiet({ chunk }) && (chunk.levels === undefined || isTalk(chunk.voiced, chunk.levels, mistakes));
}

/** Whether somebody may speak in it. */
export function maybeSpeech(piece: Pick<Piece, 'chunk'>): boolean {
  const { voiced, levels } = piece.chunk;
  return isSpeech(piece) || (!isQuiet(piece) && (levels === undefined || mayBeSpeech(voiced, levels)));
}

/** Length of the speech in it: all that may be speech, in a stretch of which the voice detector is sure somewhere. */
export function speechMs(pieces: readonly Piece[]): number {
  const sureGroups = new Set(pieces.filter(isSpeech).map(({ group }) => group));
  const likely = pieces.filter((piece) => sureGroups.has(piece.group) && maybeSpeech(piece));
  return likely.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
}

/** Sound this short between two pauses is no sentence to a service. */
const NOISE_MS = 320;

/** Tells which of these pieces are noises: sound so short between two pauses that a service leaves it out. */
export function noisesIn(pieces: readonly Piece[]): (piece: Piece) => boolean {
  const lengthOf = (own: readonly Piece[]): number =>
    own.reduce((sum, { fromMs, toMs }) => sum + toMs - fromMs, 0);
  return ({ group }) => lengthOf(pieces.filter((one) => one.group === group)) <= NOISE_MS;
}

/** Whether a piece lets a service hear a pause. */
export function isQuiet({ chunk }: Pick<Piece, 'chunk'>): boolean {
  return chunk.pcm === null || !chunk.voiced;
}
