/** Outside its hours a device is silent by order and says so; what a day may cost is never spent twice; otherwise it is open. */
import { streamsOf } from '../../src/core/lane/session/session.ts';
import type { LaneState } from '../../src/core/lane/state.ts';
import { type DrawnSchedule, dayBy, isOpenBy, NO_DAY } from './hours.ts';
import type { Violations } from './violations.ts';

/** What the owner has ordered. */
export interface Hours {
  readonly schedule: DrawnSchedule | null;
  readonly minutesPerDay: number | null;
}

export const ALWAYS: Hours = { schedule: null, minutesPerDay: null };

export interface HoursOracle {
  ordered(hours: Hours): void;
  /** The process ends in order: it has written down what it has to. */
  finished(): void;
  ended(): void;
  published(topic: string, payload: string): void;
  /** A second has passed. @param isUsable the process ran and had its connection all the time */
  second(lanes: readonly LaneState[], connections: number, isUsable: boolean): void;
  /** Whether lanes may begin sessions, as far as that is certain; null: it has just changed, or depends on the budget. */
  readonly isHeld: boolean | null;
}

/** A clock that was set is noticed within 30 s, a sentence is finished within 20, and a stream is closed within 10. */
const OBEYED_WITHIN_MS = 75_000;
/** A power cut forgets two minutes of use at most, and what was being written. */
const FORGOTTEN_MS = 130_000;
const SECOND_MS = 1000;
/** What is billed begins with the upgrade, and both counts are read once a second. */
const COUNTED_OTHERWISE_MS = 30_000;

export interface HoursOracleSetup {
  readonly violations: Violations;
  readonly now: () => number;
  readonly wall: () => number | null;
  /** When the disk was full or hung last. */
  readonly troubledAt: () => number;
}

export function createHoursOracle(setup: HoursOracleSetup): HoursOracle {
  const { violations } = setup;
  let hours = ALWAYS;
  let expected: 'closed' | 'open' | 'budget' = 'open';
  let since = 0;
  /** Of the clock that people read against the one that only goes on; null: it is not set. */
  let offset: number | null = null;
  let usableSince: number | null = null;
  let status: { readonly reasons: readonly string[] } | null = null;
  let day = '';
  /** Time of open streams on this day, where that is known, and of that since the limit is in force. */
  let allMs = 0;
  let sinceMs = 0;
  /** Of that, what was used since the process began. */
  let lifeMs = 0;
  /** What may have been forgotten. */
  let forgottenMs = 0;
  let isInOrder = false;

  const expect = (): void => {
    const { schedule, minutesPerDay } = hours;
    const isOpen = schedule === null || isOpenBy(schedule, setup.wall());
    const next = !isOpen ? 'closed' : minutesPerDay !== null ? 'budget' : 'open';
    const wall = setup.wall();
    const before = offset;
    offset = wall === null ? null : wall - setup.now();
    // It may have been closed and open again within a second.
    const hasJumped = offset === null || before === null ? offset !== before : Math.abs(offset - before) > 1;
    if (next !== expected || hasJumped) since = setup.now();
    expected = next;
  };
  /** Another day, or another limit: what was used before does not count. */
  const countAnew = (): void => {
    sinceMs = 0;
    lifeMs = 0;
    forgottenMs = 0;
  };
  const watchDay = (): void => {
    const now = dayBy(hours.schedule, setup.wall());
    if (now === day) return;
    day = now;
    // The use of another day is unknown, and so is that of the time before the clock was set.
    if (allMs > 0) allMs = Number.POSITIVE_INFINITY;
    countAnew();
  };
  const checkClosed = (lanes: readonly LaneState[], connections: number): void => {
    const isSilent =
      connections === 0 && lanes.every(({ session }) => session.kind === 'idle' || session.kind === 'closed');
    violations.check(
      'hours',
      isSilent,
      () => `${connections} streams, in phase ${lanes[0]?.session.kind}, outside the opening hours`,
    );
    if (usableSince === null || setup.now() - usableSince < OBEYED_WITHIN_MS) return;
    const isTold = status?.reasons.some((reason) => reason.startsWith('closed')) === true;
    violations.check(
      'hours',
      isTold,
      () => `it is closed, and the status tells ${status?.reasons.join() ?? 'nothing'}`,
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
      () => `${seconds(allMs)} s were used of ${minutesPerDay} minutes, and no more may be`,
    );
    const mostMs = limitMs + forgottenMs + lanes.length * OBEYED_WITHIN_MS;
    violations.check(
      'budget',
      sinceMs <= mostMs,
      () =>
        `${seconds(sinceMs)} s were used of ${minutesPerDay} minutes, and ${seconds(forgottenMs)} s may be forgotten`,
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
      isInOrder = true;
    },
    ended() {
      status = null;
      usableSince = null;
      since = setup.now();
      if (!isInOrder) forgottenMs += Math.min(lifeMs, FORGOTTEN_MS);
      isInOrder = false;
      lifeMs = 0;
      // While the clock is not set, what is used since the start counts, and nothing before it.
      if (day === NO_DAY) countAnew();
      // What could not be written was forgotten altogether.
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
      if (setup.now() - since < OBEYED_WITHIN_MS) return;
      if (expected === 'closed') checkClosed(lanes, connections);
      else if (expected === 'open')
        violations.check(
          'hours',
          lanes.every(({ hold }) => hold === null),
          () => `it is open, and on hold (${lanes[0]?.hold})`,
        );
    },
    get isHeld() {
      if (setup.now() - since < OBEYED_WITHIN_MS || expected === 'budget') return null;
      return expected === 'closed';
    },
  };
}

function openStreams(state: LaneState): number {
  return streamsOf(state).filter(({ openedAt }) => openedAt !== null).length;
}

const seconds = (ms: number): number => Math.round(ms / 1000);
