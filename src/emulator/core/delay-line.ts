import type { Random } from '../../core/random.ts';

/** Delays all messages by `ms` and up to `jitterMs` more, until a given time. */
export interface Delay {
  readonly ms: number;
  readonly jitterMs: number;
  readonly until: number;
}

/** Delays messages as a fault requests, without reordering them. */
export class DelayLine {
  delay: Delay | null = null;
  private readonly random: Random;
  private lastAt = Number.NEGATIVE_INFINITY;

  constructor(random: Random) {
    this.random = random;
  }

  /** Time to send a message; null: at once. Even after the delay ends, no message overtakes an earlier one. */
  dueAt(now: number): number | null {
    if (this.delay !== null && now >= this.delay.until) this.delay = null;
    if (this.delay === null && now > this.lastAt) return null;
    const lateMs = this.delay === null ? 0 : this.delay.ms + this.random() * this.delay.jitterMs;
    this.lastAt = Math.max(this.lastAt, now + lateMs);
    return this.lastAt;
  }

  /** Forgets the earlier messages. */
  clear(): void {
    this.lastAt = Number.NEGATIVE_INFINITY;
  }
}
