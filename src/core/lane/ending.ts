import { drawBackoff } from '../backoff.ts';
import { type HeldChunk, takeBack } from '../hold.ts';
import { type Cause, PATIENCE, type Patience, RECOVERY } from '../recovery.ts';
import { unspoken } from '../replay/log.ts';
import type { AudioCut } from '../replay/sentence.ts';
import { cutsAtEnd } from '../replay/spoken.ts';
import { goLive } from './live.ts';
import { noteNoRoom } from './room.ts';
import type { Approach, Lease, Stream } from './state.ts';
import type { Turn } from './turn.ts';
import { waitForRetry } from './waiting.ts';
import { forgetWarning } from './warning.ts';

/** Nobody is obeyed who asks for a longer wait: a slip in a number must not silence a device until somebody comes. */
const LONGEST_RETRY_AFTER_MS = 600_000;
/** After so many tries that did not reach the service the address may be out of date: the backend is asked anew. */
const UNREACHED_TRIES = 3;

/** Gives back what the lane has of tokens, used or not, before it asks for another or stops. */
export function surrender(turn: Turn): void {
  const { lease } = turn.state;
  if (lease !== null) turn.emit({ type: 'forget_grant', grant: lease.grant.id });
  turn.disarm('token');
  turn.set({ lease: null, wish: null });
}

/** Closes a stream, wherever it stood. The caller takes it out of its place. */
export function closeStream(
  turn: Turn,
  stream: Stream,
  why: Cause | 'stopped' | 'rollover' | 'standby',
  how: 'close' | 'terminate',
): void {
  turn.emit({ type: 'close_stream', stream: stream.id, how });
  turn.emit({ type: 'forget_grant', grant: stream.lease.grant.id });
  forgetWarning(turn);
  if (stream.openedAt !== null) turn.count('streamMs', Math.round(turn.now - stream.openedAt));
  if (stream.liveAt === null) return;
  turn.notify('session_ended', {
    session: stream.lease.grant.session,
    cause: why,
    live_ms: Math.round(turn.now - stream.liveAt),
  });
}

/** Gives the approach up, with its token. */
export function dropApproach(turn: Turn): void {
  const { approach } = turn.state;
  turn.disarm('setup', 'poll');
  // A service that has been told a task is told goodbye, so that it does not wait for the rest.
  const how = approach?.stream?.openedAt == null ? 'terminate' : 'close';
  if (approach?.stream != null) closeStream(turn, approach.stream, 'stopped', how);
  turn.set({ approach: null });
  surrender(turn);
}

/** Takes the stream that hears out of its place and closes it. */
export function dropStream(turn: Turn, why: Cause | 'stopped', how: 'close' | 'terminate'): void {
  const { stream, approach } = turn.state;
  turn.disarm('ping', 'silence', 'stable', 'drain', 'pace', 'roll', 'standby');
  if (approach === null) turn.disarm('setup', 'poll');
  if (stream === null) return;
  turn.set({ stream: null, starved: false });
  closeStream(turn, stream, why, how);
}

/** What is known of a failure beyond its cause. */
export interface Failure {
  /** Whose failure it is; the approach's where left out. */
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
export function fail(turn: Turn, cause: Cause, failure: Failure = {}): void {
  const { stream, approach } = turn.state;
  turn.count('failures');
  if (cause === 'session_revoked') turn.count('revocations');
  if (cause === 'max_duration_reached') turn.count('maxDurations');
  const isLive = stream !== null && failure.stream?.id === stream.id;
  if (isLive) loseLive(turn, cause);
  if (isLive && approach !== null) return goOnWith(turn, approach, cause, failure);
  if (!isLive) loseApproach(turn, cause, failure);
  if (!isLive && stream !== null) return postponeRollover(turn, stream, cause, failure);
  waitAndRetry(turn, cause, failure);
}

/** What the stream had heard and not spoken goes to the next one. */
function loseLive(turn: Turn, cause: Cause): void {
  const { stream } = turn.state;
  dropStream(turn, cause, 'terminate');
  if (stream !== null) takeBackFrom(turn, stream);
}

/** Holds again what a stream that broke off has not spoken, and tells what its end has cut. */
export function takeBackFrom(turn: Turn, { replay }: Stream): void {
  for (const cut of cutsAtEnd(replay, turn.now)) notifyCut(turn, cut);
  giveBack(turn, unspoken(replay));
}

/** A translation of which the rest was never heard. */
export function notifyCut(turn: Turn, { language, playedMs, expectedMs }: AudioCut): void {
  turn.notify('audio_cut', { language, played_ms: playedMs, expected_ms: expectedMs });
}

/** Holds again what was sent to a stream that broke off before it had spoken it. */
export function giveBack(turn: Turn, chunks: readonly HeldChunk[]): void {
  if (chunks.length === 0) return;
  const { hold, settings } = turn.state;
  turn.count('takenBack', chunks.length);
  turn.set({ hold: takeBack(hold, chunks, Math.floor(settings.holdMs / settings.chunkMs)) });
}

function loseApproach(turn: Turn, cause: Cause, failure: Failure): void {
  const { approach } = turn.state;
  const lost = approach?.stream ?? null;
  turn.disarm('setup', 'poll');
  turn.set({ approach: null });
  const lease = lost === null ? null : leftOver(turn, lost, cause, failure);
  if (lost !== null && lease !== null) {
    turn.emit({ type: 'close_stream', stream: lost.id, how: 'terminate' });
    return turn.set({ lease });
  }
  if (lost !== null) closeStream(turn, lost, cause, 'terminate');
  surrender(turn);
}

/** What a try that failed leaves of its token: the whole, if it may be used again. */
function leftOver(turn: Turn, { lease }: Stream, cause: Cause, failure: Failure): Lease | null {
  if (failure.unspent !== true) return null;
  if (cause === 'session_limit_reached') return lease;
  const tried = { ...lease, unreached: lease.unreached + 1 };
  if (tried.unreached < UNREACHED_TRIES) return tried;
  reportUnreachable(turn, tried, failure);
  return null;
}

/** The owner is told where no way leads, before the backend is asked for another address. */
function reportUnreachable(turn: Turn, { grant, unreached }: Lease, { message }: Failure): void {
  turn.notify('unreachable', {
    host: grant.streamHost,
    tries: unreached,
    message: message ?? RECOVERY.network.meaning,
  });
}

/** The live stream is gone, but its successor is on the way already. */
function goOnWith(turn: Turn, approach: Approach, cause: Cause, failure: Failure): void {
  report(turn, cause, failure, 0);
  turn.set({ reason: RECOVERY[cause].tokenReason });
  if (approach.stage === 'ready' && approach.stream !== null) goLive(turn, approach.stream);
  else if (approach.stage !== 'ready') turn.enter(approach.stage);
}

/** The successor did not come up, but the live stream goes on: it is tried again while there is time. */
function postponeRollover(turn: Turn, stream: Stream, cause: Cause, failure: Failure): void {
  const { settings, seed } = turn.state;
  const patience = patienceWith(turn, cause);
  const rollFailures = stream.rollFailures + 1;
  const drawn = drawBackoff(PATIENCE[patience], rollFailures, seed, retryAfterOf(failure));
  turn.enter('live');
  turn.set({ seed: drawn.seed });
  turn.put({ ...stream, rollFailures });
  report(turn, cause, failure, drawn.waitMs);
  if (stream.limitAt === null) return;
  const latestAt = stream.limitAt - settings.rollLatestMs;
  if (cause === 'session_limit_reached') {
    // No room for two: the old one makes way, in a pause or at the latest moment.
    noteNoRoom(turn);
    turn.put({ ...stream, rollFailures, mustGoFirst: true });
    turn.arm('roll', Math.max(turn.now, latestAt));
  } else if (turn.now + drawn.waitMs < latestAt) turn.arm('roll', turn.now + drawn.waitMs);
}

/** The cadence after one more failure by this cause. Where it leaves a doubt, the first is followed by a prompt try. */
function patienceWith(turn: Turn, cause: Cause): Patience {
  const { patience, promptTries } = RECOVERY[cause];
  if (promptTries === undefined) return patience;
  const refusedTokens = turn.state.refusedTokens + 1;
  turn.set({ refusedTokens });
  return refusedTokens > promptTries ? patience : 'prompt';
}

function waitAndRetry(turn: Turn, cause: Cause, failure: Failure): void {
  const row = RECOVERY[cause];
  const patience = patienceWith(turn, cause);
  const failures = turn.state.failures + 1;
  const askedMs = retryAfterOf(failure);
  const drawn = drawBackoff(PATIENCE[patience], failures, turn.state.seed, askedMs);
  turn.set({ reason: row.tokenReason, failures, seed: drawn.seed });
  const waitMs = waitForRetry(turn, drawn.waitMs, patience, askedMs);
  report(turn, cause, failure, waitMs);
  if (patience === 'parked') {
    // A token that a failed successor left over would not live so long.
    surrender(turn);
    turn.notify('parked', { cause, message: failure.message ?? row.meaning, retry_ms: waitMs });
  }
  turn.enter(patience === 'parked' ? 'parked' : 'waiting');
}

function report(turn: Turn, cause: Cause, failure: Failure, waitMs: number): void {
  const { event, meaning } = RECOVERY[cause];
  const message = failure.message ?? meaning;
  turn.set({ problem: { code: cause, message, at: turn.now } });
  const code = failure.errorCode == null ? {} : { error_code: failure.errorCode };
  if (event !== null) turn.notify(event, { cause, message, ...code, retry_ms: waitMs });
}

function retryAfterOf({ retryAfterMs }: Failure): number {
  return Math.min(retryAfterMs ?? 0, LONGEST_RETRY_AFTER_MS);
}
