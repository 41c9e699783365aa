import { draw } from '../random.ts';
import { approachTo, connect } from './approach.ts';
import { fail, surrender } from './ending.ts';
import type { Denial, Grant } from './event.ts';
import type { Turn } from './turn.ts';
import { waitForAnswer } from './waiting.ts';

/** How far the wait for an answer may grow. */
const LONGEST_ANSWER_WAIT_MS = 60_000;

/** Gets the lane a token: the unspent one it has, or a new one. */
export function acquire(turn: Turn): void {
  const { lease } = turn.state;
  turn.set({ wait: null });
  if (lease !== null && lease.expiresAt > turn.now) {
    connect(turn, lease);
    return;
  }
  surrender(turn);
  approachTo(turn, 'acquiring', null);
  wish(turn, 0);
  ask(turn);
}

function wish(turn: Turn, attempt: number): void {
  const { idPrefix, nextId, reason } = turn.state;
  turn.set({
    nextId: nextId + 1,
    wish: { id: `${idPrefix}-${nextId}`, reason, attempt, since: turn.now },
  });
}

/** Asks (again) under the same id, which makes a lost answer come again instead of a second session. */
function ask(turn: Turn): void {
  const { wish: asked, lineUp, settings, seed } = turn.state;
  if (asked === null || !lineUp) return;
  const attempt = asked.attempt + 1;
  const drawn = draw(seed);
  const patienceMs = Math.min(
    LONGEST_ANSWER_WAIT_MS,
    settings.tokenAnswerMs * 2 ** Math.min(attempt - 1, 10),
  );
  // A request that was waiting for the line counts its life from when it is really sent.
  const since = asked.attempt === 0 ? turn.now : asked.since;
  turn.set({ wish: { ...asked, attempt, since }, seed: drawn.seed });
  turn.emit({ type: 'request_token', id: asked.id, reason: asked.reason, attempt });
  waitForAnswer(turn, patienceMs * (1 + drawn.value / 2), patienceMs);
}

/** No answer in time: asks again, under a new id once the old one is too old to be trusted with a fresh token. */
export function onTokenTimer(turn: Turn): void {
  const { wish: asked, settings } = turn.state;
  if (asked === null) return;
  if (asked.attempt > 0 && turn.now - asked.since >= settings.tokenRequestLifeMs) wish(turn, asked.attempt);
  ask(turn);
}

/** A fleet that gets its broker back asks spread over a tenth of the time for which it waited, within these bounds. */
const SPREAD_SHARE = 0.1;
const LEAST_SPREAD_MS = 1000;
const MOST_SPREAD_MS = 10_000;
/** Who waited no longer has just been started: alone, or at its own moment. */
const NO_WAIT_MS = 1000;

/** The line to the backend came or went. */
export function onLine(turn: Turn, up: boolean): void {
  turn.set({ lineUp: up, wait: null });
  const { wish: asked, seed } = turn.state;
  if (!up) turn.disarm('token');
  if (!up || asked === null) return;
  const waitedMs = turn.now - asked.since;
  if (asked.attempt === 0 && waitedMs <= NO_WAIT_MS) return ask(turn);
  const drawn = draw(seed);
  turn.set({ seed: drawn.seed });
  const spreadMs = Math.min(MOST_SPREAD_MS, Math.max(LEAST_SPREAD_MS, waitedMs * SPREAD_SHARE));
  turn.arm('token', turn.now + drawn.value * spreadMs);
}

function isInUse(turn: Turn, grant: string): boolean {
  const { lease, stream, approach, retiring } = turn.state;
  return [lease, stream?.lease, approach?.stream?.lease, retiring?.stream.lease].some(
    (used) => used?.grant.id === grant,
  );
}

export function onGranted(turn: Turn, grant: Grant): void {
  const { wish: asked, settings } = turn.state;
  if (asked === null || asked.id !== grant.id) {
    const inUse = isInUse(turn, grant.id);
    // Late, doubled or for somebody else: never used; the one in use must not be forgotten for its double.
    if (!inUse) turn.emit({ type: 'forget_grant', grant: grant.id });
    turn.count('ignored');
    return;
  }
  turn.disarm('token');
  turn.set({
    wish: null,
    lease: { grant, expiresAt: asked.since + grant.windowMs - settings.connectMarginMs, unreached: 0 },
  });
  if (grant.intent !== 's2s')
    return fail(turn, 'intent_mismatch', { message: `the token is for ${grant.intent}` });
  if (grant.connectionType !== 'ws') {
    return fail(turn, 'connection_type_mismatch', { message: `the token is for ${grant.connectionType}` });
  }
  const fresh = turn.state.lease;
  if (fresh === null || fresh.expiresAt <= turn.now) {
    return fail(turn, 'grant_unusable', { message: 'the token came when its connect window was over' });
  }
  connect(turn, fresh);
}

export function onDenied(turn: Turn, id: string, denial: Denial): void {
  if (turn.state.wish?.id !== id) {
    turn.count('ignored');
    return;
  }
  fail(turn, denial.final ? 'token_denied_final' : 'token_denied', {
    message: `${denial.code}: ${denial.message}`,
    retryAfterMs: denial.retryAfterMs,
  });
}

/** What the backend sent cannot be used here; which words say why is for the agent to know. */
export function onUnusable(turn: Turn, id: string, message: string): void {
  if (turn.state.wish?.id === id) fail(turn, 'grant_unusable', { message });
  else turn.count('ignored');
}
