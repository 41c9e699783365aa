import { BLOCK_SAMPLES, type Performance, ROOM_DB, type Span } from './perform.ts';

/** The echo of one sentence without a visitor, in dB. */
export interface Sentence {
  readonly beganS: number;
  readonly lengthS: number;
  /** Length of speech before it (s). */
  readonly saidS: number;
  /** Attenuation by the canceller. */
  readonly lossDb: number;
  readonly leftDb: number;
  readonly isGood: boolean;
}

/** A visitor who talked over the loudspeaker. */
export interface Visit {
  /** Share of the visitor's speech frames that are sent within 10 dB of the original. */
  readonly sent: number;
  /** Change of the voice's level in the sent sound. */
  readonly levelDb: number;
}

/** Goals: attenuation of the echo, or its level above the room's noise; share and level of a visitor. */
export const GOALS = { lossDb: 25, overRoomDb: 3, sent: 0.95, levelDb: 3 } as const;

/** The parts of a performance that are judged. */
export type Judged = Pick<Performance, 'blocks' | 'said' | 'visited'>;

const BLOCKS_PER_S = 100;
/** Distance in blocks to a visitor's sentence up to which a sentence counts as talked over. */
const NEAR = 40;
/** Level relative to the visitor's own from which a frame of two blocks counts as speech. */
const SPEAKS_DB = -15;
const WITHIN_DB = -10;

/** Level below which speech cannot be understood (dBFS). */
const HEARD_DB = -47;

const db = (power: number): number => 10 * Math.log10(power + 1e-12);

function sum(values: Float32Array, { from, until }: Span): number {
  let total = 0;
  for (let block = from; block < until; block++) total += values[block] ?? 0;
  return total;
}

/** Judges every sentence without a visitor, including the first. */
export function judgeEcho({ blocks, said, visited }: Judged): Sentence[] {
  let before = 0;
  return said
    .map((span) => {
      const saidS = before / BLOCKS_PER_S;
      before += span.until - span.from;
      return { span, saidS };
    })
    .filter(
      ({ span: { from, until } }) =>
        !visited.some((visit) => visit.from < until + NEAR && visit.until > from - NEAR),
    )
    .map(({ span, saidS }) => {
      const samples = (span.until - span.from) * BLOCK_SAMPLES;
      const [heard, left, room] = [blocks.heard, blocks.left, blocks.room].map((values) =>
        db(sum(values, span) / samples),
      );
      const [heardDb, leftDb, roomDb] = [heard ?? 0, left ?? 0, room ?? ROOM_DB];
      const lossDb = heardDb - leftDb;
      const isGood = lossDb >= GOALS.lossDb || leftDb <= roomDb + GOALS.overRoomDb;
      const beganS = span.from / BLOCKS_PER_S;
      const lengthS = (span.until - span.from) / BLOCKS_PER_S;
      return { beganS, lengthS, saidS, lossDb, leftDb, isGood };
    });
}

/** Judges a visitor while the loudspeaker plays. Only sound that correlates with the visitor's counts. */
export function judgeVisitor({ blocks, said, visited }: Judged): Visit | null {
  const spoken = visited.reduce((total, span) => total + sum(blocks.visitor, span), 0);
  const length = visited.reduce((total, { from, until }) => total + until - from, 0);
  if (length === 0) return null;
  const least = (spoken / length) * 10 ** (SPEAKS_DB / 10);
  let [frames, sent, both, power] = [0, 0, 0, 0];
  for (const { from, until } of said) {
    for (let block = from; block + 1 < until; block += 2) {
      const frame = { from: block, until: block + 2 };
      const visitor = sum(blocks.visitor, frame);
      if (visitor < 2 * least) continue;
      const isOpen = blocks.isOpen[block] === 1 && blocks.isOpen[block + 1] === 1;
      const likeness = isOpen ? sum(blocks.both, frame) : 0;
      frames += 1;
      both += likeness;
      power += visitor;
      if (likeness >= visitor * 10 ** (WITHIN_DB / 20)) sent += 1;
    }
  }
  return frames === 0
    ? null
    : { sent: sent / frames, levelDb: 20 * Math.log10(Math.max(1e-3, both / power)) };
}

/** Time from switching the canceller off to the fallback, and from switching it on to the return (s). */
export function judgeFallback({ cell, told, beganAt }: Performance): {
  fellS: number | null;
  backS: number | null;
} {
  const at = (kind: string): number | null => {
    const found = told.find((one) => one.kind === kind);
    return found === undefined ? null : (found.at - beganAt) / 1000;
  };
  const [fell, back] = [at('echo_fallback'), at('echo_restored')];
  const off = cell.off ?? { from: 0, until: 0 };
  return { fellS: fell === null ? null : fell - off.from, backS: back === null ? null : back - off.until };
}

export const fallbacks = ({ told }: Performance): number =>
  told.filter(({ kind }) => kind === 'echo_fallback').length;

/** Time in which understandable echo passed an open gate (s). It cannot be measured with a visitor. */
export function heardThrough({ blocks, said }: Performance): number {
  const least = 10 ** (HEARD_DB / 10) * BLOCK_SAMPLES;
  let count = 0;
  for (const { from, until } of said)
    for (let block = from; block < until; block++) {
      const quiet = Math.max(least, 2 * (blocks.room[block] ?? 0));
      if (blocks.isOpen[block] === 1 && (blocks.left[block] ?? 0) > quiet) count += 1;
    }
  return count / BLOCKS_PER_S;
}
