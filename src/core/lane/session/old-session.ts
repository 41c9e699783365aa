import type { Cause } from '../../retry/recovery.ts';
import { earliestSend, recordSend } from '../../uplink/pacer.ts';
import { nearSpeech, noteSilence, owesSpeech } from '../../uplink/replay/log.ts';
import { owesRest } from '../../uplink/replay/spoken.ts';
import { pump } from '../sound/sending.ts';
import type { OldSession, Stream } from '../state.ts';
import type { StepContext } from '../step-context.ts';
import { closeStream, takeBackFrom } from './ending.ts';

/** Lets a stream finish speaking while another one, or none, hears what is said. */
export function drainOld(
  context: StepContext,
  stream: Stream,
  how: Pick<OldSession, 'why' | 'successorWaits'>,
): void {
  dropOldSession(context, 'terminate');
  const { pacer, settings } = context.state;
  context.set({
    oldSession: { ...how, stream, since: context.now, ending: false, mute: false, asked: false, pacer },
  });
  context.arm('drainOld', context.now + settings.chunkMs);
}

/** Gives a stream up that has nothing left to say. */
export function endUnneeded(context: StepContext, stream: Stream): void {
  drainOld(context, stream, { why: 'standby', successorWaits: false });
  endSession(context);
}

function endSession(context: StepContext): void {
  const { oldSession, settings } = context.state;
  if (oldSession === null) return;
  const { silence, replay } = oldSession.stream;
  const isUnfinished = silence.since !== null || replay.partial !== null || owesRest(replay);
  const mute = isUnfinished && owesSpeech(replay);
  context.set({ oldSession: { ...oldSession, ending: true, mute } });
  context.emit({ type: 'end_task', stream: oldSession.stream.id });
  context.arm('drainOld', context.now + settings.drainMs);
}

/** The old session is gone. */
export function dropOldSession(
  context: StepContext,
  how: 'close' | 'terminate',
  cause: Cause | null = null,
): void {
  const { oldSession, phase } = context.state;
  if (oldSession === null) return;
  context.disarm('drainOld');
  context.set({ oldSession: null });
  closeStream(context, oldSession.stream, cause ?? oldSession.why, how);
  if (phase === 'waiting' && oldSession.successorWaits) context.arm('retry', context.now);
}

/**
 * The old session broke off: what it leaves unspoken goes to the next one. That may have heard newer speech: better
 * said late than never.
 */
export function loseOldSession(context: StepContext, cause: Cause | null = null): void {
  const { oldSession } = context.state;
  if (oldSession === null) return;
  dropOldSession(context, 'close', cause ?? (oldSession.mute ? 'silent_service' : null));
  if (oldSession.why === 'standby') return;
  takeBackFrom(context, oldSession.stream);
  pump(context);
}

/**
 * The old session has ended in order: what it has not spoken by now was nothing to it. But one that had fallen silent in
 * the middle of speech says goodbye in order, too: that goes to the next one.
 */
export function endOldSession(context: StepContext): void {
  const { oldSession } = context.state;
  if (oldSession?.ending !== true) return loseOldSession(context);
  const { stream, mute } = oldSession;
  if (!mute) return dropOldSession(context, 'close');
  context.put({ ...stream, replay: nearSpeech(stream.replay) });
  loseOldSession(context);
}

/** A service only confirms what is followed by silence: the old session hears it, at real time. */
export function feedOldSession(context: StepContext): void {
  const { oldSession, settings } = context.state;
  if (oldSession === null || oldSession.ending || oldSession.stream.congestedSince !== null) return;
  if (earliestSend(oldSession.pacer, settings.chunkMs, true) > context.now) return;
  const { stream } = oldSession;
  const pacer = recordSend(oldSession.pacer, context.now, settings.chunkMs);
  const replay = noteSilence(stream.replay, settings.chunkMs, context.now);
  context.set({ oldSession: { ...oldSession, pacer, stream: { ...stream, replay } } });
  context.emit({ type: 'send_audio', stream: stream.id, pcm: null, capturedAt: null, queued: false });
}

/** It said something: it may say more, or be done. */
export function noteNews(context: StepContext, stream: Stream): void {
  const { oldSession } = context.state;
  if (oldSession?.stream.id !== stream.id || oldSession.ending) return;
  const alive = { ...oldSession, asked: false };
  context.set({ oldSession: alive });
  context.arm('drainOld', doneAt(context, alive));
}

/** When it can be taken to have nothing more to say; a sign of life is asked for before that where it owes something. */
function doneAt(context: StepContext, { stream, since, asked }: OldSession): number {
  const { chunkMs, oldSessionDoneMs, oldSessionQuietMs } = context.state.settings;
  const newsAt = stream.newsAt ?? stream.liveAt ?? since;
  // A burst of sound may still go on; one that has been quiet for long, and owes nothing, need not stay at all.
  const isDone = !owesSpeech(stream.replay);
  const quietAt = isDone
    ? Math.max(newsAt + oldSessionDoneMs, since + chunkMs)
    : Math.max(newsAt, since) + oldSessionQuietMs - (asked ? 0 : oldSessionDoneMs);
  return Math.max(context.now, Math.min(quietAt, latestAt(context, stream)));
}

/** It must be told to end before the service ends it. */
function latestAt(context: StepContext, { limitAt }: Stream): number {
  return (limitAt ?? Number.POSITIVE_INFINITY) - context.state.settings.drainMs / 3;
}

export function onOldSessionTimer(context: StepContext): void {
  const { oldSession } = context.state;
  if (oldSession === null) return;
  // Told to end, or asked for a sign of life, and silent: it is gone, and what it owes with it.
  if (oldSession.ending) return loseOldSession(context);
  if (isDead(oldSession)) return loseOldSession(context, 'unresponsive');
  const { stream, asked } = oldSession;
  const dueAt = doneAt(context, oldSession);
  const owes = owesSpeech(stream.replay);
  if (dueAt > context.now) context.arm('drainOld', dueAt);
  else if (owes && !asked && context.now < latestAt(context, stream)) askForLife(context, oldSession);
  else endSession(context);
}

/** It owes something and says nothing: is anybody there? */
function askForLife(context: StepContext, oldSession: OldSession): void {
  const { stream } = oldSession;
  context.set({
    oldSession: { ...oldSession, asked: true, stream: { ...stream, pingsOut: stream.pingsOut + 1 } },
  });
  context.emit({ type: 'ping', stream: stream.id });
  context.arm('drainOld', doneAt(context, { ...oldSession, asked: true }));
}

function isDead({ asked, stream }: OldSession): boolean {
  return asked && stream.pingsOut > 0;
}
