import type { LaneStep } from '../../src/agent/lane/lane-runner.ts';
import type { Playing } from './said.ts';
import type { Excuse } from './speech-excuses.ts';
import type { ServiceCase } from './terms.ts';
import type { Violations } from './violations.ts';

/** A sentence, or a part of it, that the service has understood and speaks in one language. */
export interface Rendered {
  readonly id: number;
  readonly stream: string;
  /** The service's name of the sentence; the parts of its translation share it. */
  readonly sentence: string;
  readonly language: string;
  /** The pieces of speech that it translates. */
  readonly ticks: readonly number[];
  /** Length of its sound. */
  readonly lengthTicks: number;
}

export interface Job extends Rendered, Playing {
  /** How much of it has reached the device. */
  deliveredTicks: number;
}

/** How a piece of speech was sent last. */
export interface Sending {
  readonly connection: number;
  readonly at: number;
  /** The last sign of life of the connection by then: an outage counts from there. */
  readonly quietSince: number;
}

export interface SpeechOracle {
  readonly spokenTicks: number;
  readonly saidTicks: number;
  /** Said after newer speech, because the stream that owed it was late or broke off. */
  readonly saidLate: number;
  readonly excused: Readonly<Record<Excuse, number>>;
  /** Said twice by a service without ids or times. */
  readonly repeatedTicks: number;
  /** The microphone delivered a tick with speech. */
  spoken(tick: number, at: number): void;
  step(step: LaneStep, now: number): void;
  /** A chunk was handed to a connection. */
  sent(connection: number, pcm: Uint8Array, now: number): void;
  /** The process died or was told to end. */
  ended(): void;
  accepted(connection: number, stream: string): void;
  /** Something has come on a connection: it works. */
  sign(connection: number, now: number): void;
  /** A text or sound has come on it. */
  reacted(connection: number, now: number): void;
  connectionOver(connection: number, now: number): void;
  live(now: number): void;
  heard(stream: string, sound: Int16Array, running: boolean): void;
  /** The service has not listened to what it heard: it came in a heap. */
  overrun(sound: Int16Array): void;
  rendered(job: Rendered): void;
  /** @param isLast marked as the end of its rendering */
  delivered(pcm: Uint8Array, isLast: boolean, now: number): void;
  /** Some sound was handed to the loudspeaker. */
  written(pcm: Uint8Array, now: number): void;
  /** The loudspeaker did not take it; `written`: it did, and it will not sound. */
  untaken(pcm: Uint8Array, written?: boolean): void;
  /** @param heldSince when the oldest chunk was captured that the lane still holds: nothing after it is judged */
  judge(now: number, heldSince: number): void;
  /** Compares what was not said in the whole run with what the device has counted. */
  compareCounts(): void;
}

export interface SpeechOracleSetup {
  readonly violations: Violations;
  /** Pieces of speech are numbered from here. */
  readonly firstTick: number;
  readonly echo: boolean;
  readonly serviceCase: ServiceCase;
  /** The loudspeaker is not heard, through no fault of the agent. */
  readonly isSilent: () => boolean;
  /** Whether the loudspeaker was heard between two moments. */
  readonly wasLoud: (from: number, until: number) => boolean;
  /** Whether speech of that moment may be lost for want of a stream. */
  readonly mayLose: (at: number) => boolean;
}
