import type { Cause } from '../../../protocol/mqtt/causes.ts';
import { owesSpeech } from '../replay/owed.ts';
import { nearSpeech, noteSilence } from '../replay/replay-log.ts';
import { hasUnfinished } from '../replay/sentence.ts';
import { pump } from '../sound/sending.ts';
import {
  type Ending,
  type Finishing,
  hearingStream,
  type LiveStream,
  type OldSession,
  type Stream,
} from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { earliestSend, recordSend } from '../uplink/pacer.ts';
import { closeStream } from './close.ts';
import { giveUpRest, takeBackFrom, takeBackLate } from './resend.ts';

/** Lets a stream finish speaking. It receives no more speech. */
export function drainOld(
  context: StepContext,
  stream: LiveStream,
  how: Pick<OldSession, 'why' | 'successorWaits'>,
): void {
  giveUpOldSession(context, 'terminate');
  const { pacer, settings } = context.state;
  const stage: Finishing = { is: 'finishing', asked: false, pacer };
  context.set({ oldSession: { ...how, stream, since: context.now, stage } });
  context.arm('drainOld', context.now + settings.chunkMs);
}

/** Ends a stream that has nothing left to say. */
export function endUnneeded(context: StepContext, stream: LiveStream): void {
  drainOld(context, stream, { why: 'standby', successorWaits: false });
  const { oldSession } = context.state;
  if (oldSession !== null) endSession(context, oldSession);
}

function endSession(context: StepContext, oldSession: OldSession): void {
  const { settings } = context.state;
  context.set({
    oldSession: { ...oldSession, stage: { is: 'ending', left: leftBy(oldSession.stream) } },
  });
  context.emit({ type: 'end_task', stream: oldSession.stream.id });
  context.arm('drainOld', context.now + settings.drainMs);
}

/** What the stream owes when it is asked to end. An answer about its task is not an answer to speech. */
function leftBy({ silence, replay }: Stream): Ending['left'] {
  if (!owesSpeech(replay)) return 'nothing';
  if (silence.onlyAnswers || (silence.since !== null && silence.speechChunks > 0)) return 'unanswered';
  return silence.since !== null || replay.partial !== null || hasUnfinished(replay)
    ? 'unfinished'
    : 'nothing';
}

/** Ends the old session before it has finished. */
export function giveUpOldSession(context: StepContext, how: 'close' | 'terminate'): void {
  const { oldSession } = context.state;
  if (oldSession !== null) giveUpRest(context, oldSession.stream, 'clean');
  dropOldSession(context, how);
}

/** Closes the old session. */
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
 * The old session broke off: the next one gets its unspoken speech, even if it has heard newer speech. Late is better than
 * never.
 */
export function loseOldSession(context: StepContext, cause: Cause | null = null): void {
  const { oldSession } = context.state;
  if (oldSession === null) return;
  const { stream, stage } = oldSession;
  const isUnanswered = stage.is === 'ending' && stage.left === 'unanswered' && owesSpeech(stream.replay);
  const why = cause ?? (isUnanswered ? 'silent_service' : null);
  dropOldSession(context, 'close', why);
  // A sleeping lane replays nothing.
  if (oldSession.why === 'standby') return giveUpRest(context, stream, 'clean');
  if (hearingStream(context.state.session) === null) takeBackFrom(context, stream);
  else takeBackLate(context, stream);
  pump(context);
}

/**
 * The old session has ended cleanly: speech that it has not translated counts as noise. If the session had fallen silent in
 * the middle of speech, the next session gets that speech.
 */
export function endOldSession(context: StepContext): void {
  const { oldSession } = context.state;
  if (oldSession?.stage.is !== 'ending') return loseOldSession(context);
  const { stream, stage, why } = oldSession;
  if (stage.left === 'nothing') {
    giveUpRest(context, stream, 'clean');
    return dropOldSession(context, 'close');
  }
  if (why !== 'standby') context.patch(stream, { replay: nearSpeech(stream.replay) });
  loseOldSession(context);
}

/** Sends silence to the old session, in real time: a service confirms a sentence only after silence. */
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

/** The old session has sent a text or sound: waits again for more. */
export function noteNews(context: StepContext, stream: Stream, isSound: boolean): void {
  const { oldSession } = context.state;
  if (oldSession?.stream.id !== stream.id) return;
  if (oldSession.stage.is === 'ending') {
    if (isSound && oldSession.stage.left === 'unanswered')
      context.set({ oldSession: { ...oldSession, stage: { is: 'ending', left: 'unfinished' } } });
    return;
  }
  const stage = { ...oldSession.stage, asked: false };
  context.set({ oldSession: { ...oldSession, stage } });
  context.arm('drainOld', doneAt(context, oldSession, stage));
}

/** When the old session counts as finished. If it still owes speech, it is pinged before that. */
function doneAt(context: StepContext, { stream, since }: OldSession, { asked }: Finishing): number {
  const { chunkMs, oldSessionDoneMs, oldSessionQuietMs } = context.state.settings;
  const newsAt = stream.newsAt ?? stream.liveAt;
  // If nothing is owed, only sound in progress may still arrive: a session that was quiet for long can end at once.
  const isDone = !owesSpeech(stream.replay);
  const quietAt = isDone
    ? Math.max(newsAt + oldSessionDoneMs, since + chunkMs)
    : Math.max(newsAt, since) + oldSessionQuietMs - (asked ? 0 : oldSessionDoneMs);
  return Math.max(context.now, Math.min(quietAt, latestAt(context, stream)));
}

/** The latest moment at which the lane ends the session: before the service does. */
function latestAt(context: StepContext, { limitAt }: Stream): number {
  return (limitAt ?? Number.POSITIVE_INFINITY) - context.state.settings.drainMs / 3;
}

export function onOldSessionTimer(context: StepContext): void {
  const { oldSession } = context.state;
  if (oldSession === null) return;
  // If the session does not react to the end of its task, or to a ping, it is gone.
  const { stream, stage } = oldSession;
  if (stage.is === 'ending') return loseOldSession(context);
  if (stage.asked && stream.pingsOut > 0) return loseOldSession(context, 'unresponsive');
  const dueAt = doneAt(context, oldSession, stage);
  const owes = owesSpeech(stream.replay);
  if (dueAt > context.now) context.arm('drainOld', dueAt);
  else if (owes && !stage.asked && context.now < latestAt(context, stream))
    pingOldSession(context, oldSession, stage);
  else endSession(context, oldSession);
}

/** Pings a silent session that still owes speech. */
function pingOldSession(context: StepContext, oldSession: OldSession, stage: Finishing): void {
  const { stream } = oldSession;
  const asked = { ...stage, asked: true };
  context.set({ oldSession: { ...oldSession, stage: asked } });
  context.patch(stream, { pingsOut: stream.pingsOut + 1 });
  context.emit({ type: 'ping', stream: stream.id });
  context.arm('drainOld', doneAt(context, oldSession, asked));
}
