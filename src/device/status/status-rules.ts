import { REASONS, type ReasonCode } from '../../protocol/mqtt/reasons.ts';
import { silentLanguages } from '../lane/losses/unspoken.ts';
import { isUnreadable, unreadableMoments } from '../lane/sound/unreadable.ts';
import { isMuted } from '../lane/state/lane-options.ts';
import type { LaneState } from '../lane/state/lane-state.ts';
import { phaseOf, tokenRequestOf } from '../lane/state/session-state.ts';
import { doubtfulUntil, isDoubtful } from '../lane/state/silence-watch.ts';

/** Reasons of the whole device: published without a lane. */
const DEVICE_WIDE: readonly ReasonCode[] = ['no_broker', 'no_backend', 'budget'];

/** Problems of the whole program, unknown to the lanes. */
export type Condition =
  | 'broker'
  | 'broker_limits'
  | 'memory'
  | 'certificate'
  | 'config_problem'
  | 'restart_needed'
  | 'disk_problem'
  | 'identity_conflict'
  | 'not_subscribed'
  | 'not_published'
  | 'screen'
  | 'keys';

export interface Reason {
  readonly code: ReasonCode;
  readonly detail?: string;
}

/** `ready`: speech is heard and translated. `idle`: deliberately not listening. */
export interface LaneStatus {
  readonly status: 'ready' | 'idle' | 'degraded';
  readonly reasons: readonly Reason[];
  /** When the status may change without any event (monotonic ms); null: never. */
  readonly changesAt: number | null;
}

/** Time without a session (ms) that makes the lane degraded: the usual set-up takes 3 to 7 s. */
export const LONG_WITHOUT_SESSION_MS = 20_000;
/** Consecutive failures that make the lane degraded: one or two are often a short outage. */
const FAILURES_TO_DEGRADE = 3;
/** The only place where phases and conditions become a status. */
export function laneStatus(state: LaneState, now: number): LaneStatus {
  if (!state.wanted || state.hold !== null) return atRest(state);
  const troubles = [...sessionReasons(state, now), ...soundReasons(state)];
  if (isDoubtful(state.silentEnds, now)) troubles.push({ code: 'silent_service' });
  if (isUnreadable(state, now)) troubles.push({ code: 'unreadable' });
  for (const language of silentLanguages(state)) troubles.push({ code: 'unspoken', detail: language });
  const reasons = isMuted(state.options) ? [...troubles, { code: 'muted' } as const] : troubles;
  const status = troubles.length > 0 ? 'degraded' : isMuted(state.options) ? 'idle' : 'ready';
  return { status, reasons, changesAt: changesAt(state, now) };
}

/** The lane is stopped, or a hold forbids sessions. */
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
  // This is the same sum as in changesAt: a difference could deviate by a rounding error.
  const longAt = noSessionSince === null ? null : noSessionSince + LONG_WITHOUT_SESSION_MS;
  // A long wait is reported when it begins. If a voice shortens the wait, the status is updated.
  const waitsLong = phase === 'waiting' && failures > 0 && (timers.retry ?? 0) >= (longAt ?? 0);
  const isLong = longAt !== null && (now >= longAt || waitsLong);
  // `failures` is kept until a new session is stable; a change of languages in that session is not a failure.
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

function soundReasons({ captureLost, captureFindings, playbackLost, deviceFaults }: LaneState): Reason[] {
  const reasons: Reason[] = [];
  if (captureLost) reasons.push({ code: 'capture', detail: 'lost' });
  // Only findings of missing sound count: poor sound alone does not need an urgent repair.
  for (const finding of ['silent', 'deaf', 'incomplete'] as const) {
    if (captureFindings.includes(finding)) reasons.push({ code: 'capture', detail: finding });
  }
  if (playbackLost) reasons.push({ code: 'playback', detail: 'lost' });
  if (deviceFaults.headset !== null) reasons.push({ code: 'headset' });
  if (deviceFaults.also !== null) reasons.push({ code: 'also' });
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

/** The worst status of all lanes and conditions. With several lanes, the detail of a reason begins with its lane. */
export function deviceStatus(
  lanes: readonly (LaneStatus & { readonly id: string })[],
  conditions: readonly (Reason & { readonly code: Condition })[] = [],
): {
  status: LaneStatus['status'];
  reasons: string[];
} {
  const statuses = [
    ...lanes.map(({ status }) => status),
    ...conditions.map(({ code }) => REASONS[code].status),
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
