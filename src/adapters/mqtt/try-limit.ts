import type { Clock } from '../../ports/clock.ts';
import type { Link } from './link.ts';

/** Ends an attempt to connect that hangs before every subscription is in place. */
export class TryLimit {
  private readonly clock: Clock;
  private readonly tryMs: () => number;
  private readonly link: () => Link | null;
  private begunAt = 0;
  private cancelTimer = (): void => {};

  /**
   * @param tryMs how long an attempt may take now (ms)
   * @param link the link of the attempt
   */
  constructor(clock: Clock, tryMs: () => number, link: () => Link | null) {
    this.clock = clock;
    this.tryMs = tryMs;
    this.link = link;
  }

  /** An attempt begins. */
  begin(): void {
    this.begunAt = this.clock.now();
    this.adjust();
  }

  /** `tryMs` has changed: adjusts the timeout of the running attempt. */
  adjust(): void {
    this.cancel();
    const dueAt = Math.max(this.clock.now(), this.begunAt + this.tryMs());
    this.cancelTimer = this.clock.at(dueAt, () => endHungTry(this.link()));
  }

  cancel(): void {
    this.cancelTimer();
  }
}

function endHungTry(link: Link | null): void {
  if (link === null) return;
  link.destroy(
    link.accepted
      ? `${link.broker} does not answer the subscription`
      : `cannot reach ${link.broker}: no answer`,
  );
}
