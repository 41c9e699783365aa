/** Finds stretches of speech that were not translated, and judges whether that has a reason. */
import { TICK_MS } from './sound.ts';
import type { Excuse } from './speech-excuses.ts';
import type { Violations } from './violations.ts';

/** Longest piece that the service may ignore as noise (ticks), such as the last chunk before a microphone is unplugged. */
const NOISE_TICKS = 16;
/** Longest soft beginning of a sentence that the service may skip (ticks). */
const SOFT_BEGIN_TICKS = 32;
/** Longest word (ticks) with soft ends in which the service detects less than 0.3 s of voice, and ignores it as noise. */
const SOFT_WORD_TICKS = 20;
/** Time within which a service speaks the speech that it has heard (ms). */
const WENT_ON_MS = 12_000;

export interface Judging {
  readonly violations: Violations;
  /** Counts unsaid speech by its reason. */
  readonly excused: Record<Excuse, number>;
  /** Whether two unsaid pieces belong to different stretches. */
  isApart(one: number, next: number): boolean;
  isSaid(tick: number): boolean;
  excuse(tick: number): Excuse | null;
  /** Whether a running task has heard it, and the service has spoken none of it. */
  isLeftOut(tick: number): boolean;
  /** Whether its stream continued for long enough to speak it. */
  wentOn(tick: number): boolean;
  isRendered(tick: number): boolean;
  /** Whether it is unknown if it was translated. */
  isUnnamed(tick: number): boolean;
  describe(tick: number): string;
}

/** Whether the stream of a piece of speech continued for long enough to speak it. @param overAt when each connection ended */
export function hasGoneOn(
  sending: { readonly connection: number; readonly at: number } | undefined,
  overAt: ReadonlyMap<number, number>,
): boolean {
  if (sending === undefined) return false;
  return (overAt.get(sending.connection) ?? Number.POSITIVE_INFINITY) - sending.at > WENT_ON_MS;
}

/** Judges pieces of speech in the order in which they were spoken. @returns how many were translated */
export function judgeTicks(ticks: readonly number[], judging: Judging): number {
  const { violations, excused, isLeftOut, isRendered, wentOn } = judging;
  const unsaid: number[] = [];
  let said = 0;
  /** The service has skipped it and spoken the rest of its sentence, which begins right after it. */
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
