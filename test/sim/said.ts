/** Keeps account of the speech that was translated: in every language, and to its end. */
import type { Rendering } from './play-order.ts';
import { TICK_MS } from './sound.ts';
import { createTickList, type TickList } from './tick-list.ts';
import type { Violations } from './violations.ts';

/** Longest missing end with which a rendering still counts as played (ticks). */
const END_TICKS = 3;
/** Share of a rendering after which a visitor knows what it says, and hears it twice when it is played again. */
const UNDERSTOOD_SHARE = 0.8;
/** Overlap of two sentences that the service has cut apart (ticks): half a syllable is not a repeated word. */
const SEAM_TICKS = 8;

/** A translation and the part of it that was played. */
export interface Playing extends Rendering {
  readonly language: string;
  /** Its whole length (ticks). */
  readonly lengthTicks: number;
  /** The part that was played (ticks). */
  playedTicks: number;
  /** All of it has arrived, and the service did not mark its end. */
  lacksEnd: boolean;
}

export interface SaidAccount {
  /** Ticks translated twice because the service has no ids or times, or did not mark the end of the first rendering. */
  readonly repeatedTicks: number;
  /** A piece of speech is to be translated in these languages. */
  demand(tick: number, targets: readonly string[]): void;
  /** The languages have changed: speech in any one of them is enough. */
  relax(tick: number): void;
  /** The first sound of a rendering is played. */
  begin(playing: Playing): void;
  played(playing: Playing, ticks: number): void;
  /** This much of it was written, but not played. */
  missed(playing: Playing, ticks: number): void;
  isSaid(tick: number): boolean;
  /** The languages in which a piece of speech is still to be translated. */
  missing(tick: number): string[];
  /** Drops what is known about a piece of speech that was judged. */
  forget(tick: number): void;
}

const span = (ticks: readonly number[]): string => `${ticks[0]}-${ticks.at(-1)}`;

/** @param isExact the service sends ids and times: nothing may be translated twice */
export function createSaidAccount(violations: Violations, isExact: boolean): SaidAccount {
  /** The bit of each language in the masks. */
  const bits = new Map<string, number>();
  const demanded = createTickList(0);
  const whole = createTickList(0);
  const firstOf = new Map<number, TickList<Playing | undefined>>();
  let repeatedTicks = 0;
  let lastMask: { readonly of: readonly string[]; readonly mask: number } = { of: [], mask: 0 };

  const bitOf = (language: string): number => {
    const bit = bits.get(language) ?? 1 << bits.size;
    bits.set(language, bit);
    return bit;
  };
  /** Caches the mask: the same list comes with each piece of speech. */
  const maskOf = (languages: readonly string[]): number => {
    if (lastMask.of !== languages)
      lastMask = { of: languages, mask: languages.reduce((mask, language) => mask | bitOf(language), 0) };
    return lastMask.mask;
  };
  const earlierOf = (tick: number, bit: number): Playing | undefined => firstOf.get(bit)?.get(tick);
  const isUnderstood = (tick: number, bit: number): boolean => {
    if ((whole.get(tick) & bit) !== 0) return true;
    const earlier = earlierOf(tick, bit);
    return earlier !== undefined && earlier.playedTicks >= earlier.lengthTicks * UNDERSTOOD_SHARE;
  };
  const isSeam = (tick: number, bit: number): boolean => {
    const earlier = earlierOf(tick, bit)?.ticks ?? [];
    const [from, to] = [earlier[0], earlier.at(-1)];
    return from !== undefined && to !== undefined && (to - tick < SEAM_TICKS || tick - from < SEAM_TICKS);
  };

  return {
    get repeatedTicks() {
      return repeatedTicks;
    },
    demand(tick, targets) {
      demanded.set(tick, maskOf(targets));
    },
    relax(tick) {
      demanded.set(tick, 0);
    },
    begin(playing) {
      const { id, language, ticks } = playing;
      const bit = bitOf(language);
      const repeated = ticks.filter((tick) => isUnderstood(tick, bit) && !isSeam(tick, bit));
      const again = repeated.filter((tick) => isExact && earlierOf(tick, bit)?.lacksEnd !== true);
      repeatedTicks += repeated.length - again.length;
      if (again.length > 0) {
        const earlier = earlierOf(again[0] ?? 0, bit);
        violations.add(
          'twice',
          `${again.length * TICK_MS} ms were said twice in ${language}: rendering ${id} has ticks ${span(ticks)}, ${span(again)} of them again after ${earlier?.id} (${span(earlier?.ticks ?? [])})`,
        );
      }
      const known = firstOf.get(bit) ?? createTickList<Playing | undefined>(undefined);
      firstOf.set(bit, known);
      // A rendering that was cut off early does not count as the first one.
      for (const tick of ticks) if (!isUnderstood(tick, bit)) known.set(tick, playing);
    },
    played(playing, ticks) {
      const needed = Math.max(1, playing.lengthTicks - END_TICKS);
      const before = playing.playedTicks;
      playing.playedTicks += ticks;
      if (before >= needed || playing.playedTicks < needed) return;
      const bit = bitOf(playing.language);
      for (const tick of playing.ticks) whole.set(tick, whole.get(tick) | bit);
    },
    missed(playing, ticks) {
      playing.playedTicks -= ticks;
      if (playing.playedTicks >= Math.max(1, playing.lengthTicks - END_TICKS)) return;
      const bit = bitOf(playing.language);
      for (const tick of playing.ticks) whole.set(tick, whole.get(tick) & ~bit);
    },
    isSaid(tick) {
      const done = whole.get(tick);
      const wanted = demanded.get(tick);
      return wanted === 0 ? done !== 0 : (done & wanted) === wanted;
    },
    missing(tick) {
      const left = demanded.get(tick) & ~whole.get(tick);
      return [...bits].filter(([, bit]) => (left & bit) !== 0).map(([language]) => language);
    },
    forget(tick) {
      for (const known of firstOf.values()) known.set(tick, undefined);
    },
  };
}
