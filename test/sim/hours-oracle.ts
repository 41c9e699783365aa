/** Checks opening hours and the daily budget: a closed device has no stream and reports why; the budget is not exceeded. */

import type { LaneState } from '../../src/device/lane/state/lane-state.ts';
import { streamsOf } from '../../src/device/lane/state/session-state.ts';
import { OPENING_SPREAD_MS } from '../../src/device/limits/schedule.ts';
import { type DrawnSchedule, dayBy, isOpenBy, NO_DAY } from './hours.ts';
import type { Violations } from './violations.ts';

/** Opening hours and budget as the owner has set them. */
export interface Hours {
  readonly schedule: DrawnSchedule | null;
  readonly minutesPerDay: number | null;
}

export const ALWAYS: Hours = { schedule: null, minutesPerDay: null };

export interface HoursOracle {
  ordered(hours: Hours): void;
  /** The process has shut down cleanly and has stored its state. */
  finished(): void;
  ended(): void;
  published(topic: string, payload: string): void;
  /** A second has passed. @param connections number of open ones @param isUsable the process ran and was connected all the time */
  second(lanes: readonly LaneState[], connections: number, isUsable: boolean): void;
  /** Whether opening hours forbid sessions; null: it has just changed, or depends on the budget. */
  readonly isHeld: boolean | null;
}

/** Time within which the device obeys (ms): 30 s to notice a clock change, 20 s for a sentence, 10 s to close, and a margin. */
const OBEYED_WITHIN_MS = 75_000;
/** Use that a power cut may lose (ms): two minutes, and what was being written. */
const FORGOTTEN_MS = 130_000;
const SECOND_MS = 1000;
/** Tolerance of the count (ms): billing begins with the upgrade, and both counts are read once a second. */
const COUNTED_OTHERWISE_MS = 30_000;

export interface HoursOracleSetup {
  readonly violations: Violations;
  readonly now: () => number;
  readonly wall: () => number | null;
  /** When the disk was last full or hung. */
  readonly troubledAt: () => number;
}

export function createHoursOracle(setup: HoursOracleSetup): HoursOracle {
  const { violations } = setup;
  let hours = ALWAYS;
  let expected: 'closed' | 'open' | 'budget' = 'open';
  let since = 0;
  /** Wall clock minus monotonic clock (ms); null: the wall clock is not set. */
  let offset: number | null = null;
  let usableSince: number | null = null;
  let status: { readonly reasons: readonly string[] } | null = null;
  let day = '';
  /** Time with open streams on this day (ms); infinite: unknown. */
  let allMs = 0;
  /** The same since the limit is in force. */
  let sinceMs = 0;
  /** The same since the process started. */
  let lifeMs = 0;
  /** Use that the device may have forgotten (ms). */
  let forgottenMs = 0;
  let isClean = false;

  /** It opens at its own second of a minute. */
  const obeyedWithinMs = (): number => OBEYED_WITHIN_MS + (expected === 'open' ? OPENING_SPREAD_MS : 0);
  const expect = (): void => {
    const { schedule, minutesPerDay } = hours;
    const isOpen = schedule === null || isOpenBy(schedule, setup.wall());
    const next = !isOpen ? 'closed' : minutesPerDay !== null ? 'budget' : 'open';
    const wall = setup.wall();
    const before = offset;
    offset = wall === null ? null : wall - setup.now();
    // A jump of the clock may have closed and opened the device within a second.
    const hasJumped = offset === null || before === null ? offset !== before : Math.abs(offset - before) > 1;
    if (next !== expected || hasJumped) since = setup.now();
    expected = next;
  };
  /** Starts a new count: use of another day or under another limit does not count. */
  const countAnew = (): void => {
    sinceMs = 0;
    lifeMs = 0;
    forgottenMs = 0;
  };
  const watchDay = (): void => {
    const now = dayBy(hours.schedule, setup.wall());
    if (now === day) return;
    day = now;
    // The clock may have jumped back to a day with earlier use: the total is unknown.
    if (allMs > 0) allMs = Number.POSITIVE_INFINITY;
    countAnew();
  };
  const checkClosed = (lanes: readonly LaneState[], connections: number): void => {
    const isSilent =
      connections === 0 && lanes.every(({ session }) => session.kind === 'idle' || session.kind === 'closed');
    violations.check(
      'hours',
      isSilent,
      () => `${connections} streams in phase ${lanes[0]?.session.kind} outside the opening hours`,
    );
    if (usableSince === null || setup.now() - usableSince < OBEYED_WITHIN_MS) return;
    const isReported = status?.reasons.some((reason) => reason.startsWith('closed')) === true;
    violations.check(
      'hours',
      isReported,
      () => `the device is closed, but the status has the reasons "${status?.reasons.join() ?? ''}"`,
    );
  };
  const checkBudget = (lanes: readonly LaneState[]): void => {
    const { minutesPerDay } = hours;
    if (minutesPerDay === null || lanes.length === 0) return;
    const limitMs = minutesPerDay * 60_000;
    const isSpent = lanes.some(({ hold }) => hold === 'budget');
    const isRight = !isSpent || allMs + COUNTED_OTHERWISE_MS >= limitMs;
    violations.check(
      'budget',
      isRight,
      () => `the budget of ${minutesPerDay} minutes counts as spent after ${seconds(allMs)} s`,
    );
    const mostMs = limitMs + forgottenMs + lanes.length * OBEYED_WITHIN_MS;
    violations.check(
      'budget',
      sinceMs <= mostMs,
      () =>
        `${seconds(sinceMs)} s were used of a budget of ${minutesPerDay} minutes (${seconds(forgottenMs)} s may be forgotten)`,
    );
  };

  return {
    ordered(next) {
      if (next.minutesPerDay !== hours.minutesPerDay) countAnew();
      hours = next;
      since = setup.now();
      expect();
    },
    finished() {
      isClean = true;
    },
    ended() {
      status = null;
      usableSince = null;
      since = setup.now();
      if (!isClean) forgottenMs += Math.min(lifeMs, FORGOTTEN_MS);
      isClean = false;
      lifeMs = 0;
      // While the clock is not set, only use since the start of the process counts.
      if (day === NO_DAY) countAnew();
      // After disk trouble the device may have forgotten all use.
      if (setup.now() - setup.troubledAt() < FORGOTTEN_MS) sinceMs = Number.NEGATIVE_INFINITY;
    },
    published(topic, payload) {
      if (topic.endsWith('/status')) status = JSON.parse(payload) as { reasons: string[] };
    },
    second(lanes, connections, isUsable) {
      expect();
      watchDay();
      if (!isUsable) usableSince = null;
      else usableSince ??= setup.now();
      if (lanes.length === 0) since = setup.now();
      const open = lanes.reduce((sum, state) => sum + openStreams(state), 0) * SECOND_MS;
      lifeMs += open;
      allMs += open;
      sinceMs += open;
      checkBudget(lanes);
      if (setup.now() - since < obeyedWithinMs()) return;
      if (expected === 'closed') checkClosed(lanes, connections);
      else if (expected === 'open')
        violations.check(
          'hours',
          lanes.every(({ hold }) => hold === null),
          () => `the device is open, but a lane is on hold (${lanes[0]?.hold})`,
        );
    },
    get isHeld() {
      if (setup.now() - since < obeyedWithinMs() || expected === 'budget') return null;
      return expected === 'closed';
    },
  };
}

function openStreams(state: LaneState): number {
  return streamsOf(state).filter(({ openedAt }) => openedAt !== null).length;
}

const seconds = (ms: number): number => Math.round(ms / 1000);
