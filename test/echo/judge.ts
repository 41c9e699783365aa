import { BLOCK_SAMPLES, type Performance, ROOM_DB, type Span } from './perform.ts';

/** What became of the echo of one sentence that nobody talked over, dB. */
export interface Sentence {
  readonly beganS: number;
  readonly lengthS: number;
  /** How much had been said before it, seconds. */
  readonly saidS: number;
  /** How much weaker it is behind the canceller. */
  readonly lossDb: number;
  readonly leftDb: number;
  readonly isGood: boolean;
}

/** What became of a visitor who talked over it. */
export interface Visit {
  /** Share of the frames in which they speak that is sent within 10 dB of what they said. */
  readonly sent: number;
  /** How much louder their voice is in what is sent. */
  readonly levelDb: number;
}

/** Echo that is left is no matter below the first of these, or so little above the room's noise. */
export const GOALS = { lossDb: 25, overRoomDb: 3, sent: 0.95, levelDb: 3 } as const;

/** What is judged of a performance. */
export type Judged = Pick<Performance, 'blocks' | 'said' | 'visited'>;

const BLOCKS_PER_S = 100;
/** A sentence within this many blocks of a visitor's is one that was talked over. */
const NEAR = 40;
/** A visitor speaks in frames of two blocks which are no more below their own level than this. */
const SPEAKS_DB = -15;
const WITHIN_DB = -10;

/** Softer than this nobody makes words of it, dBFS. */
const HEARD_DB = -47;

const db = (power: number): number => 10 * Math.log10(power + 1e-12);

function sum(values: Float32Array, { from, until }: Span): number {
  let total = 0;
  for (let block = from; block < until; block++) total += values[block] ?? 0;
  return total;
}

/** Every sentence that nobody talked over, the first included. */
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

/** Where a visitor and the loudspeaker speak at once. Only what is like the visitor's own sound counts as theirs. */
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

/** How long after the canceller was switched off the lane fell back, and after it was on again it returned; seconds. */
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

/** For how long echo that can be understood got through an open gate, seconds; where somebody visits, that cannot be told. */
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
