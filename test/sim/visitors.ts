import type { Dice } from './dice.ts';

/** How people use the desk. Times are milliseconds. */
export interface Habits {
  /** Mean of the silence between two visits. */
  readonly betweenVisitsMs: number;
  readonly sentencesPerVisit: readonly [number, number];
  /** The pause after a sentence when nobody waits for the answer. */
  readonly pauseMs: readonly [number, number];
  /** Share of people who wait until the loudspeaker has finished. */
  readonly politeness: number;
}

export const EAGER: Habits = {
  betweenVisitsMs: 20_000,
  sentencesPerVisit: [3, 15],
  pauseMs: [900, 6000],
  politeness: 0.7,
};
export const OCCASIONAL: Habits = { ...EAGER, betweenVisitsMs: 400_000 };

/** The people in front of the microphone: says of each moment, asked in order, whether somebody speaks. */
export interface Visitors {
  /** @param busy whether the loudspeaker is heard */
  speaks(at: number, busy: boolean): boolean;
  /** A sentence is being said. */
  readonly isTalking: boolean;
  /** All speech so far, milliseconds, hesitations not counted. */
  readonly spokenMs: number;
  /** Number of the sentence that is or was said last, from 1. */
  readonly sentence: number;
}

const LONGEST_WAIT_MS = 25_000;

export function createVisitors(dice: Dice, habits: Habits, startAt: number): Visitors {
  let nextAt = startAt + dice.wait(habits.betweenVisitsMs) / 2;
  let sentencesLeft = 0;
  let polite = true;
  let endsAt = Number.NEGATIVE_INFINITY;
  let hesitations: { from: number; until: number }[] = [];
  let sentence = 0;
  let spokenMs = 0;
  let lastAt = startAt;

  const begin = (at: number): void => {
    if (sentencesLeft === 0) {
      sentencesLeft = dice.whole(...habits.sentencesPerVisit);
      polite = dice.chance(habits.politeness);
    }
    sentencesLeft -= 1;
    sentence += 1;
    const lengthMs = dice.between(1000, 6000);
    endsAt = at + lengthMs;
    hesitations = [];
    if (lengthMs > 2500 && dice.chance(0.5)) {
      const from = at + dice.between(800, lengthMs - 1200);
      hesitations.push({ from, until: from + dice.between(120, 900) });
    }
  };
  const end = (at: number): void => {
    endsAt = Number.NEGATIVE_INFINITY;
    nextAt = at + (sentencesLeft > 0 ? dice.between(...habits.pauseMs) : dice.wait(habits.betweenVisitsMs));
  };

  return {
    get isTalking() {
      return endsAt !== Number.NEGATIVE_INFINITY;
    },
    get spokenMs() {
      return spokenMs;
    },
    get sentence() {
      return sentence;
    },
    speaks(at, busy) {
      const passedMs = Math.min(at - lastAt, 40);
      lastAt = at;
      if (endsAt === Number.NEGATIVE_INFINITY) {
        if (at < nextAt) return false;
        if (busy && polite && at < nextAt + LONGEST_WAIT_MS) {
          // Waits for the end of the translation, and a breath more.
          nextAt = Math.max(nextAt, at + 400);
          return false;
        }
        begin(at);
      }
      if (at >= endsAt) {
        end(at);
        return false;
      }
      const hesitates = hesitations.some(({ from, until }) => at >= from && at < until);
      if (!hesitates) spokenMs += passedMs;
      return !hesitates;
    },
  };
}
