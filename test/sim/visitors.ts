import type { Dice } from './dice.ts';
import { ENVELOPE } from './envelope.ts';
import { TICK_MS } from './sound.ts';

/** How people use the desk. Times are in milliseconds. */
export interface Habits {
  /** Mean silence between two visits. */
  readonly betweenVisitsMs: number;
  readonly sentencesPerVisit: readonly [number, number];
  /** Pause after a sentence of a visitor who does not wait for the answer. */
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

/** The people in front of the microphone. */
export interface Visitors {
  /**
   * Loudness at a moment: 0 for silence, otherwise a level of the envelope (1 if there is only one). Ask in order of time.
   * @param busy whether the loudspeaker is heard
   */
  speaks(at: number, busy: boolean): number;
  /** Whether a visitor speaks a sentence now. */
  readonly isTalking: boolean;
  /** All speech so far (ms), without hesitations. */
  readonly spokenMs: number;
  /** Number of the current or last sentence, from 1. */
  readonly sentence: number;
}

const LONGEST_WAIT_MS = 25_000;

interface Sentence {
  readonly lengthMs: number;
  /** Spoken without a pause, as when reading aloud. */
  readonly inOneGo: boolean;
}

/** Draws a sentence: most are short, a few last up to a minute. */
function drawSentence(dice: Dice): Sentence {
  const draw = dice.next();
  if (draw < 0.74) return { lengthMs: dice.between(1000, 6000), inOneGo: false };
  if (draw < 0.95) return { lengthMs: dice.between(3000, 20_000), inOneGo: dice.chance(0.5) };
  return { lengthMs: dice.between(8000, 60_000), inOneGo: true };
}

/** @param speechDice dice for natural speech; null: short sentences of equal loudness */
export function createVisitors(
  dice: Dice,
  habits: Habits,
  startAt: number,
  speechDice: Dice | null,
): Visitors {
  let nextAt = startAt + dice.wait(habits.betweenVisitsMs) / 2;
  let sentencesLeft = 0;
  let polite = true;
  let endsAt = Number.NEGATIVE_INFINITY;
  let hesitations: { from: number; until: number }[] = [];
  let sentence = 0;
  let beganAt = 0;
  let envelopeAt = 0;
  let spokenMs = 0;
  let lastAt = startAt;

  const begin = (at: number): void => {
    if (sentencesLeft === 0) {
      sentencesLeft = dice.whole(...habits.sentencesPerVisit);
      polite = dice.chance(habits.politeness);
    }
    sentencesLeft -= 1;
    sentence += 1;
    const { lengthMs, inOneGo } =
      speechDice === null ? { lengthMs: dice.between(1000, 6000), inOneGo: false } : drawSentence(speechDice);
    beganAt = at;
    envelopeAt = speechDice === null ? 0 : speechDice.whole(0, ENVELOPE.length - 1);
    endsAt = at + lengthMs;
    hesitations = [];
    if (!inOneGo && lengthMs > 2500 && dice.chance(0.5)) {
      const from = at + dice.between(800, lengthMs - 1200);
      hesitations.push({ from, until: from + dice.between(120, 900) });
    }
  };
  const levelAt = (at: number): number => {
    if (speechDice === null) return 1;
    const tick = Math.round((at - beganAt) / TICK_MS);
    return ENVELOPE[(envelopeAt + tick) % ENVELOPE.length] ?? 0;
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
        if (at < nextAt) return 0;
        if (busy && polite && at < nextAt + LONGEST_WAIT_MS) {
          // Wait for the end of the translation and 400 ms more.
          nextAt = Math.max(nextAt, at + 400);
          return 0;
        }
        begin(at);
      }
      if (at >= endsAt) {
        end(at);
        return 0;
      }
      const hesitates = hesitations.some(({ from, until }) => at >= from && at < until);
      if (hesitates) return 0;
      spokenMs += passedMs;
      return levelAt(at);
    },
  };
}
