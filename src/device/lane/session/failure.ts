import { drawBackoff } from '../../../core/retry/backoff.ts';
import { CAUSES, type Cause } from '../../../protocol/mqtt/causes.ts';
import { describeUnreadable } from '../sound/unreadable.ts';
import type { Lease, Live, Retasking, Rolling, Stream, Successor } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { noteNoRoom } from './account-limit.ts';
import { closeHearing, closeStream, forgetLease } from './close.ts';
import { goLive } from './go-live.ts';
import { PATIENCE, type Patience, RECOVERY } from './recovery.ts';
import { takeBackFrom } from './resend.ts';
import { waitForRetry } from './retry-wait.ts';

/** Longest wait that a peer may ask for (ms): a wrong number must not silence the device until a technician comes. */
const LONGEST_RETRY_AFTER_MS = 600_000;
/** Number of attempts that fail to reach the service before the backend is asked for another address: this one may be out of date. */
const UNREACHED_TRIES = 3;

/** Details of a failure beyond its cause. */
export interface Failure {
  /** The stream that failed; missing: the one that is being set up. */
  readonly stream?: Stream | null;
  /** Explanation for the operator; missing: the meaning in the recovery table. */
  readonly message?: string;
  /** The service's error number. */
  readonly errorCode?: number | null;
  readonly retryAfterMs?: number | null;
  /** The token may be used again: it did not reach the service, or the limit of streams prevented the stream. */
  readonly unspent?: boolean;
  /** This machine could not open another connection: the address may be right. */
  readonly isOurs?: boolean;
}

/** Handles a failed attempt or stream: closes it, and schedules the next attempt by the recovery table. */
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
      return continueSetup(context, session.setup, cause, failure);
    case 'live':
    case 'retasking':
      loseHearing(context, session, cause);
      return waitAndRetry(context, cause, failure, session.lease);
    default:
      throw new Error(`nothing can fail while ${session.kind}: ${cause}`);
  }
}

/** If the service seems to have sent nothing, explains the failure by its first unreadable message, if any. */
function explained(cause: Cause, failure: Failure): Failure {
  const { stream, message } = failure;
  if (stream == null || message !== undefined) return failure;
  if (cause !== 'silent_service' && cause !== 'setup_timeout') return failure;
  const unreadable = describeUnreadable(stream);
  return unreadable === null ? failure : { ...failure, message: unreadable };
}

/** Closes the live stream, and takes back its unspoken speech for the next one. */
function loseHearing(context: StepContext, session: Live | Retasking | Rolling, cause: Cause): void {
  closeHearing(context, session, cause, 'terminate');
  takeBackFrom(context, session.stream);
}

/** Closes a failed set-up. Returns its token if that may be used again. */
function failSetup(context: StepContext, setup: Successor, cause: Cause, failure: Failure): Lease | null {
  context.disarm('setup', 'poll');
  if (setup.stage === 'acquiring') {
    context.disarm('token');
    // Anyone who may publish to token/res can deny, or send nonsense, before the backend answers.
    context.set({ unfulfilled: setup.request });
    return null;
  }
  const lease = leftOver(context, setup.stream, cause, failure);
  if (lease === null) closeStream(context, setup.stream, cause, 'terminate');
  else context.emit({ type: 'close_stream', stream: setup.stream.id, how: 'terminate' });
  return lease;
}

/** The token of a failed attempt, if it may be used again. */
function leftOver(context: StepContext, { lease }: Stream, cause: Cause, failure: Failure): Lease | null {
  if (failure.unspent !== true) return null;
  if (cause === 'session_limit_reached' || failure.isOurs === true) return lease;
  const tried = { ...lease, unreached: lease.unreached + 1 };
  if (tried.unreached < UNREACHED_TRIES) return tried;
  reportUnreachable(context, tried, failure);
  return null;
}

/** Reports the unreachable host, before the backend is asked for another address. */
function reportUnreachable(context: StepContext, { grant, unreached }: Lease, { message }: Failure): void {
  context.notify('unreachable', {
    host: grant.streamHost,
    tries: unreached,
    message: message ?? CAUSES.network.means,
  });
}

/** The live stream is gone, and its successor is already being set up. */
function continueSetup(context: StepContext, setup: Successor, cause: Cause, failure: Failure): void {
  report(context, cause, failure, 0);
  context.set({ reason: RECOVERY[cause].tokenReason });
  if (setup.stage === 'ready') goLive(context, setup.stream);
  else context.become({ kind: 'setup', setup });
}

/** The set-up of the successor failed, and the live stream goes on: tries again while there is time. */
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
    // The account allows one stream: the old one must end first, in a pause or at the latest moment.
    noteNoRoom(context);
    context.patch(stream, { mustGoFirst: true });
    context.arm('roll', Math.max(context.now, latestAt));
  } else if (context.now + drawn.waitMs < latestAt) context.arm('roll', context.now + drawn.waitMs);
}

/** How soon the next attempt comes. After a doubtful cause, the first attempts are prompt. */
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
  // A token left over from a failed successor would expire during this wait.
  forgetLease(context, lease);
  context.notify('parked', { cause, message: failure.message ?? CAUSES[cause].means, retry_ms: waitMs });
  context.become({ kind: 'parked' });
}

function report(context: StepContext, cause: Cause, failure: Failure, waitMs: number): void {
  const { event } = RECOVERY[cause];
  const message = failure.message ?? CAUSES[cause].means;
  context.set({ problem: { code: cause, message, at: context.now } });
  const code = failure.errorCode == null ? {} : { error_code: failure.errorCode };
  if (event !== null) context.notify(event, { cause, message, ...code, retry_ms: waitMs });
}

function retryAfterOf({ retryAfterMs }: Failure): number {
  return Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
}
