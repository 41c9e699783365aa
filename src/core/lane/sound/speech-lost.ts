import { type BacklogChunk, dropAll, dropOld, heldSpeech, writeOff } from '../../uplink/backlog.ts';
import { isCause, type LossCause } from '../loss-cause.ts';
import type { SpeechLoss } from '../observations.ts';
import { hearingStream, isCongested, isStreaming, tokenRequestOf } from '../session/session.ts';
import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';

/** A loss that has paused this long is over, if the lane streams: a slow way loses a word now and then. */
const OVER_AFTER_MS = 10_000;
/** Less than this of what is held may be a noise, or is being said just now: two seconds where it is sure of some of it, or three. */
const LEAST_HELD_CHUNKS = { sure: 6, possible: 9 };
/** An outage that does not end is told again so often. */
const TELL_EACH_MS = 600_000;

/**
 * Speech that has waited for longer is not said any more: who said it has gone, and the next one is not to hear it. The backlog's
 * bound keeps it younger, but for a microphone that is away while there is no stream: nothing comes that pushes it out.
 */
const OLDEST_SAID_MS = 120_000;

/** Whether it is given up as the next step begins. */
export function isTooOld({ capturedAt }: BacklogChunk, now: number): boolean {
  return capturedAt < now - OLDEST_SAID_MS;
}

/** Before a step: gives up what has waited for too long, with the cause that kept it waiting. */
export function forgetOld(context: StepContext): void {
  const before = context.state;
  const [oldest] = before.backlog.chunks;
  if (oldest === undefined || !isTooOld(oldest, context.now)) return;
  const since = context.now - OLDEST_SAID_MS;
  context.set({ backlog: dropOld(before.backlog, since, before.session.kind !== 'standby') });
  const { chunkMs } = before.settings;
  const lost = before.backlog.chunks.filter(
    (one) => isTooOld(one, context.now) && one.voiced && one.pcm !== null,
  );
  const [first, last] = [lost[0], lost.at(-1)];
  const said = first && last && { from: first.capturedAt - chunkMs, to: last.capturedAt };
  trackSpeechLoss(context, before, said);
}

/**
 * The lane is stopped: what is held is given up. It is lost by what kept it from being sent, as what overflows is, or else by the
 * stop: how much of it is speech the voice detector need not know.
 */
export function dropHeld(context: StepContext): void {
  const { state: before, now } = context;
  const { sure, chunks } = heldSpeech(before.backlog);
  const backlog = dropAll(before.backlog);
  const [first, last] = [chunks[0], chunks.at(-1)];
  // What follows on lost speech is the end of it.
  const isMore = before.loss?.wasSent === false;
  const least = isMore ? 1 : sure > 0 ? LEAST_HELD_CHUNKS.sure : LEAST_HELD_CHUNKS.possible;
  const isSpeech = chunks.length >= least && before.session.kind !== 'standby';
  if (!isSpeech || first === undefined || last === undefined) return context.set({ backlog });
  const { accounts } = backlog;
  const { loss, settings } = before;
  if (loss?.wasSent === true) tell(context, loss);
  const times = { from: first.capturedAt - settings.chunkMs, to: last.capturedAt };
  // To a stream that is up it would have been sent in a moment: it is lost with what that owes.
  const isUp = hearingStream(before.session) !== null && !isCongested(before.session);
  const cause = isUp ? 'stopped' : causeOf(before);
  const begun: SpeechLoss = { ...times, cause, lostMs: 0, lastAt: now, toldAt: now, wasSent: isUp };
  context.set({
    backlog: { ...backlog, accounts: { ...accounts, lost: accounts.lost + chunks.length } },
    loss: loss?.wasSent === false ? loss : begun,
  });
}

/**
 * Looks at what a step has lost. Once for each outage the owner is told the sum, at its end; a long one each ten minutes.
 * @param said when that was said; left out: just before the oldest that is held, or up to the last of what was
 */
export function trackSpeechLoss(
  context: StepContext,
  before: LaneState,
  said?: Pick<SpeechLoss, 'from' | 'to'>,
): void {
  const { backlog, settings, loss } = context.state;
  const lost = uncounted(context.state);
  // What had been sent before an outage is no part of it.
  const isOther = lost > 0 && loss !== null && loss === before.loss && loss.wasSent;
  if (isOther && loss.cause !== causeOf(context.state)) {
    context.set({ loss: null });
    tell(context, loss);
  }
  if (lost > 0) {
    const [oldest] = backlog.chunks;
    const newest = oldest === undefined ? heldSpeech(before.backlog).chunks.at(-1) : undefined;
    const to = oldest === undefined ? newest?.capturedAt : oldest.capturedAt - settings.chunkMs;
    lose(context, lost * settings.chunkMs, { to: to ?? context.now, ...said });
  }
  const { loss: known, session } = context.state;
  // Where nothing more happens to the lane there may be no later step; a stop is over with the step that knows what it has cost.
  const isLast = session.kind === 'idle' || session.kind === 'closed' || known?.cause === 'stopped';
  if (known === null || (lost > 0 && !isLast) || !isOver(context.state, known, context.now)) return;
  context.set({ loss: null });
  tell(context, known);
}

/** What is known of sent speech that nobody will hear: why, and when it was said. */
export type SentLoss = Pick<SpeechLoss, 'cause' | 'from' | 'to'>;

/**
 * Counts chunks as lost that were sent to the service. In the middle of an outage they become a part of that.
 * @param apart they were said long before it: its sum ends here
 */
export function loseSent(context: StepContext, chunks: number, known: SentLoss, apart?: 'apart'): void {
  if (chunks === 0) return;
  const { loss, backlog, settings } = context.state;
  const { now } = context;
  const isMore = loss !== null && (loss.wasSent ? loss.cause === known.cause : apart === undefined);
  if (loss !== null && !isMore) tell(context, withLost(context, loss));
  const begun: SpeechLoss = { ...known, lostMs: 0, lastAt: now, toldAt: now, wasSent: true };
  const sum = isMore ? withTimes(loss, known) : begun;
  const lostMs = sum.lostMs + chunks * settings.chunkMs;
  context.set({
    backlog: writeOff(backlog, chunks),
    loss: { ...sum, lostMs, lastAt: now },
    lostCounted: context.state.lostCounted + chunks,
  });
}

function withTimes(loss: SpeechLoss, { from, to }: Pick<SpeechLoss, 'from' | 'to'>): SpeechLoss {
  return { ...loss, from: Math.min(loss.from, from), to: Math.max(loss.to, to) };
}

/** How many chunks have gone lost that are no part of a loss so far. */
function uncounted({ backlog, lostCounted }: LaneState): number {
  return backlog.accounts.lost - lostCounted;
}

/** A loss that ends in the middle of a step, with what has gone lost in it by now. */
function withLost(context: StepContext, loss: SpeechLoss): SpeechLoss {
  const { backlog, settings } = context.state;
  const lostMs = loss.lostMs + uncounted(context.state) * settings.chunkMs;
  context.set({ lostCounted: backlog.accounts.lost });
  return { ...loss, lostMs };
}

function lose(context: StepContext, lostMs: number, said: { from?: number; to: number }): void {
  const { loss } = context.state;
  const { from = said.to - lostMs, to } = said;
  const cause = loss?.cause ?? causeOf(context.state);
  const known = loss ?? { cause, from, to, lostMs: 0, toldAt: context.now, wasSent: false, lastAt: 0 };
  // Without times of its own it follows on what has been lost.
  const times = { from: said.from ?? known.from, to };
  const more = { ...withTimes(known, times), lostMs: known.lostMs + lostMs, lastAt: context.now };
  context.set({ lostCounted: context.state.backlog.accounts.lost });
  const isDue = context.now - more.toldAt >= TELL_EACH_MS;
  context.set({ loss: isDue ? { ...more, toldAt: context.now } : more });
  if (isDue) tell(context, more, { ongoing: true });
}

function tell(
  context: StepContext,
  { lostMs, cause, from, to }: SpeechLoss,
  more: { ongoing?: true } = {},
): void {
  context.notify('speech_lost', { lost_ms: Math.round(lostMs), cause, ...more }, { from, to });
}

function isOver({ session }: LaneState, { lastAt, cause }: SpeechLoss, now: number): boolean {
  // The owner's word has ended it, whatever the lane does next: told with what the stream still owes as it is gone.
  if (cause === 'stopped') return session.kind !== 'draining';
  switch (session.kind) {
    case 'live':
    case 'rolling':
      return session.stream.congestedSince === null && now - lastAt >= OVER_AFTER_MS;
    case 'idle':
    case 'standby':
    case 'draining':
    case 'closed':
      return true;
    default:
      return false;
  }
}

/** What keeps speech from being translated. */
function causeOf({ session, brokerUp, backendSilent, problem }: LaneState): LossCause {
  // Nothing overflows in standby: what is lost had been sent.
  if (session.kind === 'standby') return 'silent_service';
  if (isCongested(session)) return 'congested';
  const isAcquiring = tokenRequestOf(session) !== null;
  if (isAcquiring && !brokerUp) return 'no_broker';
  if (isAcquiring && backendSilent) return 'no_backend';
  if (isStreaming(session)) return 'catching_up';
  return problem !== null && isCause(problem.code) ? problem.code : 'no_session';
}
