import { draw } from '../../random.ts';
import type { Cause } from '../../retry/recovery.ts';
import type { Denial, Grant } from '../event.ts';
import type { StepContext } from '../step-context.ts';
import { dropLease } from './close.ts';
import { fail } from './failure.ts';
import { waitForAnswer } from './retry-wait.ts';
import { leaseOf, type PendingTokenRequest, streamsOf, tokenRequestOf } from './session.ts';
import { connect } from './session-setup.ts';

/** How far the wait for an answer may grow. */
const LONGEST_ANSWER_WAIT_MS = 60_000;

/** Gets the lane a token: the unspent one it has, or a new one. */
export function acquire(context: StepContext): void {
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

/** Asks (again) under the same id, which makes a lost answer come again instead of a second session. */
function ask(context: StepContext, asked: PendingTokenRequest): void {
  const { brokerUp, settings, seed } = context.state;
  if (!brokerUp) return;
  const attempt = asked.attempt + 1;
  const drawn = draw(seed);
  const patienceMs = Math.min(
    LONGEST_ANSWER_WAIT_MS,
    settings.tokenAnswerMs * 2 ** Math.min(attempt - 1, 10),
  );
  // A request that was waiting for the connection counts its life from when it is really sent.
  const since = asked.attempt === 0 ? context.now : asked.since;
  context.set({ seed: drawn.seed });
  context.emit({ type: 'request_token', id: asked.id, reason: asked.reason, attempt });
  const wait = waitForAnswer(context, patienceMs * (1 + drawn.value / 2), patienceMs);
  putRequest(context, { ...asked, attempt, since, askedAt: context.now, wait });
}

/** No answer in time: asks again, under a new id once the old one is too old to be trusted with a fresh token. */
export function onTokenTimer(context: StepContext): void {
  const asked = tokenRequestOf(context.state.session);
  if (asked === null) return;
  const isOld = asked.attempt > 0 && context.now - asked.since >= context.state.settings.tokenRequestLifeMs;
  const request = isOld ? newRequest(context, asked.attempt) : asked;
  putRequest(context, request);
  ask(context, request);
}

/** For this long after a question no other is asked, whoever wants it. */
const LEAST_BETWEEN_MS = 2000;

/** Somebody wants an answer now: it is asked for again, unless it has just been. */
export function askNow(context: StepContext): void {
  const asked = tokenRequestOf(context.state.session);
  if (asked === null || asked.askedAt === null || !context.state.brokerUp) return;
  if (context.now - asked.askedAt >= LEAST_BETWEEN_MS) onTokenTimer(context);
}

/** A fleet that gets its broker back asks spread over a tenth of the time for which it waited, within these bounds. */
const SPREAD_SHARE = 0.1;
const LEAST_SPREAD_MS = 1000;
const MOST_SPREAD_MS = 10_000;
/** Who waited no longer has just been started: alone, or at its own moment. */
const NO_WAIT_MS = 1000;

/** The connection to the backend came or went. */
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
  const spreadMs = Math.min(MOST_SPREAD_MS, Math.max(LEAST_SPREAD_MS, waitedMs * SPREAD_SHARE));
  context.arm('token', context.now + drawn.value * spreadMs);
}

function isInUse(context: StepContext, grant: string): boolean {
  const leases = streamsOf(context.state).map(({ lease }) => lease);
  return [leaseOf(context.state.session), ...leases].some((used) => used?.grant.id === grant);
}

export function onGranted(context: StepContext, grant: Grant): void {
  const { session, settings } = context.state;
  const asked = tokenRequestOf(session);
  if (asked === null || asked.id !== grant.id) {
    const inUse = isInUse(context, grant.id);
    // Late, doubled or for somebody else: never used; the one in use must not be forgotten for its double.
    if (!inUse) context.emit({ type: 'forget_grant', grant: grant.id });
    context.count('ignored');
    return;
  }
  context.disarm('token');
  const expiresAt = asked.since + grant.windowMs - settings.connectMarginMs;
  const fault = faultOf(grant, expiresAt, context.now);
  if (fault === null) return connect(context, { grant, expiresAt, unreached: 0 });
  context.emit({ type: 'forget_grant', grant: grant.id });
  fail(context, fault.cause, { message: fault.message });
}

/** Why a token that was asked for cannot be used; null: it can. */
function faultOf(grant: Grant, expiresAt: number, now: number): { cause: Cause; message: string } | null {
  const { intent, connectionType } = grant;
  if (intent !== 's2s') return { cause: 'intent_mismatch', message: `the token is for ${intent}` };
  if (connectionType !== 'ws')
    return { cause: 'connection_type_mismatch', message: `the token is for ${connectionType}` };
  if (expiresAt > now) return null;
  return { cause: 'grant_unusable', message: 'the token came when its connect window was over' };
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

/** What the backend sent cannot be used here; which words say why is for the agent to know. */
export function onUnusable(context: StepContext, id: string, message: string): void {
  if (tokenRequestOf(context.state.session)?.id === id) fail(context, 'grant_unusable', { message });
  else context.count('ignored');
}
