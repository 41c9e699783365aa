/** What a world is made of, and how a seed draws it. */
import type { Dice } from './dice.ts';
import { EAGER, type Habits, OCCASIONAL } from './visitors.ts';

/**
 * How a seed draws. 1: short sentences of equal loudness, and fewer kinds of faults. 2: natural speech, documents and commands of
 * an owner. 3: opening hours, budgets, texts and translations in parts as well. A regression seed keeps its generation, so that
 * it draws the same world again.
 */
export type Generation = 1 | 2 | 3;
/** How a seed draws unless a generation is named. */
export const NEWEST: Generation = 3;

/**
 * What the messages of a service say. a: transcription ids and the times of each transcript, as a live service does.
 * b: ids without times. c: neither, as the messages of the specification.
 */
export const SERVICE_CASES = ['a', 'b', 'c'] as const;
export type ServiceCase = (typeof SERVICE_CASES)[number];

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
  /** The agent has a second lane, with a desk of its own. */
  readonly twoLanes: boolean;
  /** Its owner sends documents and commands, and their effect outlives the process. */
  readonly commanded: boolean;
  /** The machine boots without a clock. */
  readonly bootsIn1970: boolean;
}

export function drawTerms(dice: Dice): Terms {
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
  };
}

/** The same world with visitors who speak as people do, with more languages, and sometimes with two lanes. */
export function naturalTerms(terms: Terms, dice: Dice): Terms {
  const targets = dice.chance(0.3) ? ['es', 'fr'] : terms.lane['targets'];
  const twoLanes = dice.chance(0.12) || terms.twoLanes;
  const segments = dice.pick(['words', 'words', 'words', 'times', 'none']);
  // A choice that is no more was drawn here: regression seeds draw the next one as before.
  dice.next();
  const forceSplitChars = dice.pick([100, 0]);
  const choices = terms.profile === 'live' ? { ...terms.choices, segments, forceSplitChars } : terms.choices;
  return { ...terms, choices, twoLanes, talk: 'natural', lane: { ...terms.lane, targets } };
}

/** The same world with an owner, and with a service that drops speech when too much of it waits. */
export function commandedTerms(terms: Terms, dice: Dice): Terms {
  const queueLimits = dice.chance(0.5) && terms.profile === 'live';
  return { ...terms, commanded: true, choices: { ...terms.choices, queueLimits } };
}

/** The same world with a service that may translate a sentence in parts. */
export function partedTerms(terms: Terms, dice: Dice): Terms {
  if (terms.profile !== 'live') return terms;
  return { ...terms, choices: { ...terms.choices, translationParts: dice.pick([1, 2, 2, 3]) } };
}

export function serviceCaseOf({ profile, choices }: Pick<Terms, 'profile' | 'choices'>): ServiceCase {
  if (profile === 'spec') return 'c';
  return choices['segments'] === 'none' ? 'b' : 'a';
}

/** The same world with a service of this case. */
export function withService(terms: Terms, wanted: ServiceCase): Terms {
  if (serviceCaseOf(terms) === wanted) return terms;
  if (wanted === 'c') return { ...terms, profile: 'spec', choices: { ...terms.choices, segments: 'none' } };
  const segments = wanted === 'a' ? 'words' : 'none';
  return { ...terms, profile: 'live', choices: { ...terms.choices, segments } };
}

/** The same world with a lane that cancels its echo. */
export function cancelling(terms: Terms, dice: Dice): Terms {
  return {
    ...terms,
    echo: dice.chance(0.9),
    lane: { ...terms.lane, echo: 'cancel', bargeIn: dice.pick(['duck', 'flush']) },
  };
}
