import { isCause, type LossCause } from '../../../protocol/mqtt/causes.ts';
import type { Unanswered } from '../replay/record.ts';
import type { LaneState } from '../state/lane-state.ts';
import { REPORT_EACH_MS, type SpeechLoss } from '../state/loss-record.ts';
import { hearingStream, isCongested, isStreaming, tokenRequestOf } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { type BacklogChunk, dropAll, dropOld, heldSpeech, writeOff } from '../uplink/backlog.ts';

/** Speech that never reached a working service: an outage, an overflow, a dead or silent service, a stop. */

/** Time (ms) without another loss after which a loss is over, while the lane streams: a slow connection loses a word now and then. */
const LOSS_OVER_AFTER_MS = 10_000;
/** Number of held speech chunks (two seconds) from which a stop reports them as lost: fewer may be a noise. */
const LEAST_HELD_CHUNKS = 6;
/**
 * Maximum age of speech that is still sent (ms): the speaker of older speech has gone, and the next visitor must not hear it.
 * Usually newer audio displaces it sooner, but not while the microphone is absent.
 */
const OLDEST_SENT_MS = 120_000;

/** Whether a chunk is too old to send: the next step drops it. */
export function isTooOld({ capturedAt }: BacklogChunk, now: number): boolean {
  return capturedAt < now - OLDEST_SENT_MS;
}

/** Before a step: drops held audio that has waited for too long. */
export function forgetOld(context: StepContext): void {
  const before = context.state;
  const [oldest] = before.backlog.chunks;
  if (oldest === undefined || !isTooOld(oldest, context.now)) return;
  const since = context.now - OLDEST_SENT_MS;
  context.set({ backlog: dropOld(before.backlog, since, before.session.kind !== 'standby') });
  trackSpeechLoss(context, before);
}

/** The lane is stopped: drops held speech. The loss is attributed to what kept it from being sent, otherwise to the stop. */
export function dropHeld(context: StepContext): void {
  const { state: before } = context;
  const chunks = heldSpeech(before.backlog);
  const [first, last] = [chunks[0], chunks.at(-1)];
  context.set({ backlog: dropAll(before.backlog) });
  // Speech that directly follows lost speech belongs to the same loss.
  const least = before.loss?.source === 'held' ? 1 : LEAST_HELD_CHUNKS;
  if (chunks.length < least || before.session.kind === 'standby' || !first || !last) return;
  const isUp = hearingStream(before.session) !== null && !isCongested(before.session);
  const { accounts } = context.state.backlog;
  const { chunkMs } = before.settings;
  const lost = accounts.lost + chunks.length;
  context.set({ backlog: { ...context.state.backlog, accounts: { ...accounts, lost } } });
  addLoss(context, chunks.length, {
    source: 'held',
    cause: isUp ? 'stopped' : causeOf(before),
    from: first.capturedAt - chunkMs,
    to: last.capturedAt,
  });
}

/** Counts speech as lost that a stream took and the service never reacted to. */
export function loseSent(context: StepContext, lost: Unanswered | null, cause: LossCause): void {
  if (lost === null) return;
  const { chunks, from, to } = lost;
  context.set({ backlog: writeOff(context.state.backlog, chunks) });
  addLoss(context, chunks, { source: 'sent', cause, from, to });
}

/**
 * At the end of a step: counts speech that the backlog has dropped. An outage is reported with its sum at its end, and every ten
 * minutes while it lasts.
 */
export function trackSpeechLoss(context: StepContext, before: LaneState): void {
  const { backlog, lostCounted, settings } = context.state;
  const chunks = backlog.accounts.lost - lostCounted;
  if (chunks > 0) {
    const [oldest] = backlog.chunks;
    const to =
      oldest === undefined
        ? heldSpeech(before.backlog).at(-1)?.capturedAt
        : oldest.capturedAt - settings.chunkMs;
    const end = to ?? context.now;
    const from = end - chunks * settings.chunkMs;
    addLoss(context, chunks, { source: 'held', cause: causeOf(context.state), from, to: end });
  }
  const { loss } = context.state;
  if (loss === null || !isOver(context.state, loss, context.now)) return;
  context.set({ loss: null });
  report(context, loss);
}

type Lost = Pick<SpeechLoss, 'source' | 'cause' | 'from' | 'to'>;

/** Adds to the present loss, or begins another. One outage keeps its first cause. */
function addLoss(context: StepContext, chunks: number, { source, cause, from, to }: Lost): void {
  const { loss, settings, lostCounted } = context.state;
  const { now } = context;
  const isSame = loss !== null && (loss.cause === cause || (loss.source === 'held' && source === 'held'));
  if (loss !== null && !isSame) report(context, loss);
  const known = isSame ? loss : { source, cause, from, to, lostMs: 0, reportedAt: now };
  const isDue = now - known.reportedAt >= REPORT_EACH_MS;
  const sum: SpeechLoss = {
    ...known,
    lostMs: known.lostMs + chunks * settings.chunkMs,
    lastAt: now,
    from: Math.min(known.from, from),
    to: Math.max(known.to, to),
    reportedAt: isDue ? now : known.reportedAt,
  };
  context.set({ loss: sum, lostCounted: lostCounted + chunks });
  if (isDue) report(context, sum, { ongoing: true });
}

function report(
  context: StepContext,
  { lostMs, cause, from, to }: SpeechLoss,
  more: { ongoing?: true } = {},
): void {
  context.notify('speech_lost', { lost_ms: Math.round(lostMs), cause, ...more }, { from, to });
}

function isOver({ session }: LaneState, { lastAt, cause }: SpeechLoss, now: number): boolean {
  // Speech that the stream still owes is added when the stream is gone.
  if (cause === 'stopped') return session.kind !== 'draining';
  switch (session.kind) {
    case 'live':
    case 'rolling':
      return session.stream.congestedSince === null && now - lastAt >= LOSS_OVER_AFTER_MS;
    case 'idle':
    case 'standby':
    case 'draining':
    case 'closed':
      return true;
    default:
      return false;
  }
}

/** Why speech is not being translated now. */
function causeOf({ session, brokerUp, backendSilent, problem }: LaneState): LossCause {
  if (isCongested(session)) return 'congested';
  const isAcquiring = tokenRequestOf(session) !== null;
  if (isAcquiring && !brokerUp) return 'no_broker';
  if (isAcquiring && backendSilent) return 'no_backend';
  if (isStreaming(session)) return 'catching_up';
  return problem !== null && isCause(problem.code) ? problem.code : 'no_session';
}
