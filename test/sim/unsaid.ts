/** Judges which speech was not said, in stretches, and whether that has a reason. */
import { TICK_MS } from './sound.ts';
import type { Excuse } from './speech-excuses.ts';
import type { Violations } from './violations.ts';

/** Longest piece that the service may take for noise (ticks); the last chunk before a microphone goes away may be one. */
const NOISE_TICKS = 16;
/** Longest soft beginning of a sentence that the service leaves out although it was sent to the sample (ticks). */
const SOFT_BEGIN_TICKS = 32;
/** Longest word so soft at both ends that the service hears less than 0.3 s of voice in it, and takes it for noise (ticks). */
const SOFT_WORD_TICKS = 20;
/** Time within which a service has spoken what it has heard (ms). */
const WENT_ON_MS = 12_000;

export interface Judging {
  readonly violations: Violations;
  /** Counts what was not said with a reason. */
  readonly excused: Record<Excuse, number>;
  /** Speech between them was cut in two. */
  isApart(one: number, next: number): boolean;
  isSaid(tick: number): boolean;
  excuse(tick: number): Excuse | null;
  /** A running task has heard it, and the service has spoken nothing of it. */
  isLeftOut(tick: number): boolean;
  /** The stream on which it was sent has gone on for so long that the service would have spoken it. */
  wentOn(tick: number): boolean;
  isRendered(tick: number): boolean;
  /** Whether it was said cannot be known. */
  isUnnamed(tick: number): boolean;
  describe(tick: number): string;
}

/** @param overAt when each connection was over */
export function hasGoneOn(
  sending: { readonly connection: number; readonly at: number } | undefined,
  overAt: ReadonlyMap<number, number>,
): boolean {
  if (sending === undefined) return false;
  return (overAt.get(sending.connection) ?? Number.POSITIVE_INFINITY) - sending.at > WENT_ON_MS;
}

/** Judges pieces of speech in the order in which they were spoken. @returns how many were said */
export function judgeTicks(ticks: readonly number[], judging: Judging): number {
  const { violations, excused, isLeftOut, isRendered, wentOn } = judging;
  const unsaid: number[] = [];
  let said = 0;
  /** The service has left it out and spoken the rest of its sentence, which begins right after it. */
  const isSoftBegin = (gone: readonly number[], next: number): boolean =>
    gone.length <= SOFT_BEGIN_TICKS &&
    gone.every(isLeftOut) &&
    isRendered(next) &&
    next - (gone.at(-1) ?? 0) <= NOISE_TICKS;
  const isSoftWord = (gone: readonly number[]): boolean =>
    gone.length <= SOFT_WORD_TICKS && gone.every((tick) => isLeftOut(tick) && wentOn(tick));
  const settle = (next: number | null): void => {
    const gone = unsaid.splice(0);
    const [first] = gone;
    if (first === undefined) return;
    const isNoise = gone.length <= NOISE_TICKS || isSoftWord(gone);
    if (isNoise || (next !== null && isSoftBegin(gone, next))) excused.service += gone.length;
    else if (gone.every(judging.isUnnamed)) excused.unnamed += gone.length;
    else
      violations.add(
        'lost',
        `${gone.length * TICK_MS} ms of speech were never said${judging.describe(first)}`,
      );
  };
  for (const tick of ticks) {
    if (judging.isApart(unsaid.at(-1) ?? tick, tick)) settle(tick);
    const isSaid = judging.isSaid(tick);
    const why = isSaid ? null : judging.excuse(tick);
    if (isSaid) said++;
    else if (why === null) {
      unsaid.push(tick);
      continue;
    } else excused[why]++;
    settle(tick);
  }
  settle(null);
  return said;
}
