/** When lanes may have sessions: by the schedule, the budget, and the operator's commands. */

import { type Failed, type Machine, type Moment, type Step, stay, type Time } from '../../machine/machine.ts';
import type { MonotonicMs, WallMs } from '../../protocol/common/time.ts';
import type { Config } from '../../protocol/config.ts';
import type { StateMessage } from '../../protocol/mqtt/device.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { EventDetail } from '../../protocol/mqtt/event.ts';
import { billedMs, openSince } from '../lane/lane-report.ts';
import type { Hold } from '../lane/state/lane-event.ts';
import type { LaneState } from '../lane/state/lane-state.ts';
import { type Admission, admissionOf } from './admission.ts';
import {
  addKept,
  type BudgetDay,
  type BudgetUse,
  budgetUse,
  countUse,
  isWorthTelling,
  leftMs,
  msToNews,
  noteTold,
} from './budget.ts';
import { dateOf, instantOf, localDay } from './local-time.ts';
import { openingDelayMs } from './schedule.ts';

/** Longest time until a change of the wall clock is noticed (ms). */
const LOOK_EACH_MS = 30_000;
/** Save interval, and so the maximum budget use lost at a power cut (ms of open streams): writing more often would wear out the SD card. */
const KEEP_EACH_MS = 120_000;
const MINUTE_MS = 60_000;

export interface AdmissionsState {
  /** How long after the opening time of the schedule the device opens (ms). */
  readonly openingDelayMs: number;
  readonly use: BudgetUse;
  /** Use of the present day (ms) that is on the disk, or is being written. */
  readonly keptMs: number;
  /** Sum of the billed time of all lanes at the last count (ms). */
  readonly billedMs: number;
  /** Until when an operator has opened each lane despite the schedule. */
  readonly openUntil: Readonly<Record<string, WallMs>>;
  /** The present admission of each lane. */
  readonly admissions: Readonly<Record<string, Admission>>;
  /** The budget in the published state. */
  readonly told: StateMessage['budget'];
  readonly isZoneTold: boolean;
  readonly reviewAt: MonotonicMs | null;
}

export interface SeenLane {
  readonly id: string;
  readonly state: LaneState;
}

export interface AdmissionsFacts {
  readonly lanes: readonly SeenLane[];
  readonly config: Pick<Config, 'schedule' | 'budget'>;
  /** Time zone of the days if there is no schedule; null: unknown, so UTC is used and a warning logged. */
  timeZone(): string | null;
  /** The local day in that zone without time zone tables, which take a tenth of a kiosk's memory. */
  readonly machineDay: ((wall: WallMs) => number) | undefined;
}

export type AdmissionsEvent =
  /** The configuration, the clock or the budget use may have changed. */
  | { readonly type: 'review' }
  /** An operator opens lanes despite the schedule. */
  | { readonly type: 'open'; readonly lanes: readonly string[]; readonly until: WallMs }
  /** An operator has stopped these lanes: their extra opening time ends. */
  | { readonly type: 'stopped'; readonly lanes: readonly string[] }
  /** The disk has delivered the saved use late. */
  | { readonly type: 'late'; readonly days: readonly BudgetDay[] }
  | { readonly type: 'end' };

export type AdmissionsEffect =
  | { readonly type: 'hold'; readonly lane: string; readonly hold: Hold | null }
  /** The published state is no longer true. */
  | { readonly type: 'refresh' }
  | { readonly type: 'tell'; readonly detail: EventDetail<'budget'> }
  | { readonly type: 'keep' }
  | { readonly type: 'warn_of_zone' };

type Seen = AdmissionsFacts & Moment;
type Stepped = Step<AdmissionsState, AdmissionsEffect>;

/** @param kept the use from the last run */
export function admissionsMachine(
  device: string,
  kept: readonly BudgetDay[],
  now: MonotonicMs,
): Machine<AdmissionsState, AdmissionsEvent, AdmissionsEffect, AdmissionsFacts> {
  return {
    name: 'admissions',
    begin: {
      openingDelayMs: openingDelayMs(device),
      use: budgetUse(kept, now),
      keptMs: 0,
      billedMs: 0,
      openUntil: {},
      admissions: {},
      told: null,
      isZoneTold: false,
      reviewAt: null,
    },
    step,
    wakeAt: ({ reviewAt }) => reviewAt,
  };
}

function step(
  state: AdmissionsState,
  event: AdmissionsEvent | Time | Failed<AdmissionsEffect>,
  seen: Seen,
): Stepped {
  switch (event.type) {
    case 'review':
    case 'time':
      return review(state, seen);
    case 'open': {
      const opened = event.lanes.map((lane) => [lane, event.until]);
      return review({ ...state, openUntil: { ...state.openUntil, ...Object.fromEntries(opened) } }, seen);
    }
    case 'stopped': {
      const others = Object.entries(state.openUntil).filter(([lane]) => !event.lanes.includes(lane));
      return review({ ...state, openUntil: Object.fromEntries(others) }, seen);
    }
    case 'late':
      return keep({ ...state, use: addKept(state.use, event.days) });
    case 'end':
      return end(state, seen);
    case 'failed':
      return stay(state);
  }
}

/** Counts the budget use, and judges each lane. */
function review(given: AdmissionsState, seen: Seen): Stepped {
  const counted = count(given, seen);
  const judged = judge(counted.state, seen);
  return { state: judged.state, effects: [...counted.effects, ...judged.effects] };
}

/** Adds the time billed since the last count to the present day. */
function count(given: AdmissionsState, seen: Seen): Stepped {
  const { lanes, config, now, wall } = seen;
  const total = lanes.reduce((sum, lane) => sum + billedMs(lane.state, now), 0);
  // After a defect, a restarted lane may have forgotten its last stream.
  const usedMs = Math.max(0, total - given.billedMs);
  const day = wall === null ? null : dateOf(dayOf(seen, wall));
  const state = { ...given, use: countUse(given.use, day, now, usedMs), billedMs: total };
  const { minutesPerDay } = config.budget;
  if (minutesPerDay === null) return stay(state);
  const warned = warnOfZone(state, seen);
  const kept = keepOrTell(warned.state, minutesPerDay);
  return { state: kept.state, effects: [...warned.effects, ...kept.effects] };
}

/** Warns once, because it explains why the budget restarts at an unexpected hour. */
function warnOfZone(state: AdmissionsState, { config, timeZone }: Seen): Stepped {
  if (state.isZoneTold || config.schedule !== null || timeZone() !== null) return stay(state);
  return { state: { ...state, isZoneTold: true }, effects: [{ type: 'warn_of_zone' }] };
}

function keepOrTell(state: AdmissionsState, minutesPerDay: number): Stepped {
  const { use, keptMs } = state;
  const { usedMs } = use.today;
  if (!isWorthTelling(use, minutesPerDay))
    return Math.abs(usedMs - keptMs) >= KEEP_EACH_MS ? keep(state) : stay(state);
  const detail = {
    used_minutes: Math.round(usedMs / MINUTE_MS),
    minutes_per_day: minutesPerDay,
    percent: Math.round((100 * usedMs) / (minutesPerDay * MINUTE_MS)),
  };
  const kept = keep({ ...state, use: noteTold(use, minutesPerDay) });
  return { state: kept.state, effects: [{ type: 'tell', detail }, ...kept.effects] };
}

function keep(state: AdmissionsState): Stepped {
  return { state: { ...state, keptMs: state.use.today.usedMs }, effects: [{ type: 'keep' }] };
}

function judge(state: AdmissionsState, seen: Seen): Stepped {
  const { lanes, config, wall } = seen;
  const left = leftMs(state.use, config.budget.minutesPerDay);
  const rules = {
    schedule: config.schedule,
    openingDelayMs: state.openingDelayMs,
    isSpent: left === 0,
    dayEndsAt: left === null ? null : dayEndsAt(seen),
  };
  const judged = lanes.map(({ id, state: { hold } }) => ({
    id,
    hold,
    admission: admissionOf({ ...rules, openUntil: state.openUntil[id] ?? null }, wall),
  }));
  const told = budgetReport(state, config);
  const isNews =
    !isSame(told, state.told) ||
    judged.some(({ id, admission }) => state.admissions[id]?.until !== admission.until);
  const admissions = Object.fromEntries(judged.map(({ id, admission }) => [id, admission]));
  const holds = judged.flatMap(({ id, hold, admission }) =>
    hold === admission.hold ? [] : [{ type: 'hold' as const, lane: id, hold: admission.hold }],
  );
  const next = { ...state, admissions, told };
  const isRuled = config.schedule !== null || left !== null;
  return {
    state: { ...next, reviewAt: isRuled ? nextReview(next, seen) : null },
    effects: [...holds, ...(isNews ? [{ type: 'refresh' as const }] : [])],
  };
}

function isSame(one: StateMessage['budget'], other: StateMessage['budget']): boolean {
  return one?.used_minutes === other?.used_minutes && one?.minutes_per_day === other?.minutes_per_day;
}

/** The next opening or closing, end of the day, or news of the budget; at the latest the next look at the wall clock. */
function nextReview({ admissions, use }: AdmissionsState, { lanes, config, now, wall }: Seen): MonotonicMs {
  const changes = Object.values(admissions).flatMap(({ changesAt }) =>
    changesAt === null || wall === null ? [] : [now + changesAt - wall],
  );
  const open = lanes.reduce((sum, { state }) => sum + openSince(state).length, 0);
  const toNews = msToNews(use, config.budget.minutesPerDay);
  const news = toNews === null || open === 0 ? [] : [now + toNews / open];
  return Math.max(now + 1, Math.min(now + LOOK_EACH_MS, ...changes, ...news));
}

/** The last count before the end is saved. */
function end(given: AdmissionsState, seen: Seen): Stepped {
  const counted = count(given, seen);
  const { use, keptMs } = counted.state;
  if (seen.config.budget.minutesPerDay === null || use.today.usedMs === keptMs) return counted;
  const kept = keep(counted.state);
  return { state: kept.state, effects: [...counted.effects, ...kept.effects] };
}

/** The budget for the state; null: no limit. */
export function budgetReport(
  { use }: AdmissionsState,
  { budget: { minutesPerDay } }: Pick<Config, 'budget'>,
): StateMessage['budget'] {
  if (minutesPerDay === null) return null;
  return { used_minutes: Math.floor(use.today.usedMs / MINUTE_MS), minutes_per_day: minutesPerDay };
}

export interface Refusal {
  readonly code: string;
  readonly message: string;
}

/** Why these lanes may not start; null: they may. @param isOpening the command overrides the schedule */
export function refusalOf(
  given: AdmissionsState,
  lanes: readonly string[],
  isOpening: boolean,
  seen: Seen,
): Refusal | null {
  const { use, admissions } = review(given, seen).state;
  const { minutesPerDay } = seen.config.budget;
  if (leftMs(use, minutesPerDay) === 0) {
    const at = timestamp(dayEndsAt(seen)) ?? 'the day ends';
    const message = `the ${minutesPerDay} minutes of the day are used up (budget.minutesPerDay): no session begins until ${at}`;
    return { code: 'budget', message };
  }
  const closed = lanes.map((id) => admissions[id]).find((admission) => admission?.hold === 'closed');
  if (closed === undefined || isOpening) return null;
  const since = closed.until === null ? '' : ` until ${timestamp(closed.until)}`;
  const message = `it is outside the opening hours of the schedule${since}; give "until" with a time to open it anyway`;
  return { code: 'closed', message };
}

function zoneOf({ config, timeZone }: Seen): string {
  return config.schedule?.timeZone ?? timeZone() ?? 'UTC';
}

/** Without a limit the end of the day has no effect, but a limit that is set later includes the day's use so far. */
function dayOf(seen: Seen, wall: WallMs): number {
  const { schedule, budget } = seen.config;
  const isPlain = schedule === null && budget.minutesPerDay === null;
  return isPlain && seen.machineDay !== undefined ? seen.machineDay(wall) : localDay(wall, zoneOf(seen));
}

/** When the local day ends; null: the clock is not set. */
function dayEndsAt(seen: Seen): WallMs | null {
  const zone = zoneOf(seen);
  return seen.wall === null ? null : instantOf(localDay(seen.wall, zone) + 1, 0, zone);
}
