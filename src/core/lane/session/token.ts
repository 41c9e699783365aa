import { draw } from '../../random.ts';
import type { Denial, Grant } from '../event.ts';
import type { StepContext } from '../step-context.ts';
import { dropTokens, fail } from './ending.ts';
import { advanceSetup, connect } from './session-setup.ts';
import { waitForAnswer } from './waiting.ts';

/** How far the wait for an answer may grow. */
const LONGEST_ANSWER_WAIT_MS = 60_000;

/** Gets the lane a token: the unspent one it has, or a new one. */
export function acquire(context: StepContext): void {
  const { lease } = context.state;
  context.set({ wait: null });
  if (lease !== null && lease.expiresAt > context.now) {
    connect(context, lease);
    return;
  }
  dropTokens(context);
  advanceSetup(context, 'acquiring', null);
  tokenRequest(context, 0);
  ask(context);
}

function tokenRequest(context: StepContext, attempt: number): void {
  const { idPrefix, nextId, reason } = context.state;
  context.set({
    nextId: nextId + 1,
    tokenRequest: { id: `${idPrefix}-${nextId}`, reason, attempt, since: context.now, askedAt: null },
  });
}

/** Asks (again) under the same id, which makes a lost answer come again instead of a second session. */
function ask(context: StepContext): void {
  const { tokenRequest: asked, lineUp, settings, seed } = context.state;
  if (asked === null || !lineUp) return;
  const attempt = asked.attempt + 1;
  const drawn = draw(seed);
  const patienceMs = Math.min(
    LONGEST_ANSWER_WAIT_MS,
    settings.tokenAnswerMs * 2 ** Math.min(attempt - 1, 10),
  );
  // A request that was waiting for the line counts its life from when it is really sent.
  const since = asked.attempt === 0 ? context.now : asked.since;
  context.set({ tokenRequest: { ...asked, attempt, since, askedAt: context.now }, seed: drawn.seed });
  context.emit({ type: 'request_token', id: asked.id, reason: asked.reason, attempt });
  waitForAnswer(context, patienceMs * (1 + drawn.value / 2), patienceMs);
}

/** No answer in time: asks again, under a new id once the old one is too old to be trusted with a fresh token. */
export function onTokenTimer(context: StepContext): void {
  const { tokenRequest: asked, settings } = context.state;
  if (asked === null) return;
  if (asked.attempt > 0 && context.now - asked.since >= settings.tokenRequestLifeMs)
    tokenRequest(context, asked.attempt);
  ask(context);
}

/** So soon after a question no other is asked, whoever wants it. */
const LEAST_BETWEEN_MS = 2000;

/** Somebody wants an answer now: it is asked for again, unless it has just been. */
export function askNow(context: StepContext): void {
  const { tokenRequest: asked, lineUp } = context.state;
  if (asked === null || asked.askedAt === null || !lineUp) return;
  if (context.now - asked.askedAt >= LEAST_BETWEEN_MS) onTokenTimer(context);
}

/** A fleet that gets its broker back asks spread over a tenth of the time for which it waited, within these bounds. */
const SPREAD_SHARE = 0.1;
const LEAST_SPREAD_MS = 1000;
const MOST_SPREAD_MS = 10_000;
/** Who waited no longer has just been started: alone, or at its own moment. */
const NO_WAIT_MS = 1000;

/** The line to the backend came or went. */
export function onLine(context: StepContext, up: boolean): void {
  context.set({ lineUp: up, wait: null });
  const { tokenRequest: asked, seed } = context.state;
  if (!up) context.disarm('token');
  if (!up || asked === null) return;
  const waitedMs = context.now - asked.since;
  if (asked.attempt === 0 && waitedMs <= NO_WAIT_MS) return ask(context);
  const drawn = draw(seed);
  context.set({ seed: drawn.seed });
  const spreadMs = Math.min(MOST_SPREAD_MS, Math.max(LEAST_SPREAD_MS, waitedMs * SPREAD_SHARE));
  context.arm('token', context.now + drawn.value * spreadMs);
}

function isInUse(context: StepContext, grant: string): boolean {
  const { lease, stream, setup, oldSession } = context.state;
  return [lease, stream?.lease, setup?.stream?.lease, oldSession?.stream.lease].some(
    (used) => used?.grant.id === grant,
  );
}

export function onGranted(context: StepContext, grant: Grant): void {
  const { tokenRequest: asked, settings } = context.state;
  if (asked === null || asked.id !== grant.id) {
    const inUse = isInUse(context, grant.id);
    // Late, doubled or for somebody else: never used; the one in use must not be forgotten for its double.
    if (!inUse) context.emit({ type: 'forget_grant', grant: grant.id });
    context.count('ignored');
    return;
  }
  context.disarm('token');
  context.set({
    tokenRequest: null,
    lease: { grant, expiresAt: asked.since + grant.windowMs - settings.connectMarginMs, unreached: 0 },
  });
  if (grant.intent !== 's2s')
    return fail(context, 'intent_mismatch', { message: `the token is for ${grant.intent}` });
  if (grant.connectionType !== 'ws') {
    return fail(context, 'connection_type_mismatch', { message: `the token is for ${grant.connectionType}` });
  }
  const fresh = context.state.lease;
  if (fresh === null || fresh.expiresAt <= context.now) {
    return fail(context, 'grant_unusable', { message: 'the token came when its connect window was over' });
  }
  connect(context, fresh);
}

export function onDenied(context: StepContext, id: string, denial: Denial): void {
  if (context.state.tokenRequest?.id !== id) {
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
  if (context.state.tokenRequest?.id === id) fail(context, 'grant_unusable', { message });
  else context.count('ignored');
}
