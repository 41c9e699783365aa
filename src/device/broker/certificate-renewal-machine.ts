/** Requests the next client certificate in time, tries it, and keeps the one that the broker accepts. */
import { type CertificateLife, day } from '../../core/offered-certificate.ts';
import {
  type Failed,
  followedBy,
  type Machine,
  type Moment,
  type Step,
  stay,
  type Time,
} from '../../machine/machine.ts';
import type { CertificateOffer } from '../../ports/certificate.ts';
import type { WallMs } from '../../protocol/common/time.ts';
import {
  type CertificateTrial,
  type ConnectionOutcome,
  NEW_TRIAL,
  noteConnection,
  renewalAt,
  WARN_BEFORE_MS,
} from './certificate-renewal-rules.ts';

/** Interval of checks (ms): the wall clock may be set at any time, and timers cannot run for years. */
const CHECK_EACH_MS = 3_600_000;
/** Wait after a certificate that failed or could not be saved (ms). */
const ASK_AGAIN_AFTER_MS = 86_400_000;
/** Interval of repeated requests (ms): the broker may have lost the retained message. */
const PUBLISH_EACH_MS = 86_400_000;
/** Wait before the reconnect (ms): the answer to the command leaves first. */
const TRY_AFTER_MS = 1000;

/** The answer after a defect, as for every command. */
export const INTERNAL: RenewalAnswer = {
  ok: false,
  code: 'internal',
  message: 'the command failed inside the agent; see its log',
};

export interface RenewalState {
  readonly isConnected: boolean;
  /** Pending work, which only one of them may be. `caller`: the command that waits for it; null: none. */
  readonly work:
    | { readonly type: 'drafting'; readonly caller: number | null }
    | { readonly type: 'judging' }
    | null;
  /** How the successor has fared so far; without a successor: a new trial. */
  readonly trial: CertificateTrial;
  /** No request before this time. */
  readonly notBefore: number;
  readonly publishedAt: number;
  /** The next check; null: before the first. */
  readonly checkAt: number | null;
  /** Time at which the device connects again, with the certificate on trial; null: it need not. */
  readonly reconnectAt: number | null;
  /** The day of the last warning; empty: none. */
  readonly warnedOf: string;
}

export interface RenewalFacts {
  readonly present: CertificateLife;
  readonly successor: CertificateLife | null;
  /** The pending request. */
  readonly request: { readonly id: string; readonly csr: string } | null;
  /** The certificate that the last connection showed to the broker; null: none of these. */
  readonly shown: 'present' | 'new' | null;
}

export type RenewalEvent =
  /** Events can reach the owner from now on. */
  | { readonly type: 'begun' }
  | { readonly type: 'connection'; readonly outcome: ConnectionOutcome }
  /** `problem`: why there is no new request; null: there is one. */
  | { readonly type: 'drafted'; readonly problem: string | null }
  /** The command `certificate` without a certificate: the owner wants a new one before it is due. */
  | { readonly type: 'ordered'; readonly caller: number }
  /** The command `certificate` with the answer to a request. */
  | { readonly type: 'offered'; readonly caller: number; readonly request: string; readonly pem: string }
  | { readonly type: 'judged'; readonly caller: number; readonly offer: CertificateOffer };

/** `validTo`: wall-clock milliseconds. */
export type RenewalAnswer =
  | { readonly ok: true; readonly validTo: number | null }
  | { readonly ok: false; readonly code: string; readonly message: string };

export type RenewalEffect =
  /** Makes and saves a key and its request; `drafted` follows. */
  | { readonly type: 'draft' }
  | { readonly type: 'publish_request'; readonly id: string; readonly csr: string; readonly validTo: number }
  /** Clears the retained request: it no longer needs an answer. */
  | { readonly type: 'clear_request' }
  /** Checks and saves an offered certificate; `judged` follows. */
  | { readonly type: 'judge'; readonly caller: number; readonly pem: string; readonly wall: WallMs }
  | { readonly type: 'answer'; readonly caller: number; readonly answer: RenewalAnswer }
  /** Selects the certificate for the next connection. */
  | { readonly type: 'use'; readonly which: 'present' | 'new' }
  | { readonly type: 'reconnect' }
  /** The successor becomes the present certificate. */
  | { readonly type: 'adopt'; readonly validTo: number | null }
  | { readonly type: 'drop' }
  /** The status shows the day on which the certificate expires; null: not soon. */
  | { readonly type: 'show_end'; readonly day: string | null }
  | { readonly type: 'report_problem'; readonly validTo: number; readonly message: string }
  | { readonly type: 'log_rejected'; readonly why: string }
  | {
      readonly type: 'log';
      readonly level: 'info' | 'warn';
      readonly sentence: string;
      readonly validTo?: number;
      readonly reason?: string;
    };

type Stepped = Step<RenewalState, RenewalEffect>;
type Seen = RenewalFacts & Moment;

/** @param draw from 0 to 1, fixed per device: a fleet must not request all at once */
export function renewalMachine(
  draw: number,
): Machine<RenewalState, RenewalEvent, RenewalEffect, RenewalFacts> {
  return {
    name: 'certificate renewal',
    begin: {
      isConnected: false,
      work: null,
      trial: NEW_TRIAL,
      notBefore: Number.NEGATIVE_INFINITY,
      publishedAt: Number.NEGATIVE_INFINITY,
      checkAt: null,
      reconnectAt: null,
      warnedOf: '',
    },
    step: (state, event, seen) => step(state, event, seen, draw),
    wakeAt({ checkAt, reconnectAt }) {
      const times = [checkAt, reconnectAt].flatMap((at) => at ?? []);
      return times.length === 0 ? null : Math.min(...times);
    },
  };
}

function step(
  state: RenewalState,
  event: RenewalEvent | Time | Failed<RenewalEffect>,
  seen: Seen,
  draw: number,
): Stepped {
  switch (event.type) {
    case 'time':
      return onTime(state, seen, draw);
    case 'begun':
      return check(state, seen, draw);
    case 'connection':
      return onConnection({ ...state, isConnected: event.outcome === 'up' }, event.outcome, seen, draw);
    case 'drafted':
      return onDrafted(state, event.problem, seen);
    case 'ordered':
      return onOrdered(state, event.caller, seen);
    case 'offered':
      return onOffered(state, event, seen);
    case 'judged':
      return onJudged({ ...state, work: null }, event, seen);
    case 'failed':
      return onFailed(state, event.effect, seen);
  }
}

function onTime(state: RenewalState, seen: Seen, draw: number): Stepped {
  const isDue = (at: number | null): boolean => at !== null && seen.now >= at;
  const tried: Stepped = isDue(state.reconnectAt)
    ? { state: { ...state, reconnectAt: null }, effects: [{ type: 'reconnect' }] }
    : stay(state);
  return isDue(state.checkAt) ? followedBy(tried, (next) => check(next, seen, draw)) : tried;
}

function check(given: RenewalState, seen: Seen, draw: number): Stepped {
  const { now, wall, present, successor, request } = seen;
  const checked = { ...given, checkAt: now + CHECK_EACH_MS };
  if (wall === null) return stay(checked);
  return followedBy(warn(checked, present, wall), (state) => {
    const isUnderWay = state.work !== null || successor !== null || request !== null;
    const isDue = wall >= renewalAt(present, draw) && now >= state.notBefore;
    if (isDue && !isUnderWay) return draft(state, null);
    return now - state.publishedAt >= PUBLISH_EACH_MS ? publish(state, seen) : stay(state);
  });
}

function warn(state: RenewalState, { validTo }: CertificateLife, wall: WallMs): Stepped {
  const isSoon = validTo - wall < WARN_BEFORE_MS;
  const end = day(validTo);
  const shown: RenewalEffect = { type: 'show_end', day: isSoon ? end : null };
  if (!isSoon || state.warnedOf === end) return { state, effects: [shown] };
  const message = `the client certificate expires on ${end} and was not renewed`;
  return {
    state: { ...state, warnedOf: end },
    effects: [
      shown,
      { type: 'log', level: 'warn', sentence: message, validTo },
      { type: 'report_problem', validTo, message },
    ],
  };
}

function draft(state: RenewalState, caller: number | null): Stepped {
  return { state: { ...state, work: { type: 'drafting', caller } }, effects: [{ type: 'draft' }] };
}

/** While a request is drafted, it is not saved yet: after a restart, its answer would be useless. */
function publish(state: RenewalState, { request, present, now }: Seen): Stepped {
  if (request === null || state.work?.type === 'drafting' || !state.isConnected) return stay(state);
  const { id, csr } = request;
  return {
    state: { ...state, publishedAt: now },
    effects: [{ type: 'publish_request', id, csr, validTo: present.validTo }],
  };
}

function onDrafted(given: RenewalState, problem: string | null, seen: Seen): Stepped {
  const { validTo } = seen.present;
  const caller = given.work?.type === 'drafting' ? given.work.caller : null;
  const state = { ...given, work: null };
  const drafted = problem === null ? requested(state, seen) : notRequested(state, problem, seen);
  if (caller === null) return drafted;
  const answer: RenewalAnswer =
    problem === null
      ? { ok: true, validTo }
      : { ok: false, code: 'not_kept', message: 'the new key cannot be saved: is the disk full?' };
  return followedBy(drafted, (next) => ({ state: next, effects: [{ type: 'answer', caller, answer }] }));
}

function requested(state: RenewalState, seen: Seen): Stepped {
  const { validTo } = seen.present;
  const sentence = 'requesting a new client certificate';
  const logged: Stepped = { state, effects: [{ type: 'log', level: 'info', sentence, validTo }] };
  return followedBy(logged, (next) => publish(next, seen));
}

function notRequested(state: RenewalState, reason: string, { now, present: { validTo } }: Seen): Stepped {
  const sentence = 'cannot request a new client certificate';
  return {
    state: { ...state, notBefore: now + ASK_AGAIN_AFTER_MS },
    effects: [
      { type: 'log', level: 'warn', sentence, reason },
      { type: 'report_problem', validTo, message: `cannot request a new one: ${reason}` },
    ],
  };
}

function onOrdered(state: RenewalState, caller: number, seen: Seen): Stepped {
  if (state.work !== null || seen.successor !== null)
    return refuse(state, caller, 'busy', 'a new certificate is being made or tried: send it again later');
  if (seen.request === null) return draft(state, caller);
  const answer: RenewalAnswer = { ok: true, validTo: seen.present.validTo };
  return followedBy(publish(state, seen), (next) => ({
    state: next,
    effects: [{ type: 'answer', caller, answer }],
  }));
}

function onOffered(
  state: RenewalState,
  { caller, request, pem }: Extract<RenewalEvent, { type: 'offered' }>,
  seen: Seen,
): Stepped {
  if (state.work !== null || seen.request?.id !== request) {
    const refused = refuse(state, caller, 'not_asked', 'the device has no request with this id');
    // While an answer is judged, its request may still come back.
    const isOver = state.work === null && seen.request === null;
    return isOver ? { state, effects: [{ type: 'clear_request' }, ...refused.effects] } : refused;
  }
  const { wall } = seen;
  if (wall === null)
    return refuse(state, caller, 'clock', "the device's clock is not set: it cannot judge a certificate");
  return { state: { ...state, work: { type: 'judging' } }, effects: [{ type: 'judge', caller, pem, wall }] };
}

function onJudged(
  state: RenewalState,
  { caller, offer }: Extract<RenewalEvent, { type: 'judged' }>,
  { now, successor }: Seen,
): Stepped {
  if (!offer.ok) {
    const refused = refuse(state, caller, offer.code, `the certificate ${offer.message}`);
    return { state, effects: [{ type: 'log_rejected', why: offer.message }, ...refused.effects] };
  }
  return {
    state: { ...state, trial: NEW_TRIAL, reconnectAt: now + TRY_AFTER_MS },
    effects: [
      { type: 'use', which: 'new' },
      { type: 'log', level: 'info', sentence: 'received a new client certificate; trying it' },
      { type: 'answer', caller, answer: { ok: true, validTo: successor?.validTo ?? null } },
    ],
  };
}

function onConnection(state: RenewalState, outcome: ConnectionOutcome, seen: Seen, draw: number): Stepped {
  const { successor, shown } = seen;
  // A connection says nothing about a certificate that it did not show.
  const isTried = successor !== null && state.work === null && shown === state.trial.uses;
  const judged: Stepped = isTried
    ? onTried({ ...state, reconnectAt: null }, outcome, successor, seen, draw)
    : stay(state);
  return outcome === 'up' ? followedBy(judged, (next) => publish(next, seen)) : judged;
}

/** A connection has used the certificate whose turn it was. */
function onTried(
  state: RenewalState,
  outcome: ConnectionOutcome,
  successor: CertificateLife,
  seen: Seen,
  draw: number,
): Stepped {
  const { trial, verdict } = noteConnection(state.trial, outcome);
  switch (verdict) {
    case 'adopt':
      return followedBy(
        {
          state,
          effects: [{ type: 'adopt', validTo: successor.validTo }, { type: 'clear_request' }],
        },
        (next) => check(next, { ...seen, present: successor, successor: null }, draw),
      );
    case 'drop':
      return dropped(state, seen);
    case 'open':
      return { state: { ...state, trial }, effects: turnOf(state.trial.uses, trial.uses, outcome) };
  }
}

function dropped(state: RenewalState, { now, present: { validTo } }: Seen): Stepped {
  const message = 'the broker does not accept the new client certificate; the present one stays';
  return {
    state: { ...state, notBefore: now + ASK_AGAIN_AFTER_MS },
    effects: [
      { type: 'drop' },
      { type: 'log', level: 'warn', sentence: message, validTo },
      { type: 'report_problem', validTo, message },
      { type: 'clear_request' },
    ],
  };
}

/** It may be the other certificate's turn. */
function turnOf(
  before: 'present' | 'new',
  which: 'present' | 'new',
  outcome: ConnectionOutcome,
): readonly RenewalEffect[] {
  if (which === before) return [];
  const use: RenewalEffect = { type: 'use', which };
  // The present connection is up: the next one tries the new certificate.
  if (outcome === 'up') return [use];
  const sentence = 'no connection with the new client certificate; the present one is tried again';
  if (which === 'present') return [use, { type: 'log', level: 'warn', sentence }, { type: 'reconnect' }];
  // A broker that refuses both must not be asked again without a pause.
  return outcome === 'refused' ? [use] : [use, { type: 'reconnect' }];
}

/** The work ends without a result. A certificate that could not be judged is not tried. */
function onFailed(state: RenewalState, effect: RenewalEffect, seen: Seen): Stepped {
  if (effect.type === 'draft') return onDrafted(state, 'the agent failed; see its log', seen);
  if (effect.type !== 'judge') return stay(state);
  const answer: RenewalEffect = { type: 'answer', caller: effect.caller, answer: INTERNAL };
  return {
    state: { ...state, work: null },
    effects: seen.successor === null ? [answer] : [{ type: 'drop' }, answer],
  };
}

function refuse(state: RenewalState, caller: number, code: string, message: string): Stepped {
  return { state, effects: [{ type: 'answer', caller, answer: { ok: false, code, message } }] };
}
