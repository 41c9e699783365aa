import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import type { Playing } from './said.ts';
import type { Excuse } from './speech-excuses.ts';
import type { Word } from './told-sentences.ts';
import type { Violations } from './violations.ts';

/** A translation that the service has rendered. */
export interface Job extends Playing {
  /** The service's name for the sentence; several parts of its translation have the same. */
  readonly sentence: string;
  spoiled: boolean;
  readonly leftOut: boolean;
  readonly renderedAt: number;
  /** This much of it has reached the device. */
  deliveredTicks: number;
}

/** How a piece of speech was sent last. */
export interface Sending {
  readonly connection: number;
  readonly at: number;
  /** The connection was slower than real time. */
  readonly late: boolean;
  /** The last sign of life of the connection by then: an outage counts from there. */
  readonly quietSince: number;
}

export interface SpeechOracle {
  readonly spokenTicks: number;
  readonly saidTicks: number;
  /** Of these, the ones that were said after newer ones, because the stream that owed them was late or broke off. */
  readonly saidLate: number;
  readonly excused: Readonly<Record<Excuse, number>>;
  /** What was said twice because nobody could know that it had been said. */
  readonly repeatedTicks: number;
  /** A tick with speech was delivered by the microphone. */
  spoken(tick: number, at: number): void;
  step(step: LaneStep, now: number): void;
  /** A chunk was handed to a connection. */
  sent(connection: number, pcm: Uint8Array, now: number): void;
  /** The process died or was told to end. */
  ended(): void;
  accepted(connection: number, stream: string): void;
  /** Something has come on a connection: it works. */
  sign(connection: number, now: number): void;
  connectionOver(connection: number, now: number): void;
  live(now: number): void;
  heard(stream: string, sound: Int16Array, running: boolean): void;
  /** The service has not listened to what it heard: the network let it come in a heap. */
  overrun(sound: Int16Array): void;
  /** @param job `spoiled`: the service spoils its sound, so that its order and number tell nothing */
  rendered(job: {
    id: number;
    stream: string;
    /** The service's own name for the sentence, whether or not it tells it. */
    sentence: string;
    language: string;
    ticks: readonly number[];
    /** Of its sound. */
    lengthTicks: number;
    spoiled: boolean;
    /** It says no more of the sentence than it has in interim texts. */
    leftOut: boolean;
    renderedAt: number;
  }): void;
  /** The service begins to spoil sound: what is under way is spoiled, too. */
  spoiling(now: number): void;
  /** @param isNamed the service has told of which sentence it is */
  delivered(pcm: Uint8Array, isNamed: boolean, now: number): void;
  /** A transcript of a whole sentence has come. */
  word(connection: number, word: Word, now: number): void;
  written(pcm: Uint8Array, now: number): void;
  /** The loudspeaker did not take it; `written`: or has, and nobody will hear it. */
  untaken(pcm: Uint8Array, written?: boolean): void;
  /** @param heldSince when the oldest chunk was captured that the lane still holds: nothing from then on is judged */
  judge(now: number, heldSince: number): void;
}

export interface SpeechOracleSetup {
  readonly violations: Violations;
  /** Pieces of speech are numbered from here. */
  readonly firstTick: number;
  readonly echo: boolean;
  /** Nobody hears the loudspeaker, through no fault of the agent. */
  readonly isSilent: () => boolean;
  /** Whether the loudspeaker was heard between two moments. */
  readonly wasLoud: (from: number, until: number) => boolean;
  /** The connection is slower than real time: the service may be far behind. */
  readonly isLate: () => boolean;
  /** Whether the service writes down what is being said. */
  readonly writes: boolean;
  /** Whether the service names sentences. */
  readonly named: boolean;
  /** Whether the service tells, truthfully, which seconds of the stream it has understood. */
  readonly isExact: () => boolean;
  /** Whether it has told times that are not true. */
  readonly isLying: () => boolean;
  /** Whether all times that it has told so far were true. */
  readonly isTruthful: () => boolean;
  /** Whether speech of that moment may be lost for want of a stream. */
  readonly mayLose: (at: number) => boolean;
}
