/** Tries a connection to another broker, beside the present one. */
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { Ending } from './end-reasons.ts';
import type { MqttConnection } from './endpoint.ts';
import type { Link } from './link.ts';
import { endHungTry, type Finale, type StartLink } from './link-starter.ts';

export interface TrialParts {
  readonly clock: Clock;
  /** How to reach the other broker; null: there is none. */
  readonly other: (() => MqttConnection) | null;
  readonly start: StartLink;
  /** Time limit of a try. */
  tryMs(): number;
  isPresent(link: Link): boolean;
  /** Replaces the present link, which is closed, by the one that was tried. */
  changeOver(to: MqttConnection, opened: Link, finale: Finale): void;
  /** The connection is up, over this link. */
  present(opened: Link, refused: readonly string[]): void;
  /** The present link has ended. */
  ended(ending: Ending): void;
  /** The other broker does not accept us. */
  failed(): void;
}

export function createTrial(parts: TrialParts) {
  const { clock, other, start } = parts;
  let trial: Link | null = null;
  let left = false;
  let openedAt = 0;
  let cancel = (): void => {};

  const limit = (): void => {
    cancel();
    cancel = clock.at(Math.max(clock.now(), openedAt + parts.tryMs()), () => endHungTry(trial));
  };

  const attempt: NonNullable<Bus['attempt']> = (finale, done) => {
    if (left || trial !== null || other === null) return;
    const to = other();
    openedAt = clock.now();
    limit();
    trial = start(to, {
      ready(opened, refused) {
        if (left || opened !== trial) return;
        cancel();
        trial = null;
        parts.changeOver(to, opened, finale);
        done(null);
        parts.present(opened, refused);
      },
      ended(opened, ending) {
        if (parts.isPresent(opened)) return parts.ended(ending);
        if (opened !== trial) return;
        cancel();
        trial = null;
        if (left) return;
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
      if (trial !== null) limit();
    },
    /** Cancels a trial, and starts no other. */
    close(): void {
      left = true;
      trial?.destroy();
    },
  };
}
