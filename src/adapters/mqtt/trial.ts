/** Tries a connection to another broker, alongside the present one. */
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ending } from './end-reasons.ts';
import type { MqttConnection } from './endpoint.ts';
import type { Link } from './link.ts';
import type { Finale, StartLink } from './link-starter.ts';
import { TryLimit } from './try-limit.ts';

export interface TrialParts {
  readonly clock: Clock;
  /** How to reach the other broker; null: there is none. */
  readonly other: (() => MqttConnection) | null;
  readonly start: StartLink;
  /** Time limit of a try (ms). */
  readonly tryMs: () => number;
  isPresent(link: Link): boolean;
  /** Closes the present link and uses the one that was tried. */
  changeOver(to: MqttConnection, opened: Link, finale: Finale): void;
  /** The connection is up, over this link. */
  ready(opened: Link, refused: readonly string[]): void;
  /** The present link has ended. */
  ended(ending: Ending): void;
  /** The other broker does not accept us. */
  failed(): void;
}

export function createTrial(parts: TrialParts) {
  const { clock, other, start } = parts;
  let trial: Link | null = null;
  let left = false;
  const limit = new TryLimit(clock, parts.tryMs, () => trial);

  const attempt: NonNullable<Bus['attempt']> = (finale, done) => {
    if (left || trial !== null || other === null) return;
    begin(other(), finale, done);
  };
  const begin = (to: MqttConnection, finale: Finale, done: (problem: string | null) => void): void => {
    limit.begin();
    trial = start(to, {
      ready(opened, refused) {
        if (left || opened !== trial) return;
        limit.cancel();
        trial = null;
        parts.changeOver(to, opened, finale);
        done(null);
        parts.ready(opened, refused);
      },
      ended(opened, ending) {
        if (parts.isPresent(opened)) return parts.ended(ending);
        if (opened !== trial) return;
        limit.cancel();
        trial = null;
        if (left) return;
        if (ending.asksForLess) return begin(to, finale, done);
        done(ending.message);
        parts.failed();
      },
    });
  };

  return {
    attempt,
    get isUnderWay() {
      return trial !== null;
    },
    /** The time limit has changed. */
    rush(): void {
      if (trial !== null) limit.adjust();
    },
    /** Cancels a trial, and starts no other. */
    close(): void {
      left = true;
      trial?.destroy();
    },
  };
}
