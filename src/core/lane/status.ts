import { silentLanguages } from '../losses/unspoken.ts';
import type { Phase } from './phases.ts';
import { phaseOf, tokenRequestOf } from './session/session.ts';
import { doubtfulUntil, isDoubtful } from './session/silence.ts';
import { isUnreadable, unreadableMoments } from './session/unreadable.ts';
import type { LaneState } from './state.ts';
import type { StepContext } from './step-context.ts';

/** Why a device is not ready. `says` is for the owner; the table of docs/operate.md is made of it. */
export const STATUS_REASONS = {
  stopped: { status: 'idle', says: 'the lane was stopped, or waits for the command `start`' },
  closed: {
    status: 'idle',
    says: 'outside the opening hours of `schedule`; `closed_until` in `state` tells how long',
  },
  budget: {
    status: 'degraded',
    says: 'the minutes of `budget.minutesPerDay` are used up; no session begins before the day ends (`closed_until` in `state`)',
  },
  muted: { status: 'idle', says: 'the microphone is muted by command' },
  no_broker: { status: 'degraded', says: 'there is no connection to the broker to ask for a token' },
  no_backend: {
    status: 'degraded',
    says: 'the backend has given no usable answer to a token request for 20 s (event `backend_silent`)',
  },
  no_session: { status: 'degraded', says: 'a session has been on its way for 20 s; the detail is the phase' },
  failing: {
    status: 'degraded',
    says: 'a third try has failed, none has succeeded for 20 s, or the next one is not before that; the detail is the last cause',
  },
  parked: {
    status: 'degraded',
    says: 'refused for a reason that somebody has to remove; the detail is the cause',
  },
  internal_error: {
    status: 'degraded',
    says: 'a defect of the program ended a step; the lane begins again in a moment (event `internal_error`)',
  },
  speech_lost: {
    status: 'degraded',
    says: 'speech is being lost, because an outage lasts longer than the backlog; the detail is the cause',
  },
  silent_service: {
    status: 'degraded',
    says: 'two sessions in a row took speech and said nothing of it, for an hour or until one is understood',
  },
  unreadable: {
    status: 'degraded',
    says: 'texts or sound of the service have come in the last minute that cannot be read, and none since that can (event `messages_unreadable`)',
  },
  unspoken: {
    status: 'degraded',
    says: 'the service has taken 20 s of speech and not spoken it in the language of the detail, and no sound of that language has come since (event `unspoken`)',
  },
  capture: {
    status: 'degraded',
    says: 'the microphone is `lost`, `silent` or `deaf`, or the sound that it gives is `incomplete`',
  },
  playback: { status: 'degraded', says: 'the loudspeaker is `lost`' },
  memory: {
    status: 'degraded',
    says: 'the agent and its children hold more memory than they ever should (`MemoryMax` of the unit); restart it, and report what it did',
  },
  broker: {
    status: 'degraded',
    says: 'the broker of the configuration does not take the device, and the one before it is used; the detail is the former',
  },
  certificate: {
    status: 'degraded',
    says: 'the client certificate ends within 14 days and was not renewed; the detail is its last day',
  },
  config: {
    status: 'degraded',
    says: 'the configuration cannot be used, and nothing runs until it is repaired; the detail is the first key that is wrong',
  },
  config_problem: {
    status: 'degraded',
    says: 'the configuration was read again and is refused, or a file that it names cannot be read any more; what was read before stays in force, and the next start would fail; the detail is the first key that is wrong (event `config_problem`)',
  },
  disk_problem: {
    status: 'degraded',
    says: 'something that outlives a restart cannot be written; the detail is what (event `disk_problem`)',
  },
  identity_conflict: {
    status: 'degraded',
    says: 'another device connects under the name of this one, and both wait minutes between their tries (event `identity_conflict`)',
  },
  not_subscribed: {
    status: 'degraded',
    says: 'the broker does not allow the device to subscribe to something that it needs; the detail is what',
  },
  not_published: {
    status: 'degraded',
    says: 'the broker does not allow the device to publish something that it needs; the detail is what',
  },
  connection_lost: { status: 'lost', says: 'the device has gone without a word; the broker says so' },
} as const satisfies Record<string, { status: 'idle' | 'degraded' | 'lost'; says: string }>;

export type ReasonCode = keyof typeof STATUS_REASONS;

/** Reasons of the whole device: no lane is named with them. */
const DEVICE_WIDE: readonly ReasonCode[] = ['no_broker', 'no_backend', 'budget'];

/** Troubles of the program as a whole, which no lane knows. */
export type Condition =
  | 'broker'
  | 'memory'
  | 'certificate'
  | 'config_problem'
  | 'disk_problem'
  | 'identity_conflict'
  | 'not_subscribed'
  | 'not_published';

export interface Reason {
  readonly code: ReasonCode;
  readonly detail?: string;
}

/** `ready`: a word spoken now would be heard and answered. `idle`: deliberately not listening. */
export interface LaneStatus {
  readonly status: 'ready' | 'idle' | 'degraded';
  readonly reasons: readonly Reason[];
  /** When it has to be looked at again though nothing happens, monotonic milliseconds; null: never. */
  readonly changesAt: number | null;
}

/** The usual setup takes 3 to 7 s and what is said meanwhile is answered; one that takes longer is none of the usual. */
export const LONG_WITHOUT_SESSION_MS = 20_000;
/** A wait this many failures long is no passing trouble any more. */
const FAILURES_TO_DEGRADE = 3;
/** On the way to a session. What is said is kept for it, as far as the backlog goes. */
const ON_THE_WAY: readonly Phase[] = ['acquiring', 'connecting', 'configuring', 'waiting', 'parked'];

/** Keeps the time since when the lane is on its way to a session. */
export function trackSession(context: StepContext): void {
  const { noSessionSince } = context.state;
  const isOnTheWay = ON_THE_WAY.includes(context.phase);
  if (isOnTheWay === (noSessionSince !== null)) return;
  context.set({ noSessionSince: isOnTheWay ? context.now : null });
}

/** How a lane is: the one place where phases and conditions become a status. */
export function laneStatus(state: LaneState, now: number): LaneStatus {
  if (!state.wanted || state.hold !== null) return atRest(state);
  const troubles = [...sessionReasons(state, now), ...soundReasons(state)];
  if (isDoubtful(state.silentEnds, now)) troubles.push({ code: 'silent_service' });
  if (isUnreadable(state, now)) troubles.push({ code: 'unreadable' });
  for (const language of silentLanguages(state)) troubles.push({ code: 'unspoken', detail: language });
  const reasons = state.options.muted ? [...troubles, { code: 'muted' } as const] : troubles;
  const status = troubles.length > 0 ? 'degraded' : state.options.muted ? 'idle' : 'ready';
  return { status, reasons, changesAt: changesAt(state, now) };
}

/** It is not wanted, or may not have a session. */
function atRest({ wanted, hold }: LaneState): LaneStatus {
  const reasons: Reason[] = [];
  if (hold === 'closed' || (hold === 'budget' && wanted)) reasons.push({ code: hold });
  if (!wanted) reasons.push({ code: 'stopped' });
  const status = wanted && hold === 'budget' ? 'degraded' : 'idle';
  return { status, reasons, changesAt: null };
}

function sessionReasons(state: LaneState, now: number): Reason[] {
  const { session, failures, noSessionSince, problem, brokerUp, backendSilent, loss, timers } = state;
  const phase = phaseOf(session);
  const reasons: Reason[] = [];
  // The same sum as in changesAt, which fractions of milliseconds would keep apart from a difference.
  const longAt = noSessionSince === null ? null : noSessionSince + LONG_WITHOUT_SESSION_MS;
  // A wait that is known to last longer is told when it begins: a voice may shorten it, and then that is told.
  const waitsLong = phase === 'waiting' && failures > 0 && (timers.retry ?? 0) >= (longAt ?? 0);
  const isLong = longAt !== null && (now >= longAt || waitsLong);
  // Failures are counted until a session has lasted; one that is changing its languages since is no failure.
  const isFailing = noSessionSince !== null && problem !== null;
  if (phase === 'parked') reasons.push({ code: 'parked', detail: problem?.code ?? 'unknown' });
  else if (isFailing && failures >= (isLong ? 1 : FAILURES_TO_DEGRADE))
    reasons.push({ code: 'failing', detail: problem.code });
  else if (isLong) reasons.push({ code: 'no_session', detail: phase });
  if (phase === 'restarting') reasons.push({ code: 'internal_error' });
  if (!brokerUp && (phase === 'standby' || tokenRequestOf(session) !== null))
    reasons.push({ code: 'no_broker' });
  if (backendSilent) reasons.push({ code: 'no_backend' });
  if (loss !== null) reasons.push({ code: 'speech_lost', detail: loss.cause });
  return reasons;
}

function soundReasons({ captureLost, captureFindings, playbackLost }: LaneState): Reason[] {
  const reasons: Reason[] = [];
  if (captureLost) reasons.push({ code: 'capture', detail: 'lost' });
  // A microphone that hears nothing, or half of it; the others hear badly, which is no reason to send anybody at night.
  for (const finding of ['silent', 'deaf', 'incomplete'] as const) {
    if (captureFindings.includes(finding)) reasons.push({ code: 'capture', detail: finding });
  }
  if (playbackLost) reasons.push({ code: 'playback', detail: 'lost' });
  return reasons;
}

function changesAt(state: LaneState, now: number): number | null {
  const { noSessionSince, silentEnds } = state;
  const longAt = noSessionSince === null ? null : noSessionSince + LONG_WITHOUT_SESSION_MS;
  const moments = [longAt, doubtfulUntil(silentEnds), ...unreadableMoments(state)].filter(
    (at) => at !== null && at > now,
  );
  return moments.length === 0 ? null : Math.min(...(moments as number[]));
}

const SEVERITY = ['ready', 'idle', 'degraded'] as const;

/** The worst lane counts, and what is wrong with the whole. With several lanes the detail of a reason begins with its lane. */
export function deviceStatus(
  lanes: readonly (LaneStatus & { readonly id: string })[],
  conditions: readonly (Reason & { readonly code: Condition })[] = [],
): {
  status: LaneStatus['status'];
  reasons: string[];
} {
  const statuses = [
    ...lanes.map(({ status }) => status),
    ...conditions.map(({ code }) => STATUS_REASONS[code].status),
  ];
  const worst = Math.max(0, ...statuses.map((status) => SEVERITY.indexOf(status)));
  const named = lanes.flatMap(({ id, reasons }) =>
    reasons.map(({ code, detail }) => {
      if (DEVICE_WIDE.includes(code)) return code;
      const lane = lanes.length > 1 ? [id] : [];
      const about = [...lane, ...(detail === undefined ? [] : [detail])].join('/');
      return about === '' ? code : `${code}:${about}`;
    }),
  );
  const whole = conditions.map(({ code, detail }) => (detail === undefined ? code : `${code}:${detail}`));
  return { status: SEVERITY[worst] ?? 'ready', reasons: [...new Set([...named, ...whole])] };
}
