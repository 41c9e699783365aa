import { asWall, type WallMs } from '../../protocol/common/time.ts';
import type { Schedule } from '../../protocol/config-hours.ts';
import type { Hold } from '../lane/state/lane-event.ts';
import { delayedOpeningAt } from './schedule.ts';

/** The facts that decide whether a lane may have a session. */
export interface Rules {
  readonly schedule: Schedule | null;
  /** How long after the opening time of the schedule the device opens. */
  readonly openingDelayMs: number;
  /** The budget of the day is used up. */
  readonly isSpent: boolean;
  /** When the local day ends; null: the clock is not set. */
  readonly dayEndsAt: WallMs | null;
  /** Until when an operator has opened the lane despite the schedule; null: not opened. */
  readonly openUntil: WallMs | null;
}

export interface Admission {
  /** Why no session may begin; null: one may. */
  readonly hold: Hold | null;
  /** Until when the hold lasts; null: unknown, or there is no hold. */
  readonly until: WallMs | null;
  /** When to judge again, if nothing else changes; null: never. */
  readonly changesAt: WallMs | null;
}

/** @param wall null: the clock is not set; then every schedule is open */
export function admissionOf(
  { schedule, openingDelayMs, isSpent, dayEndsAt, openUntil }: Rules,
  wall: WallMs | null,
): Admission {
  const always = { isOpen: true, changesAt: null };
  const opening = wall === null ? always : delayedOpeningAt(schedule, wall, openingDelayMs);
  const isOpened = wall === null || (openUntil !== null && openUntil > wall);
  const changesAt = earliest(opening.changesAt, isOpened ? openUntil : null, dayEndsAt);
  if (!opening.isOpen && !isOpened) return { hold: 'closed', until: opening.changesAt, changesAt };
  if (isSpent) return { hold: 'budget', until: dayEndsAt, changesAt };
  return { hold: null, until: null, changesAt };
}

function earliest(...moments: readonly (WallMs | null)[]): WallMs | null {
  const known = moments.filter((at) => at !== null);
  return known.length === 0 ? null : asWall(Math.min(...known));
}
