/** What a world is made of, and how a seed draws it. */
import type { Dice } from './dice.ts';
import { EAGER, type Habits, OCCASIONAL } from './visitors.ts';

/**
 * Seeds of the first generation draw as they did when sentences were short and steady and there were fewer faults, those of
 * the second as they did when owners sent nothing but a few commands, those of the third as they did when every device was
 * always open, those of the fourth as they did when a translation came in one part, its text before its sound: what they found
 * once, they would find again.
 */
export type Generation = 1 | 2 | 3 | 4 | 5;
/** Where none is named. */
export const NEWEST: Generation = 5;

/** What a world is made of, beyond its dice. */
export interface Terms {
  readonly profile: 'spec' | 'live';
  readonly choices: Record<string, unknown>;
  readonly lane: Record<string, unknown>;
  readonly maxDurationS: number | null;
  readonly singleUse: boolean;
  readonly expiresS: number;
  readonly habits: Habits;
  readonly echo: boolean;
  /** How visitors speak: short and equally loud throughout, or as people do. */
  readonly talk: 'steady' | 'natural';
  readonly roomAmplitude: number;
  readonly pieceTicks: number;
  /** Types of messages that this service never sends. */
  readonly untold: readonly string[];
  /** A second lane in the same agent, with a desk of its own. */
  readonly twoLanes: boolean;
  /** Its owner commands groups and says what is desired, and what that comes to outlives the process. */
  readonly commanded: boolean;
  /** The machine boots without a clock. */
  readonly bootsIn1970: boolean;
}

const TEXTS: readonly string[] = [
  'validated_transcription',
  'partial_transcription',
  'translated_transcription',
  'partial_translated_transcription',
];

/**
 * The terms that a seed draws.
 * @param more dice for what came later: the rest of the old seeds stays as it was
 */
export function drawTerms(dice: Dice, more: Dice): Terms {
  const profile = dice.chance(0.75) ? 'live' : 'spec';
  const echo = dice.chance(0.6);
  return {
    profile,
    choices: {
      partialIntervalMs: 1000,
      setupMs: dice.pick([2500, 2100, 5000]),
      refusalDelivery: dice.pick(['http', 'message', 'close']),
      concurrent: 10,
      ...(profile === 'live' ? {} : { noAudioTimeoutMs: dice.pick([0, 10_000]) }),
    },
    lane: {
      echo: echo || dice.chance(0.5) ? 'half-duplex' : 'off',
      start: dice.chance(0.2) ? 'voice' : 'boot',
      standbyAfter: dice.pick([0, 0, 15, 60]),
      targets: dice.chance(0.85) ? ['es'] : ['es', 'fr'],
    },
    maxDurationS: dice.pick([null, 60, 120, 600]),
    singleUse: dice.chance(0.8),
    expiresS: dice.pick([60, 3600]),
    habits: dice.chance(0.5) ? EAGER : OCCASIONAL,
    echo,
    roomAmplitude: dice.pick([20, 60, 100]),
    pieceTicks: dice.pick([16, 16, 16, 5, 1]),
    bootsIn1970: dice.chance(0.3),
    talk: 'steady',
    twoLanes: false,
    commanded: false,
    untold: more.chance(0.9) ? [] : more.pick([TEXTS, TEXTS.slice(0, 1)]),
  };
}

/** The same world with visitors who speak as people do, with more languages, and sometimes with two lanes. */
export function naturalTerms(terms: Terms, dice: Dice): Terms {
  const targets = dice.chance(0.3) ? ['es', 'fr'] : terms.lane['targets'];
  const twoLanes = dice.chance(0.12) || terms.twoLanes;
  const times = drawTimes(dice);
  const choices = terms.profile === 'live' ? { ...terms.choices, ...times } : terms.choices;
  return {
    ...terms,
    choices,
    twoLanes,
    talk: 'natural',
    lane: { ...terms.lane, targets },
  };
}

/** The same world with an owner who says what is desired, and with a service that drops speech of which too much waits. */
export function commandedTerms(terms: Terms, dice: Dice): Terms {
  const queueLimits = dice.chance(0.5) && terms.profile === 'live';
  return { ...terms, commanded: true, choices: { ...terms.choices, queueLimits } };
}

/** The same world with a service that speaks a sentence in parts, or whose texts come behind their sound. */
export function partedTerms(terms: Terms, dice: Dice): Terms {
  if (terms.profile !== 'live') return terms;
  const parts = {
    translationParts: dice.pick([1, 2, 2, 3]),
    partIntervalMs: dice.pick([0, 600, 1500, 3000]),
  };
  const textsLateMs = dice.pick([0, 0, 2500, 10_000]);
  return { ...terms, choices: { ...terms.choices, ...parts, textsLateMs } };
}

/** Whether and how the service tells which seconds a transcript covers, and where it cuts long sentences. */
function drawTimes(dice: Dice): Record<string, unknown> {
  return {
    segments: dice.pick(['words', 'words', 'words', 'times', 'none']),
    segmentZero: dice.pick(['kept', 'reset']),
    forceSplitChars: dice.pick([100, 0]),
  };
}

/** Whether this service names sentences, says what it has understood, and tells its times, before it speaks. */
export function tellsAll({ profile, untold, choices }: Terms): boolean {
  const isLate = Number(choices['textsLateMs'] ?? 0) > 0;
  return profile === 'live' && untold.length === 0 && choices['segments'] !== 'none' && !isLate;
}

/** The same world with a lane that cancels its echo. */
export function cancelling(terms: Terms, dice: Dice): Terms {
  return {
    ...terms,
    echo: dice.chance(0.9),
    lane: { ...terms.lane, echo: 'cancel', bargeIn: dice.pick(['duck', 'flush']) },
  };
}
