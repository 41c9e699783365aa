/** The properties of a world, and how a seed draws them. */
import type { Dice } from './dice.ts';
import { EAGER, type Habits, OCCASIONAL } from './visitors.ts';

/**
 * Version of the draws. 1: short sentences of equal loudness, and fewer kinds of faults. 2: also natural speech, and documents
 * and commands of an owner. 3: also opening hours, budgets, texts and translations in parts. A regression seed keeps its
 * generation, so that it draws the same world.
 */
export type Generation = 1 | 2 | 3;
/** The default generation. */
export const NEWEST: Generation = 3;

/**
 * Content of the service's messages. a: transcription ids and the times of each transcript, as a live service sends them.
 * b: ids without times. c: neither, as in the specification.
 */
export const SERVICE_CASES = ['a', 'b', 'c'] as const;
export type ServiceCase = (typeof SERVICE_CASES)[number];

/** The properties of a world. */
export interface Terms {
  readonly profile: 'spec' | 'live';
  readonly choices: Record<string, unknown>;
  readonly lane: Record<string, unknown>;
  readonly maxDurationS: number | null;
  readonly singleUse: boolean;
  readonly expiresS: number;
  readonly habits: Habits;
  readonly echo: boolean;
  /** How visitors speak: short sentences of equal loudness, or natural speech. */
  readonly talk: 'steady' | 'natural';
  readonly roomAmplitude: number;
  readonly pieceTicks: number;
  /** The agent has a second lane with its own visitors. */
  readonly twoLanes: boolean;
  /** The owner sends documents and commands, and the device stores them on a disk. */
  readonly commanded: boolean;
  /** The wall clock is not set at the start. */
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

/** The same world with natural speech, more languages, and sometimes two lanes. */
export function naturalTerms(terms: Terms, dice: Dice): Terms {
  const targets = dice.chance(0.3) ? ['es', 'fr'] : terms.lane['targets'];
  const twoLanes = dice.chance(0.12) || terms.twoLanes;
  const segments = dice.pick(['words', 'words', 'words', 'times', 'none']);
  // A draw that is no longer used: with it, regression seeds draw the same as before.
  dice.next();
  const forceSplitChars = dice.pick([100, 0]);
  const choices = terms.profile === 'live' ? { ...terms.choices, segments, forceSplitChars } : terms.choices;
  return { ...terms, choices, twoLanes, talk: 'natural', lane: { ...terms.lane, targets } };
}

/** The same world with an owner, and perhaps a service that drops speech when its queue is full. */
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
