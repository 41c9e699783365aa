import { draw } from '../../../core/random.ts';
import type { Cause } from '../../../protocol/mqtt/causes.ts';
import type { Denial, Grant } from '../state/lane-event.ts';
import type { LaneState } from '../state/lane-state.ts';
import {
  type Lease,
  leaseOf,
  type PendingTokenRequest,
  streamsOf,
  tokenRequestOf,
} from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { dropLease, forgetLease } from './close.ts';
import { fail } from './failure.ts';
import { waitForAnswer } from './retry-wait.ts';
import { connect } from './session-setup.ts';

/** Maximum wait for an answer (ms). */
const LONGEST_ANSWER_WAIT_MS = 60_000;

/** Connects with the unspent token, or requests a new token. */
export function acquire(context: StepContext): void {
  context.set({ unfulfilled: null });
  const lease = leaseOf(context.state.session);
  if (lease !== null && lease.expiresAt > context.now) {
    connect(context, lease);
    return;
  }
  dropLease(context);
  const request = newRequest(context, 0);
  putRequest(context, request);
  ask(context, request);
}

function newRequest(context: StepContext, attempt: number): PendingTokenRequest {
  const { idPrefix, nextId, reason } = context.state;
  context.set({ nextId: nextId + 1 });
  return { id: `${idPrefix}-${nextId}`, reason, attempt, since: context.now, askedAt: null, wait: null };
}

function putRequest(context: StepContext, request: PendingTokenRequest): void {
  context.advanceSetup({ stage: 'acquiring', request });
}

/** Sends or repeats the request under its id: the backend then repeats a lost answer instead of creating a second session. */
function ask(context: StepContext, asked: PendingTokenRequest): void {
  const { brokerUp, settings, seed } = context.state;
  if (!brokerUp) return;
  const attempt = asked.attempt + 1;
  const drawn = draw(seed);
  const patienceMs = Math.min(
    LONGEST_ANSWER_WAIT_MS,
    settings.tokenAnswerMs * 2 ** Math.min(attempt - 1, 10),
  );
  // The life of a request that waited for the connection begins when it is sent.
  const since = asked.attempt === 0 ? context.now : asked.since;
  context.set({ seed: drawn.seed });
  context.emit({ type: 'request_token', id: asked.id, reason: asked.reason, attempt });
  const wait = waitForAnswer(context, patienceMs * (1 + drawn.value / 2), patienceMs);
  putRequest(context, { ...asked, attempt, since, askedAt: context.now, wait });
}

/** No answer in time: asks again. A request that is too old gets a new id, because its token might have expired. */
export function onTokenTimer(context: StepContext): void {
  const asked = tokenRequestOf(context.state.session);
  if (asked === null) return;
  const isOld = asked.attempt > 0 && context.now - asked.since >= context.state.settings.tokenRequestLifeMs;
  const request = isOld ? newRequest(context, asked.attempt) : asked;
  putRequest(context, request);
  ask(context, request);
}

/** Minimum interval between requests on demand (ms). */
const LEAST_BETWEEN_MS = 2000;

/** Repeats the request now, unless it was just sent. */
export function askNow(context: StepContext): void {
  const asked = tokenRequestOf(context.state.session);
  if (asked === null || asked.askedAt === null || !context.state.brokerUp) return;
  if (context.now - asked.askedAt >= LEAST_BETWEEN_MS) onTokenTimer(context);
}

/** Time over which requests are spread when the broker is back (ms), in addition to the spread of the fleet's connections. */
const SPREAD_MS = 1000;
/** Wait for the broker (ms) up to which a request is not spread: the device has just started. */
const NO_WAIT_MS = 1000;

/** The connection to the broker was established or lost. */
export function onBroker(context: StepContext, up: boolean): void {
  context.set({ brokerUp: up });
  const { session, seed } = context.state;
  const asked = tokenRequestOf(session);
  if (asked !== null) putRequest(context, { ...asked, wait: null });
  if (!up) context.disarm('token');
  if (!up || asked === null) return;
  const waitedMs = context.now - asked.since;
  if (asked.attempt === 0 && waitedMs <= NO_WAIT_MS) return ask(context, asked);
  const drawn = draw(seed);
  context.set({ seed: drawn.seed });
  context.arm('token', context.now + drawn.value * SPREAD_MS);
}

function isInUse(context: StepContext, grant: string): boolean {
  const leases = streamsOf(context.state).map(({ lease }) => lease);
  return [leaseOf(context.state.session), ...leases].some((used) => used?.grant.id === grant);
}

/** The request that a usable answer may still fulfil: also after a denial, until the lane asks again or stops. */
export function openRequest({ session, unfulfilled }: LaneState): PendingTokenRequest | null {
  const isBetweenTries = ['waiting', 'parked', 'live', 'retasking'].includes(session.kind);
  return tokenRequestOf(session) ?? (isBetweenTries ? unfulfilled : null);
}

export function onGranted(context: StepContext, grant: Grant): void {
  const { session, settings } = context.state;
  const asked = openRequest(context.state);
  if (asked === null || asked.id !== grant.id) {
    const inUse = isInUse(context, grant.id);
    // A late, repeated or unknown token is not used. If it repeats the token in use, that token must stay.
    if (!inUse) context.emit({ type: 'forget_grant', grant: grant.id });
    context.count('ignored');
    return;
  }
  const expiresAt = asked.since + grant.windowMs - settings.connectMarginMs;
  const fault = faultOf(grant, expiresAt, context.now);
  if (fault === null) return use(context, { grant, expiresAt, unreached: 0 });
  context.emit({ type: 'forget_grant', grant: grant.id });
  if (tokenRequestOf(session) === null) context.count('ignored');
  else fail(context, fault.cause, { message: fault.message });
}

function use(context: StepContext, lease: Lease): void {
  const { session } = context.state;
  context.set({ unfulfilled: null });
  if (session.kind === 'live' || session.kind === 'retasking') {
    forgetLease(context, session.lease);
    context.become({ ...session, lease });
    return context.arm('roll', context.now);
  }
  context.disarm('token', 'retry');
  connect(context, lease);
}

/** Why the requested token cannot be used; null: it can. */
function faultOf(grant: Grant, expiresAt: number, now: number): { cause: Cause; message: string } | null {
  const { intent, connectionType } = grant;
  if (intent !== 's2s') return { cause: 'intent_mismatch', message: `the token is for ${intent}` };
  if (connectionType !== 'ws')
    return { cause: 'connection_type_mismatch', message: `the token is for ${connectionType}` };
  if (expiresAt > now) return null;
  return { cause: 'grant_unusable', message: 'the token arrived after its connect window' };
}

export function onDenied(context: StepContext, id: string, denial: Denial): void {
  if (tokenRequestOf(context.state.session)?.id !== id) {
    context.count('ignored');
    return;
  }
  fail(context, denial.final ? 'token_denied_final' : 'token_denied', {
    message: `the backend gives no token: ${denial.message.replace(/\.$/, '')} (${denial.code})`,
    retryAfterMs: denial.retryAfterMs,
  });
}

/** The answer of the backend cannot be used; the message of the agent says why. */
export function onUnusable(context: StepContext, id: string, message: string): void {
  if (tokenRequestOf(context.state.session)?.id === id) fail(context, 'grant_unusable', { message });
  else context.count('ignored');
}
