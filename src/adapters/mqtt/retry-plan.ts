import type { Seed } from '../../core/random.ts';
import { beginReconnect, noteDown, noteUp, noteUrgency, tryMs } from '../../core/retry/reconnect.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ending } from './end-reasons.ts';

/** Number of silent closes after which the log suggests a reason. It has no other effect. */
const HINT_AFTER = 3;

/** Waits between two connections, according to the reconnect policy. */
export class RetryPlan {
  private readonly clock: Clock;
  private readonly open: () => void;
  private policy: ReturnType<typeof beginReconnect>;
  /** Start of the next attempt; null: none is planned. */
  private dueAt: number | null = null;
  private cancelTimer = (): void => {};
  /** Connections that the broker closed without a reason since the last stable one. */
  private silentCloses = 0;

  /** @param open opens the next connection */
  constructor(clock: Clock, seed: Seed, open: () => void) {
    this.clock = clock;
    this.open = open;
    this.policy = beginReconnect(seed);
  }

  /** Whether a caller waits for the connection. */
  get isUrgent(): boolean {
    return this.policy.urgent;
  }

  /** Timeout of an attempt (ms). */
  get tryMs(): number {
    return tryMs(this.policy);
  }

  noteUp(): void {
    this.policy = noteUp(this.policy, this.clock.now());
  }

  /**
   * A connection or an attempt has failed: plans the next attempt.
   * @returns whether this is the latest of several connections that the broker closed without a reason
   */
  noteDown(ending: Ending): boolean {
    const wasUp = this.policy.upSince !== null;
    const { state, waitMs } = noteDown(this.policy, ending, this.clock.now());
    this.policy = state;
    this.planFor(this.clock.now() + waitMs);
    if (state.failures === 1) this.silentCloses = 0;
    if (!wasUp || ending.silent !== true) return false;
    this.silentCloses += 1;
    return this.silentCloses >= HINT_AFTER;
  }

  /** @returns whether this is a change */
  setUrgent(isUrgent: boolean): boolean {
    if (isUrgent === this.policy.urgent) return false;
    const { state, dueAt } = noteUrgency(this.policy, isUrgent, this.dueAt, this.clock.now());
    this.policy = state;
    if (dueAt !== null && dueAt !== this.dueAt) this.planFor(dueAt);
    return true;
  }

  setDisputed(isDisputed: boolean): void {
    this.policy = { ...this.policy, isDisputed };
  }

  /** Opens the next connection at once. */
  openNow(): void {
    this.planFor(this.clock.now());
  }

  /** Ends the wait for the next attempt, if there is one. */
  skipWait(): void {
    if (this.dueAt !== null) this.openNow();
  }

  /** Another broker has accepted us: there is no wait, and failures at the previous broker do not count. */
  beginAgain(): void {
    this.cancel();
    this.dueAt = null;
    this.policy = { ...beginReconnect(this.policy.seed), urgent: this.policy.urgent };
  }

  cancel(): void {
    this.cancelTimer();
  }

  private planFor(dueAt: number): void {
    this.cancel();
    this.dueAt = dueAt;
    this.cancelTimer = this.clock.at(dueAt, () => {
      this.dueAt = null;
      this.open();
    });
  }
}
