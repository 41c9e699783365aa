import { drawBackoff } from '../../retry/backoff.ts';
import { type Cause, PATIENCE, type Patience, RECOVERY } from '../../retry/recovery.ts';
import { type BacklogChunk, takeBack, writeOff } from '../../uplink/backlog.ts';
import { unspoken } from '../../uplink/replay/log.ts';
import type { AudioCut } from '../../uplink/replay/sentence.ts';
import { cutsAtEnd } from '../../uplink/replay/spoken.ts';
import type { Lease, SessionSetup, Stream } from '../state.ts';
import type { StepContext } from '../step-context.ts';
import { forgetWarning } from '../warning.ts';
import { noteNoRoom } from './account-limit.ts';
import { goLive } from './live.ts';
import { isDoubtful } from './silence.ts';
import { waitForRetry } from './waiting.ts';

/** Nobody is obeyed who asks for a longer wait: a slip in a number must not silence a device until somebody comes. */
const LONGEST_RETRY_AFTER_MS = 600_000;
/** After this many tries that did not reach the service the address may be out of date: the backend is asked again. */
const UNREACHED_TRIES = 3;

/** Gives back what the lane has of tokens, used or not, before it asks for another or stops. */
export function dropTokens(context: StepContext): void {
  const { lease } = context.state;
  if (lease !== null) context.emit({ type: 'forget_grant', grant: lease.grant.id });
  context.disarm('token');
  context.set({ lease: null, tokenRequest: null });
}

/** Closes a stream, wherever it stood. The caller takes it out of its place. */
export function closeStream(
  context: StepContext,
  stream: Stream,
  why: Cause | 'stopped' | 'rollover' | 'standby',
  how: 'close' | 'terminate',
): void {
  context.emit({ type: 'close_stream', stream: stream.id, how });
  context.emit({ type: 'forget_grant', grant: stream.lease.grant.id });
  forgetWarning(context);
  if (stream.openedAt !== null) context.count('streamMs', Math.round(context.now - stream.openedAt));
  if (stream.liveAt === null) return;
  context.notify('session_ended', {
    session: stream.lease.grant.session,
    cause: why,
    live_ms: Math.round(context.now - stream.liveAt),
  });
}

/** Gives the setup up, with its token. */
export function dropSetup(context: StepContext): void {
  const { setup } = context.state;
  context.disarm('setup', 'poll');
  // A service that has been told a task is told goodbye, so that it does not wait for the rest.
  const how = setup?.stream?.openedAt == null ? 'terminate' : 'close';
  if (setup?.stream != null) closeStream(context, setup.stream, 'stopped', how);
  context.set({ setup: null });
  dropTokens(context);
}

/** Takes the stream that hears out of its place and closes it. */
export function dropStream(context: StepContext, why: Cause | 'stopped', how: 'close' | 'terminate'): void {
  const { stream, setup } = context.state;
  context.disarm('ping', 'silence', 'stable', 'drain', 'pace', 'roll', 'standby');
  if (setup === null) context.disarm('setup', 'poll');
  if (stream === null) return;
  context.set({ stream: null, starved: false });
  closeStream(context, stream, why, how);
}

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
}

/** A try or a stream is over: what is left is closed, and the recovery table says when the next try is. */
export function fail(context: StepContext, cause: Cause, failure: Failure = {}): void {
  const { stream, setup } = context.state;
  context.count('failures');
  if (cause === 'session_revoked') context.count('revocations');
  if (cause === 'max_duration_reached') context.count('maxDurations');
  const isLive = stream !== null && failure.stream?.id === stream.id;
  if (isLive) loseLive(context, cause);
  if (isLive && setup !== null) return goOnWith(context, setup, cause, failure);
  if (!isLive) failSetup(context, cause, failure);
  if (!isLive && stream !== null) return postponeRollover(context, stream, cause, failure);
  waitAndRetry(context, cause, failure);
}

/** What the stream had heard and not spoken goes to the next one. */
function loseLive(context: StepContext, cause: Cause): void {
  const { stream } = context.state;
  dropStream(context, cause, 'terminate');
  if (stream !== null) takeBackFrom(context, stream);
}

/** Less than this of forgotten speech is a cough: about three seconds. */
const LEAST_UNHEARD_CHUNKS = 10;

/**
 * A stream ends that has not shown for long that it understands anything: what was said to it and is too old to be said
 * again is lost, and told. Where sessions ended so before, it may as well be noise that the voice detector takes for speech.
 */
export function countUnheard(context: StepContext, chunks: number): void {
  if (chunks < LEAST_UNHEARD_CHUNKS || isDoubtful(context.state.silentEnds, context.now)) return;
  context.set({ backlog: writeOff(context.state.backlog, chunks) });
}

/** Holds again what a stream that broke off has not spoken, and tells what its end has cut. */
export function takeBackFrom(context: StepContext, { replay }: Stream): void {
  countUnheard(context, replay.unheardChunks);
  for (const cut of cutsAtEnd(replay, context.now)) notifyCut(context, cut);
  if (context.state.stream === null) requeue(context, unspoken(replay));
  else sayLate(context, unspoken(replay));
}

/** Gives chunks to the live stream, which is in the middle of whatever is being said. */
export function sayLate(context: StepContext, chunks: readonly BacklogChunk[]): void {
  const { quietRun } = context.state.backlog;
  requeue(
    context,
    chunks.map((chunk) => ({ ...chunk, late: true })),
  );
  context.set({ backlog: { ...context.state.backlog, quietRun } });
}

/** A translation of which the rest was never heard. */
export function notifyCut(context: StepContext, { language, playedMs, expectedMs }: AudioCut): void {
  context.notify('audio_cut', { language, played_ms: playedMs, expected_ms: expectedMs });
}

/** Holds again what was sent to a stream that broke off before it had spoken it. */
export function requeue(context: StepContext, chunks: readonly BacklogChunk[]): void {
  if (chunks.length === 0) return;
  const { backlog, settings } = context.state;
  context.count('takenBack', chunks.length);
  context.set({ backlog: takeBack(backlog, chunks, Math.floor(settings.backlogMs / settings.chunkMs)) });
}

function failSetup(context: StepContext, cause: Cause, failure: Failure): void {
  const { setup } = context.state;
  const lost = setup?.stream ?? null;
  context.disarm('setup', 'poll');
  context.set({ setup: null });
  const lease = lost === null ? null : leftOver(context, lost, cause, failure);
  if (lost !== null && lease !== null) {
    context.emit({ type: 'close_stream', stream: lost.id, how: 'terminate' });
    return context.set({ lease });
  }
  if (lost !== null) closeStream(context, lost, cause, 'terminate');
  dropTokens(context);
}

/** What a try that failed leaves of its token: the whole, if it may be used again. */
function leftOver(context: StepContext, { lease }: Stream, cause: Cause, failure: Failure): Lease | null {
  if (failure.unspent !== true) return null;
  if (cause === 'session_limit_reached') return lease;
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
function goOnWith(context: StepContext, setup: SessionSetup, cause: Cause, failure: Failure): void {
  report(context, cause, failure, 0);
  context.set({ reason: RECOVERY[cause].tokenReason });
  if (setup.stage === 'ready' && setup.stream !== null) goLive(context, setup.stream);
  else if (setup.stage !== 'ready') context.enter(setup.stage);
}

/** The successor did not come up, but the live stream goes on: it is tried again while there is time. */
function postponeRollover(context: StepContext, stream: Stream, cause: Cause, failure: Failure): void {
  const { settings, seed } = context.state;
  const patience = patienceWith(context, cause);
  const rollFailures = stream.rollFailures + 1;
  const drawn = drawBackoff(PATIENCE[patience], rollFailures, seed, retryAfterOf(failure));
  context.enter('live');
  context.set({ seed: drawn.seed });
  context.put({ ...stream, rollFailures });
  report(context, cause, failure, drawn.waitMs);
  if (stream.limitAt === null) return;
  const latestAt = stream.limitAt - settings.rollLatestMs;
  if (cause === 'session_limit_reached') {
    // No room for two: the old one makes way, in a pause or at the latest moment.
    noteNoRoom(context);
    context.put({ ...stream, rollFailures, mustGoFirst: true });
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

function waitAndRetry(context: StepContext, cause: Cause, failure: Failure): void {
  const row = RECOVERY[cause];
  const patience = patienceWith(context, cause);
  const failures = context.state.failures + 1;
  const askedMs = retryAfterOf(failure);
  const drawn = drawBackoff(PATIENCE[patience], failures, context.state.seed, askedMs);
  context.set({ reason: row.tokenReason, failures, seed: drawn.seed });
  const waitMs = waitForRetry(context, drawn.waitMs, patience, askedMs);
  report(context, cause, failure, waitMs);
  if (patience === 'parked') {
    // A token that a failed successor left over would not live this long.
    dropTokens(context);
    context.notify('parked', { cause, message: failure.message ?? row.meaning, retry_ms: waitMs });
  }
  context.enter(patience === 'parked' ? 'parked' : 'waiting');
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
