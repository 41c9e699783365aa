/** The surroundings of one lane: visitors, microphone, loudspeaker, and the oracles that check it. */
import { createLoudspeaker, createMicrophone, type Loudspeaker, type Microphone } from './devices.ts';
import type { Dice } from './dice.ts';
import { LEVELS } from './envelope.ts';
import { createLaneOracle, type LaneOracle } from './lane-oracle.ts';
import { createReportsOracle, type ReportsOracle } from './reports-oracle.ts';
import type { SimClock } from './sim-clock.ts';
import { createSpeechOracle } from './speech-oracle.ts';
import type { SpeechOracle } from './speech-ports.ts';
import { serviceCaseOf, type Terms } from './terms.ts';
import type { Violations } from './violations.ts';
import { createVisitors, type Visitors } from './visitors.ts';

export interface Room {
  /** The lane's id. */
  readonly id: string;
  readonly speaker: Loudspeaker;
  readonly microphone: Microphone;
  readonly visitors: Visitors;
  readonly speech: SpeechOracle;
  readonly lane: LaneOracle;
  readonly reports: ReportsOracle;
  /** Tokens of its open connections, by connection number. */
  readonly connections: Map<number, string | null>;
}

export interface RoomSetup {
  readonly id: string;
  readonly clock: SimClock;
  readonly violations: Violations;
  readonly terms: Terms;
  readonly dice: Dice;
  /** Dice for how people speak. */
  readonly speechDice: Dice;
  readonly startAt: number;
  /** Number of the first piece of speech. */
  readonly firstTick: number;
  /** Whether the lane has no loudspeaker because a port threw. */
  readonly isWithoutLoudspeaker: () => boolean;
  readonly mayLose: (at: number) => boolean;
}

export function createRoom(setup: RoomSetup): Room {
  const { id, clock, violations, terms, dice, firstTick } = setup;
  const cancels = terms.lane['echo'] === 'cancel';
  const isSteady = terms.talk === 'steady';
  const speechDice = isSteady ? null : setup.speechDice;
  const speaker = createLoudspeaker(
    clock,
    // The marks in ducked sound cannot be read.
    (pcm) => (cancels ? undefined : speech.written(pcm, clock.now())),
    (pcm) => speech.untaken(pcm, true),
  );
  const speech = createSpeechOracle({
    violations,
    firstTick,
    mayLose: setup.mayLose,
    serviceCase: serviceCaseOf(terms),
    echo: terms.echo && terms.lane['echo'] !== 'off',
    isSilent: () => !speaker.isPlugged || setup.isWithoutLoudspeaker(),
    wasLoud: (from, until) => speaker.wasDriven(from, until),
  });
  const visitors = createVisitors(dice.fork(), terms.habits, setup.startAt, speechDice);
  const microphone = createMicrophone({
    clock,
    dice: dice.fork(),
    visitors,
    speaker,
    firstTick,
    echo: terms.echo,
    roomAmplitude: terms.roomAmplitude,
    pieceTicks: terms.pieceTicks,
    voices: isSteady ? undefined : LEVELS,
    note({ first, ticks, until }) {
      for (const [index, tick] of ticks.entries()) {
        if (tick === 'speech') speech.spoken(first + index, until);
      }
    },
  });
  const lane = createLaneOracle(violations);
  const reports = createReportsOracle(violations, id);
  return { id, speaker, microphone, visitors, speech, lane, reports, connections: new Map() };
}
