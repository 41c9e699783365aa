import type { Bus, BusMessage, BusProblem, LostMessage } from '../../ports/bus.ts';
import type { SignedContentReader } from '../guard/signed-content.ts';
import type { LaneStep } from '../lane/runner/lane-runner.ts';

/** A connection to the owner's broker. */
export interface Connection {
  readonly bus: Bus;
  /** Counts the connections of this process, from 1. */
  readonly number: number;
  /** The MQTT version. */
  readonly protocol: 4 | 5;
}

/**
 * A feature as the agent sees it: what the agent calls, and when. Every hook is optional. The features are called in any order:
 * a hook does not rely on what the same hook of another feature does.
 */
export interface Feature {
  /** Topics that it receives, beside those of every device. */
  readonly subscriptions?: readonly string[];
  /** Whether a lost connection to the broker must be retried within seconds. */
  readonly needsBroker?: boolean;
  /** The agent starts. From now on messages and events can reach the owner; the lanes start afterwards. */
  begin?(bus: Bus): void;
  /** A lane has made a step. */
  onStep?(step: LaneStep): void;
  /** Lanes were added or removed. */
  lanesChanged?(): void;
  /** The configuration in force has changed. */
  configChanged?(): void;
  /** The keys that identify the owner from now on; null: signatures are not checked. */
  trust?(signatures: SignedContentReader | null): void;
  /** A connection to the broker is up. */
  connected?(connection: Connection): void;
  /** The connection ended, or an attempt to connect failed. */
  disconnected?(problem: BusProblem): void;
  /** Takes a message. False if the topic is not one of its own: each topic belongs to one feature. */
  receive?(message: BusMessage, bus: Bus): boolean;
  /** A message was too large to be read. The topic may be another feature's. */
  oversized?(topic: string): void;
  /** A message to the broker was dropped. It may be another feature's. */
  lost?(message: LostMessage): void;
  /** The agent stops, and the lanes have ended their sessions. Resolves when all is published and saved. */
  close?(): void | Promise<void>;
  /** The connection is closed. Resolves when the files hold what was delivered. */
  saved?(): Promise<void>;
}
