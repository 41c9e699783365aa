/** Keeps the retained status of this device correct, and notices another device with the same identity. */
import { UNDISPUTED_AFTER_MS } from '../../core/retry/reconnect.ts';
import {
  type Failed,
  followedBy,
  type Machine,
  type Moment,
  type Step,
  stay,
  type Time,
} from '../../machine/machine.ts';
import type { BusProblem } from '../../ports/bus.ts';
import { type HeardStatus, judgeStatus } from './presence-rules.ts';

/**
 * Shortest interval between corrections of a wrong status (ms), however often it is overwritten. The first is
 * immediate.
 */
const CORRECT_EACH_MS = 2000;
/** Longest reported `boot_id` of another device (characters). */
const LONGEST_BOOT_ID = 64;

export interface PresenceState {
  /** Another client has overwritten the status, and no correction has followed yet. */
  readonly isOverwritten: boolean;
  readonly mayCorrectAt: number;
  /** The last status of another start of the agent, or of another device. */
  readonly foreign: HeardStatus | null;
  /** The last sign of another device with this identity; null: none, or not for a long time. */
  readonly otherSeenAt: number | null;
  readonly otherBootId: string | null;
  /** Since when the connection is up; null: it is not. */
  readonly upSince: number | null;
}

export interface PresenceFacts {
  readonly bootId: string;
  /** Number of the present connection. */
  readonly connection: number;
}

export type PresenceEvent =
  | { readonly type: 'connected' }
  | { readonly type: 'down'; readonly problem: BusProblem }
  /** A message came on the device's own status topic. `status`: null: it is not a status. */
  | { readonly type: 'heard'; readonly status: HeardStatus | null; readonly isRetained: boolean };

export type PresenceEffect =
  /** The present status is published again. */
  | { readonly type: 'correct' }
  /** The connection must know whether another client may disconnect it. */
  | { readonly type: 'dispute'; readonly isDisputed: boolean }
  | { readonly type: 'report_conflict'; readonly otherBootId: string | null }
  | { readonly type: 'report_end' };

type Stepped = Step<PresenceState, PresenceEffect>;
type Seen = PresenceFacts & Moment;

export const presenceMachine: Machine<PresenceState, PresenceEvent, PresenceEffect, PresenceFacts> = {
  name: 'presence',
  begin: {
    isOverwritten: false,
    mayCorrectAt: Number.NEGATIVE_INFINITY,
    foreign: null,
    otherSeenAt: null,
    otherBootId: null,
    upSince: null,
  },
  step,
  wakeAt(state) {
    const times = [state.isOverwritten ? state.mayCorrectAt : null, undisputedAt(state)];
    const known = times.flatMap((at) => at ?? []);
    return known.length === 0 ? null : Math.min(...known);
  },
};

function step(
  state: PresenceState,
  event: PresenceEvent | Time | Failed<PresenceEffect>,
  seen: Seen,
): Stepped {
  switch (event.type) {
    case 'time':
      return followedBy(correctIfDue(state, seen), (next) => endDisputeIfDue(next, seen));
    case 'connected':
      return stay({ ...state, upSince: seen.now });
    case 'down':
      return onDown({ ...state, upSince: null }, event.problem, seen);
    case 'heard':
      return onHeard(state, event.status, event.isRetained, seen);
    case 'failed':
      return stay(state);
  }
}

function onDown(state: PresenceState, problem: BusProblem, seen: Seen): Stepped {
  return problem === 'taken_over' ? dispute(state, seen) : stay(state);
}

function onHeard(state: PresenceState, status: HeardStatus | null, isRetained: boolean, seen: Seen): Stepped {
  const { bootId, connection } = seen;
  const { isWrong, otherBootId } = judgeStatus(status, isRetained, {
    bootId,
    connection,
    foreign: state.foreign,
  });
  const isForeign = status !== null && status.boot_id !== bootId;
  const heard: PresenceState = {
    ...state,
    foreign: isForeign ? status : state.foreign,
    isOverwritten: state.isOverwritten || isWrong,
  };
  return followedBy(correctIfDue(heard, seen), (next) =>
    otherBootId === null
      ? stay(next)
      : dispute({ ...next, otherBootId: otherBootId.slice(0, LONGEST_BOOT_ID) }, seen),
  );
}

function correctIfDue(state: PresenceState, { now }: Seen): Stepped {
  if (!state.isOverwritten || now < state.mayCorrectAt) return stay(state);
  return {
    state: { ...state, isOverwritten: false, mayCorrectAt: now + CORRECT_EACH_MS },
    effects: [{ type: 'correct' }],
  };
}

/** Another device with this identity has shown itself. One report covers all its signs until the dispute ends. */
function dispute(state: PresenceState, { now }: Seen): Stepped {
  const { otherSeenAt, otherBootId } = state;
  const effect: PresenceEffect = { type: 'dispute', isDisputed: true };
  return {
    state: { ...state, otherSeenAt: now },
    effects: otherSeenAt === null ? [effect, { type: 'report_conflict', otherBootId }] : [effect],
  };
}

/** Time at which the other device counts as gone if it sends nothing more; null: no other device, or the connection is down. */
function undisputedAt({ otherSeenAt, upSince }: PresenceState): number | null {
  return otherSeenAt === null || upSince === null
    ? null
    : Math.max(otherSeenAt, upSince) + UNDISPUTED_AFTER_MS;
}

function endDisputeIfDue(state: PresenceState, { now }: Seen): Stepped {
  const at = undisputedAt(state);
  if (at === null || now < at) return stay(state);
  return {
    state: { ...state, otherSeenAt: null, otherBootId: null },
    effects: [{ type: 'dispute', isDisputed: false }, { type: 'report_end' }],
  };
}
