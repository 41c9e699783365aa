import type { Cause } from '../../retry/recovery.ts';
import { earliestSend, recordSend } from '../../uplink/pacer.ts';
import { nearSpeech, noteSilence, owesSpeech } from '../../uplink/replay/replay-log.ts';
import { owesRest, owesTranslation } from '../../uplink/replay/spoken.ts';
import { pump } from '../sound/sending.ts';
import type { StepContext } from '../step-context.ts';
import { closeStream, takeBackFrom, tellUnspoken } from './ending.ts';
import type { Finishing, LiveStream, OldSession, Stream } from './session.ts';
import { keepDoubtful } from './unheard-speech.ts';

/** Lets a stream finish speaking while another one, or none, hears what is said. */
export function drainOld(
  context: StepContext,
  stream: LiveStream,
  how: Pick<OldSession, 'why' | 'successorWaits'>,
): void {
  dropOldSession(context, 'terminate');
  const { pacer, settings } = context.state;
  const stage: Finishing = { is: 'finishing', asked: false, pacer };
  context.set({ oldSession: { ...how, stream, since: context.now, stage } });
  if (how.why === 'rollover') keepDoubtful(context, stream);
  context.arm('drainOld', context.now + settings.chunkMs);
}

/** Gives a stream up that has nothing left to say. */
export function endUnneeded(context: StepContext, stream: LiveStream): void {
  drainOld(context, stream, { why: 'standby', successorWaits: false });
  const { oldSession } = context.state;
  if (oldSession !== null) endSession(context, oldSession);
}

function endSession(context: StepContext, oldSession: OldSession): void {
  const { settings } = context.state;
  const { silence, replay } = oldSession.stream;
  // That it has told its task is no answer to what was said.
  const isUnanswered = silence.since !== null || silence.onlyAnswers;
  const isSilent = isUnanswered || replay.interims.length > 0 || owesRest(replay);
  const owes = owesSpeech(replay) && (isSilent || owesTranslation(replay));
  context.set({ oldSession: { ...oldSession, stage: { is: 'ending', owes, isSilent } } });
  context.emit({ type: 'end_task', stream: oldSession.stream.id });
  context.arm('drainOld', context.now + settings.drainMs);
}

/** The old session is gone. */
export function dropOldSession(
  context: StepContext,
  how: 'close' | 'terminate',
  cause: Cause | null = null,
): void {
  const { oldSession } = context.state;
  if (oldSession === null) return;
  context.disarm('drainOld');
  context.set({ oldSession: null });
  closeStream(context, oldSession.stream, cause ?? oldSession.why, how);
  if (context.phase === 'waiting' && oldSession.successorWaits) context.arm('retry', context.now);
}

/**
 * The old session broke off: what it leaves unspoken goes to the next one. That may have heard newer speech: better
 * said late than never.
 */
export function loseOldSession(context: StepContext, cause: Cause | null = null): void {
  const { oldSession } = context.state;
  if (oldSession === null) return;
  const why = cause ?? (owesAtEnd(oldSession) && isSilent(oldSession) ? 'silent_service' : null);
  dropOldSession(context, 'close', why);
  if (oldSession.why === 'standby') return tellUnspoken(context, oldSession.stream, why);
  takeBackFrom(context, oldSession.stream, why);
  pump(context);
}

/**
 * The old session has ended in order: what it has not spoken by now was nothing to it. But one that had fallen silent in
 * the middle of speech ends in order, too: that goes to the next one.
 */
export function endOldSession(context: StepContext): void {
  const { oldSession } = context.state;
  if (oldSession?.stage.is !== 'ending') return loseOldSession(context);
  const { stream } = oldSession;
  if (!owesAtEnd(oldSession)) {
    tellUnspoken(context, stream);
    return dropOldSession(context, 'close');
  }
  // Behind a lane that sleeps nothing is said again.
  if (oldSession.why !== 'standby') context.patch(stream, { replay: nearSpeech(stream.replay) });
  loseOldSession(context);
}

function owesAtEnd({ stage }: OldSession): boolean {
  return stage.is === 'ending' && stage.owes;
}

function isSilent({ stage }: OldSession): boolean {
  return stage.is === 'ending' && stage.isSilent;
}

/** A service only confirms what is followed by silence: the old session hears it, at real time. */
export function feedOldSession(context: StepContext): void {
  const { oldSession, settings } = context.state;
  if (oldSession?.stage.is !== 'finishing' || oldSession.stream.congestedSince !== null) return;
  const { stream, stage } = oldSession;
  if (earliestSend(stage.pacer, settings.chunkMs, true) > context.now) return;
  const pacer = recordSend(stage.pacer, context.now, settings.chunkMs);
  context.set({ oldSession: { ...oldSession, stage: { ...stage, pacer } } });
  context.patch(stream, { replay: noteSilence(stream.replay, settings.chunkMs, context.now) });
  context.emit({ type: 'send_audio', stream: stream.id, pcm: null, capturedAt: null, queued: false });
}

/** It said something, or has spoken: it may say more, or be done. */
export function noteNews(context: StepContext, stream: Stream, isSound: boolean): void {
  const { oldSession } = context.state;
  if (oldSession?.stream.id !== stream.id) return;
  if (oldSession.stage.is === 'ending') {
    if (isSound)
      context.set({ oldSession: { ...oldSession, stage: { ...oldSession.stage, isSilent: false } } });
    return;
  }
  const stage = { ...oldSession.stage, asked: false };
  context.set({ oldSession: { ...oldSession, stage } });
  context.arm('drainOld', doneAt(context, oldSession, stage));
}

/** When it can be taken to have nothing more to say; a sign of life is asked for before that where it owes something. */
function doneAt(context: StepContext, { stream, since }: OldSession, { asked }: Finishing): number {
  const { chunkMs, oldSessionDoneMs, oldSessionQuietMs } = context.state.settings;
  const newsAt = stream.newsAt ?? stream.liveAt;
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
  const { stream, stage } = oldSession;
  if (stage.is === 'ending') return loseOldSession(context);
  if (stage.asked && stream.pingsOut > 0) return loseOldSession(context, 'unresponsive');
  const dueAt = doneAt(context, oldSession, stage);
  const owes = owesSpeech(stream.replay);
  if (dueAt > context.now) context.arm('drainOld', dueAt);
  else if (owes && !stage.asked && context.now < latestAt(context, stream))
    askForLife(context, oldSession, stage);
  else endSession(context, oldSession);
}

/** It owes something and says nothing: is anybody there? */
function askForLife(context: StepContext, oldSession: OldSession, stage: Finishing): void {
  const { stream } = oldSession;
  const asked = { ...stage, asked: true };
  context.set({ oldSession: { ...oldSession, stage: asked } });
  context.patch(stream, { pingsOut: stream.pingsOut + 1 });
  context.emit({ type: 'ping', stream: stream.id });
  context.arm('drainOld', doneAt(context, oldSession, asked));
}
