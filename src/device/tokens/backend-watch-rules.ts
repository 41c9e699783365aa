import { draw, type Seed } from '../../core/random.ts';
import type { Step } from '../../machine/machine.ts';
import type { MonotonicMs } from '../../protocol/common/time.ts';

/**
 * Decides whether the backend still answers. Two things show it: the lanes' token requests, and, while a lane waits
 * for a voice and requests nothing, a probe every ten minutes that costs no session. Without a connection to the
 * broker, nothing is known about the backend. All times are monotonic milliseconds.
 */
export interface BackendWatch {
  readonly seed: Seed;
  readonly brokerUp: boolean;
  /** A lane has an open token request. */
  readonly waiting: boolean;
  /** Since when a lane's request has been without a usable answer; null: no lane waits, or requests are impossible. */
  readonly waitingSince: number | null;
  /** A lane waits for a voice: only a probe can show whether it would get a token. */
  readonly resting: boolean;
  readonly outage: Outage | null;
  /** The broker accepts requests, as far as known: a refused request says nothing about the backend. */
  readonly mayAsk: boolean;
  /** The fault of the latest malformed answer since the last usable one; null: none came. */
  readonly malformed: { readonly field: string } | null;
  /** When the last usable answer came. */
  readonly answeredAt: number | null;
  readonly probe: Probe | null;
  readonly probeAt: number | null;
  readonly nextProbe: number;
  /** Consecutive unanswered probes. */
  readonly failedProbes: number;
  /** Consecutive `backend` probes unanswered although the backend is alive: it does not support them. */
  readonly unknownProbes: number;
  /** Until when a backend that does not support probes gets none. */
  readonly noProbesBefore: number;
}

export interface Outage {
  readonly since: number;
  readonly reason: 'no_answer' | 'malformed' | 'not_allowed';
  readonly field: string | null;
}

/** `backend`: answered without asking the service. `service`: includes the service; every backend answers it in some way. */
export type ProbeKind = 'backend' | 'service';

interface Probe {
  readonly number: number;
  readonly kind: ProbeKind;
  readonly attempt: number;
  /** When the probe was first sent under this number. */
  readonly since: number;
  /** When the probe began, including its earlier kinds. */
  readonly beganAt: number;
}

export type BackendWatchEvent =
  | { readonly type: 'broker'; readonly up: boolean }
  | { readonly type: 'lanes'; readonly waiting: boolean; readonly resting: boolean }
  /** A usable answer to a lane's request: a grant or a denial. */
  | { readonly type: 'answered' }
  /** A usable answer to a probe. `granted`: with a session, which is not used. */
  | { readonly type: 'probe_answered'; readonly probe: number; readonly granted: boolean }
  | { readonly type: 'malformed'; readonly field: string }
  /** The broker has accepted a request, or refused it. */
  | { readonly type: 'published'; readonly allowed: boolean }
  | { readonly type: 'time' };

export type BackendWatchEffect =
  | {
      readonly type: 'ask';
      readonly probe: number;
      readonly kind: ProbeKind;
      readonly attempt: number;
    }
  | { readonly type: 'silent'; readonly outage: Outage }
  | { readonly type: 'back'; readonly outage: Outage }
  /** The broker refuses requests, or accepts them again. */
  | { readonly type: 'may_ask'; readonly may: boolean }
  | { readonly type: 'probes_unknown' };

/** Time without a usable answer until the backend counts as silent (ms). */
export const SILENT_AFTER_MS = 20_000;
/** Number of tries after which a probe counts as unanswered: the broker does not store answers, and one can be lost. */
const PROBE_ATTEMPTS = 3;
const PROBE_AGAIN_MS = 7000;
export const PROBE_EACH_MS = 600_000;
/** Random share of the interval between two probes, which spreads a fleet. */
const PROBE_JITTER = 0.2;
/** Longest wait for a probe after a lane goes to rest (ms), if the last answer is old. */
const FIRST_PROBE_WITHIN_MS = 60_000;
/** First wait between probes of a silent backend (ms); it doubles up to the usual interval. */
const PROBE_RETRY_MS = 60_000;
/** Consecutive probes answered only as `service` after which probing stops: at a single one, the backend may have been starting. */
const MOST_UNKNOWN_PROBES = 2;
const NO_PROBES_FOR_MS = 86_400_000;

export function createBackendWatch(seed: Seed): BackendWatch {
  return {
    seed,
    brokerUp: false,
    waiting: false,
    waitingSince: null,
    resting: false,
    outage: null,
    mayAsk: true,
    malformed: null,
    answeredAt: null,
    probe: null,
    probeAt: null,
    nextProbe: 1,
    failedProbes: 0,
    unknownProbes: 0,
    noProbesBefore: Number.NEGATIVE_INFINITY,
  };
}

/** When time alone requires the next step; null: never. */
export function wakeAt({ waitingSince, outage, probe, probeAt }: BackendWatch): number | null {
  const moments: number[] = [];
  if (waitingSince !== null && outage === null) moments.push(waitingSince + SILENT_AFTER_MS);
  if (probe !== null) moments.push(probeDueAt(probe));
  if (probe === null && probeAt !== null) moments.push(probeAt);
  return moments.length === 0 ? null : Math.min(...moments);
}

function probeDueAt({ since, attempt }: Probe): number {
  return since + (attempt < PROBE_ATTEMPTS ? attempt * PROBE_AGAIN_MS : SILENT_AFTER_MS);
}

/** Handles one event. Pure. */
export function stepBackendWatch(
  given: BackendWatch,
  event: BackendWatchEvent,
  now: MonotonicMs,
): Step<BackendWatch, BackendWatchEffect> {
  const effects: BackendWatchEffect[] = [];
  const handled = handle(given, event, now, effects);
  return { state: plan(lookAtTime(handled, now, effects), now), effects };
}

function handle(
  state: BackendWatch,
  event: BackendWatchEvent,
  now: number,
  effects: BackendWatchEffect[],
): BackendWatch {
  switch (event.type) {
    case 'broker':
      return {
        ...state,
        brokerUp: event.up,
        waitingSince: event.up && state.waiting ? (state.waitingSince ?? now) : null,
        malformed: event.up ? state.malformed : null,
      };
    case 'lanes': {
      const { waiting, resting } = event;
      return {
        ...state,
        waiting,
        resting,
        waitingSince: waiting && state.brokerUp ? (state.waitingSince ?? now) : null,
      };
    }
    case 'answered':
      return alive(state, now, effects);
    case 'probe_answered':
      return probeAnswered(state, event, now, effects);
    case 'malformed':
      return { ...state, malformed: { field: event.field } };
    case 'published':
      return published(state, event.allowed, effects);
    case 'time':
      return state;
  }
}

function published(state: BackendWatch, mayAsk: boolean, effects: BackendWatchEffect[]): BackendWatch {
  if (mayAsk === state.mayAsk) return state;
  effects.push({ type: 'may_ask', may: mayAsk });
  return { ...state, mayAsk };
}

/** The backend gave a usable answer. */
function alive(given: BackendWatch, now: number, effects: BackendWatchEffect[]): BackendWatch {
  const state = published(given, true, effects);
  if (state.outage !== null) effects.push({ type: 'back', outage: state.outage });
  return {
    ...state,
    waitingSince: state.waiting && state.brokerUp ? now : null,
    outage: null,
    malformed: null,
    answeredAt: now,
    probe: null,
    probeAt: null,
    failedProbes: 0,
  };
}

/**
 * Not every backend knows the `backend` probe. A denial is a normal answer. A backend that grants a session would create one
 * every ten minutes, and one that answers only the `service` probe would ask the service each time. Both get no more probes
 * for a day: until then, only the answers to real requests count.
 */
function probeAnswered(
  given: BackendWatch,
  { probe: number, granted }: Extract<BackendWatchEvent, { type: 'probe_answered' }>,
  now: number,
  effects: BackendWatchEffect[],
): BackendWatch {
  const isLate = given.probe?.number !== number;
  const isSecondKind = !isLate && given.probe?.kind === 'service';
  const unknownProbes = isLate ? given.unknownProbes : isSecondKind ? given.unknownProbes + 1 : 0;
  const state = { ...alive(given, now, effects), unknownProbes };
  if (!granted && unknownProbes < MOST_UNKNOWN_PROBES) return state;
  effects.push({ type: 'probes_unknown' });
  return { ...state, unknownProbes: 0, noProbesBefore: now + NO_PROBES_FOR_MS };
}

/** The steps that are due by time alone. */
function lookAtTime(given: BackendWatch, now: number, effects: BackendWatchEffect[]): BackendWatch {
  let state = given;
  // The same sum as in the wake-up: a difference may be short by a rounding error, and the wake-up would repeat
  // forever.
  if (state.waitingSince !== null && now >= state.waitingSince + SILENT_AFTER_MS) {
    state = silent(state, state.waitingSince, effects);
  }
  const isAllowed = state.resting && state.brokerUp;
  if (!isAllowed) return { ...state, probe: null, probeAt: null };
  const { probe, probeAt } = state;
  if (probe !== null && probeDueAt(probe) <= now) return goOnProbing(state, probe, now, effects);
  if (probe !== null || probeAt === null || probeAt > now) return state;
  return ask({ ...state, probeAt: null }, 'backend', now, now, effects);
}

function silent(state: BackendWatch, since: number, effects: BackendWatchEffect[]): BackendWatch {
  if (state.outage !== null) return state;
  const { mayAsk, malformed } = state;
  const outage: Outage = mayAsk
    ? { since, reason: malformed === null ? 'no_answer' : 'malformed', field: malformed?.field ?? null }
    : { since, reason: 'not_allowed', field: null };
  effects.push({ type: 'silent', outage });
  return { ...state, outage };
}

function ask(
  state: BackendWatch,
  kind: ProbeKind,
  beganAt: number,
  now: number,
  effects: BackendWatchEffect[],
): BackendWatch {
  const number = state.nextProbe;
  effects.push({ type: 'ask', probe: number, kind, attempt: 1 });
  return { ...state, nextProbe: number + 1, probe: { number, kind, attempt: 1, since: now, beganAt } };
}

/** The probe has no answer so far: repeats it, or tries the other kind. */
function goOnProbing(
  state: BackendWatch,
  probe: Probe,
  now: number,
  effects: BackendWatchEffect[],
): BackendWatch {
  const { number, kind, beganAt } = probe;
  if (probe.attempt < PROBE_ATTEMPTS) {
    const attempt = probe.attempt + 1;
    effects.push({ type: 'ask', probe: number, kind, attempt });
    return { ...state, probe: { ...probe, attempt } };
  }
  // The backend may not support this probe. The `service` probe, which every backend answers, decides.
  if (kind === 'backend') return ask(state, 'service', beganAt, now, effects);
  return { ...silent(state, beganAt, effects), probe: null, failedProbes: state.failedProbes + 1 };
}

/** Sets the time of the next probe if one is needed. */
function plan(state: BackendWatch, now: number): BackendWatch {
  const { resting, brokerUp, probe, probeAt, answeredAt, failedProbes, noProbesBefore } = state;
  if (!resting || !brokerUp || probe !== null || probeAt !== null) return state;
  const drawn = draw(state.seed);
  const spread = 1 + PROBE_JITTER * (2 * drawn.value - 1);
  const retryMs = Math.min(PROBE_EACH_MS, PROBE_RETRY_MS * 2 ** Math.min(failedProbes - 1, 10));
  const soonAt = now + drawn.value * FIRST_PROBE_WITHIN_MS;
  const usualAt = answeredAt === null ? soonAt : Math.max(soonAt, answeredAt + PROBE_EACH_MS * spread);
  const nextAt = failedProbes > 0 ? now + retryMs * spread : usualAt;
  return { ...state, seed: drawn.seed, probeAt: Math.max(nextAt, noProbesBefore) };
}
