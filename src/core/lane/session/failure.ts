import { drawBackoff } from '../../retry/backoff.ts';
import { type Cause, PATIENCE, type Patience, RECOVERY } from '../../retry/recovery.ts';
import type { StepContext } from '../step-context.ts';
import { noteNoRoom } from './account-limit.ts';
import { closeHearing, closeStream, forgetLease } from './close.ts';
import { goLive } from './go-live.ts';
import { takeBackFrom } from './resend.ts';
import { waitForRetry } from './retry-wait.ts';
import type { Lease, Live, Retasking, Rolling, Stream, Successor } from './session.ts';
import { describeUnreadable } from './unreadable.ts';

/** Nobody is obeyed who asks for a longer wait: a slip in a number must not silence a device until somebody comes. */
const LONGEST_RETRY_AFTER_MS = 600_000;
/** After this many tries that did not reach the service the address may be out of date: the backend is asked again. */
const UNREACHED_TRIES = 3;

/** What is known of a failure beyond its cause. */
export interface Failure {
  /** Whose failure it is; the setup's where left out. */
  readonly stream?: Stream | null;
  /** Plain words for the operator; the table's meaning when left out. */
  readonly message?: string;
  /** The service's own number for it. */
  readonly errorCode?: number | null;
  readonly retryAfterMs?: number | null;
  /** The token did not reach the service, or no stream was opened with it for want of room: it may be used again. */
  readonly unspent?: boolean;
  /** This machine had no room for a connection: the address may be right. */
  readonly isOurs?: boolean;
}

/** A try or a stream is over: what is left is closed, and the recovery table says when the next try is. */
export function fail(context: StepContext, cause: Cause, given: Failure = {}): void {
  const { session } = context.state;
  const failure = explained(cause, given);
  context.count('failures');
  if (cause === 'session_revoked') context.count('revocations');
  if (cause === 'max_duration_reached') context.count('maxDurations');
  switch (session.kind) {
    case 'setup':
      return waitAndRetry(context, cause, failure, failSetup(context, session.setup, cause, failure));
    case 'rolling':
      if (failure.stream?.id !== session.stream.id) return postponeRollover(context, session, cause, failure);
      loseHearing(context, session, cause);
      return goOnWith(context, session.setup, cause, failure);
    case 'live':
    case 'retasking':
      loseHearing(context, session, cause);
      return waitAndRetry(context, cause, failure, session.lease);
    default:
      throw new Error(`nothing can fail while ${session.kind}: ${cause}`);
  }
}

/** Of a service that seems to say nothing the operator is told what it said instead. */
function explained(cause: Cause, failure: Failure): Failure {
  const { stream, message } = failure;
  if (stream == null || message !== undefined) return failure;
  if (cause !== 'silent_service' && cause !== 'setup_timeout') return failure;
  const unreadable = describeUnreadable(stream);
  return unreadable === null ? failure : { ...failure, message: unreadable };
}

/** What the stream had heard and not spoken goes to the next one. */
function loseHearing(context: StepContext, session: Live | Retasking | Rolling, cause: Cause): void {
  closeHearing(context, session, cause, 'terminate');
  takeBackFrom(context, session.stream);
}

/** Closes what a try has come to. Returns its token, where that may be used again. */
function failSetup(context: StepContext, setup: Successor, cause: Cause, failure: Failure): Lease | null {
  context.disarm('setup', 'poll');
  if (setup.stage === 'acquiring') {
    context.disarm('token');
    return null;
  }
  const lease = leftOver(context, setup.stream, cause, failure);
  if (lease === null) closeStream(context, setup.stream, cause, 'terminate');
  else context.emit({ type: 'close_stream', stream: setup.stream.id, how: 'terminate' });
  return lease;
}

/** What a try that failed leaves of its token: the whole, if it may be used again. */
function leftOver(context: StepContext, { lease }: Stream, cause: Cause, failure: Failure): Lease | null {
  if (failure.unspent !== true) return null;
  if (cause === 'session_limit_reached' || failure.isOurs === true) return lease;
  const tried = { ...lease, unreached: lease.unreached + 1 };
  if (tried.unreached < UNREACHED_TRIES) return tried;
  reportUnreachable(context, tried, failure);
  return null;
}

/** The owner is told where no way leads, before the backend is asked for another address. */
function reportUnreachable(context: StepContext, { grant, unreached }: Lease, { message }: Failure): void {
  context.notify('unreachable', {
    host: grant.streamHost,
    tries: unreached,
    message: message ?? RECOVERY.network.meaning,
  });
}

/** The live stream is gone, but its successor is on the way already. */
function goOnWith(context: StepContext, setup: Successor, cause: Cause, failure: Failure): void {
  report(context, cause, failure, 0);
  context.set({ reason: RECOVERY[cause].tokenReason });
  if (setup.stage === 'ready') goLive(context, setup.stream);
  else context.become({ kind: 'setup', setup });
}

/** The successor did not come up, but the live stream goes on: it is tried again while there is time. */
function postponeRollover(context: StepContext, rolling: Rolling, cause: Cause, failure: Failure): void {
  const { settings, seed } = context.state;
  const lease = failSetup(context, rolling.setup, cause, failure);
  const patience = patienceWith(context, cause);
  const rollFailures = rolling.stream.rollFailures + 1;
  const drawn = drawBackoff(PATIENCE[patience], rollFailures, seed, retryAfterOf(failure));
  const stream = { ...rolling.stream, rollFailures };
  context.become({ kind: 'live', stream, lease });
  context.set({ seed: drawn.seed });
  report(context, cause, failure, drawn.waitMs);
  if (stream.limitAt === null) return;
  const latestAt = stream.limitAt - settings.rollLatestMs;
  if (cause === 'session_limit_reached') {
    // No room for two: the old one makes way, in a pause or at the latest moment.
    noteNoRoom(context);
    context.patch(stream, { mustGoFirst: true });
    context.arm('roll', Math.max(context.now, latestAt));
  } else if (context.now + drawn.waitMs < latestAt) context.arm('roll', context.now + drawn.waitMs);
}

/** The cadence after one more failure by this cause. Where it leaves a doubt, the first is followed by a prompt try. */
function patienceWith(context: StepContext, cause: Cause): Patience {
  const { patience, promptTries } = RECOVERY[cause];
  if (promptTries === undefined) return patience;
  const refusedTokens = context.state.refusedTokens + 1;
  context.set({ refusedTokens });
  return refusedTokens > promptTries ? patience : 'prompt';
}

function waitAndRetry(context: StepContext, cause: Cause, failure: Failure, lease: Lease | null): void {
  const row = RECOVERY[cause];
  const patience = patienceWith(context, cause);
  const failures = context.state.failures + 1;
  const askedMs = retryAfterOf(failure);
  const drawn = drawBackoff(PATIENCE[patience], failures, context.state.seed, askedMs);
  context.set({ reason: row.tokenReason, failures, seed: drawn.seed });
  const { wait, waitMs } = waitForRetry(context, drawn.waitMs, patience, askedMs);
  report(context, cause, failure, waitMs);
  if (patience !== 'parked') return context.become({ kind: 'waiting', lease, wait });
  // A token that a failed successor left over would not live this long.
  forgetLease(context, lease);
  context.notify('parked', { cause, message: failure.message ?? row.meaning, retry_ms: waitMs });
  context.become({ kind: 'parked' });
}

function report(context: StepContext, cause: Cause, failure: Failure, waitMs: number): void {
  const { event, meaning } = RECOVERY[cause];
  const message = failure.message ?? meaning;
  context.set({ problem: { code: cause, message, at: context.now } });
  const code = failure.errorCode == null ? {} : { error_code: failure.errorCode };
  if (event !== null) context.notify(event, { cause, message, ...code, retry_ms: waitMs });
}

function retryAfterOf({ retryAfterMs }: Failure): number {
  return Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
}
