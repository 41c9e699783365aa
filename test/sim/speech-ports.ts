import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import type { Playing } from './said.ts';
import type { Excuse } from './speech-excuses.ts';
import type { ServiceCase } from './terms.ts';
import type { Violations } from './violations.ts';

/** A sentence, or a part of it, that the service has understood and speaks in one language. */
export interface Rendered {
  readonly id: number;
  readonly stream: string;
  /** The service's id of the sentence; the parts of its translation share it. */
  readonly sentence: string;
  readonly language: string;
  /** The pieces of speech that it translates. */
  readonly ticks: readonly number[];
  /** Length of its sound (ticks). */
  readonly lengthTicks: number;
}

export interface Job extends Rendered, Playing {
  /** The part that has reached the device (ticks). */
  deliveredTicks: number;
}

/** The last time that a piece of speech was sent. */
export interface Sending {
  readonly connection: number;
  readonly at: number;
  /** The connection's last sign of life before that: an outage counts from there. */
  readonly quietSince: number;
}

export interface SpeechOracle {
  readonly spokenTicks: number;
  readonly saidTicks: number;
  /** Ticks translated after newer speech because their stream was late or broke. */
  readonly saidLate: number;
  readonly excused: Readonly<Record<Excuse, number>>;
  /** Ticks translated twice by a service without ids or times. */
  readonly repeatedTicks: number;
  /** The microphone delivers a tick with speech. */
  spoken(tick: number, at: number): void;
  step(step: LaneStep, now: number): void;
  /** A chunk was handed to a connection. */
  sent(connection: number, pcm: Uint8Array, now: number): void;
  /** The process died, or the lane was stopped. */
  ended(): void;
  accepted(connection: number, stream: string): void;
  /** A message or pong has arrived: the connection works. */
  sign(connection: number, now: number): void;
  /** A text or sound has arrived on it. */
  reacted(connection: number, now: number): void;
  connectionOver(connection: number, now: number): void;
  live(now: number): void;
  heard(stream: string, sound: Int16Array, running: boolean): void;
  /** The service has skipped this sound because too much came at once. */
  overrun(sound: Int16Array): void;
  rendered(job: Rendered): void;
  /** Translated sound has arrived. @param isLast whether the service marked it as the end of its rendering */
  delivered(pcm: Uint8Array, isLast: boolean, now: number): void;
  /** Some sound was handed to the loudspeaker. */
  written(pcm: Uint8Array, now: number): void;
  /** The loudspeaker did not take this sound; `written`: it did, but will not play it. */
  untaken(pcm: Uint8Array, written?: boolean): void;
  /** @param heldSince capture time of the oldest chunk that the lane still holds: later speech is not judged yet */
  judge(now: number, heldSince: number): void;
  /** Compares the unsaid speech of the whole run with the device's counts. */
  compareCounts(): void;
}

export interface SpeechOracleSetup {
  readonly violations: Violations;
  /** Number of the first piece of speech. */
  readonly firstTick: number;
  readonly echo: boolean;
  readonly serviceCase: ServiceCase;
  /** Whether the loudspeaker is not heard, and the agent is not to blame. */
  readonly isSilent: () => boolean;
  /** Whether the loudspeaker was heard between two moments. */
  readonly wasLoud: (from: number, until: number) => boolean;
  /** Whether speech of that moment may be lost for lack of a stream. */
  readonly mayLose: (at: number) => boolean;
}
