import type {
  Ended,
  Heard,
  Limit,
  Ready,
  Refused,
  ServiceEvent,
  Spoke,
  Translated,
  Understood,
  Warned,
} from '../../ports/stream.ts';
import type { Cause } from '../../protocol/mqtt/causes.ts';
import { noteLanguage, noteNoise } from './losses/unspoken.ts';
import { notePartial, noteTranscript, noteTranslation } from './replay/claims.ts';
import type { ReplayLog } from './replay/record.ts';
import { noteSound, noteText } from './replay/spoken.ts';
import { keepAcceptedTask } from './session/accepted-task.ts';
import { type Failure, fail } from './session/failure.ts';
import { closeDrained } from './session/lifecycle.ts';
import { endOldSession, loseOldSession, noteNews } from './session/old-session.ts';
import { isSaid, onSaidSound, onSayError } from './session/operator-text.ts';
import { repeatCut } from './session/resend.ts';
import { onTaskRuns, pollSoon, refreshTask, unsettled } from './session/session-setup.ts';
import { endWithoutTask, hearService } from './session/silent-service.ts';
import { noteAnswer } from './session/vain-wakes.ts';
import { noteWarning } from './session/warning.ts';
import { dropOutputAudio, playSound } from './sound/playback-rules.ts';
import { noteSpokenVoice } from './sound/spoken-voice.ts';
import { noteReadable } from './sound/unreadable.ts';
import type { Stream } from './state/session-state.ts';
import type { StepContext } from './state/step-context.ts';
import { fallBack } from './two-way/fallback.ts';
import { isSaidBack, noteHeardIn } from './two-way/two-way.ts';

/** Handles an event of the service on a stream. */
export function onService(context: StepContext, stream: Stream, said: ServiceEvent): void {
  if (said.type === 'refused' && said.status !== null) return onNotOpened(context, stream, said);
  if (said.type === 'ended' && said.how !== 'complete') return onClosed(context, stream, said);
  if (endWithoutTask(context, stream, said)) return;
  onSaid(context, hearService(context, stream, said), said);
  repeatCut(context, stream);
}

function onSaid(context: StepContext, stream: Stream, said: ServiceEvent): void {
  noteReadable(context, said);
  switch (said.type) {
    case 'ready':
      return onReady(context, stream, said);
    case 'spoke':
      return onSound(context, stream, said);
    case 'heard':
    case 'understood':
    case 'translated':
      return onTranscript(context, stream, said);
    case 'limit':
      return lose(context, stream, LIMITS[said.reason]);
    case 'ended':
      if (context.state.oldSession?.stream.id === stream.id) return endOldSession(context);
      return lose(context, stream, 'stream_ended');
    case 'refused':
      return onRefused(context, stream, said);
    case 'warned':
      return onWarned(context, stream, said);
  }
}

const LIMITS: Readonly<Record<Limit['reason'], Cause>> = {
  max_duration: 'max_duration_reached',
  revoked: 'session_revoked',
};

/** The service reports whether the task runs. */
function onReady(context: StepContext, stream: Stream, { task, targets, isAnswer, detail }: Ready): void {
  if (task === 'none') {
    // The task has not started: the next poll is already scheduled.
    if (!isEnding(context, stream)) onSayError(context, stream, detail ?? '');
    return;
  }
  if (task === 'running') return isAnswer ? onTaskRuns(context, stream, targets) : pollSoon(context, stream);
  if (!isAnswer) context.count('ignored');
}

/** A stream has ended. That is a failure unless the stream was already closing. */
export function lose(context: StepContext, stream: Stream, cause: Cause, failure: Failure = {}): void {
  const { session, oldSession } = context.state;
  if (oldSession?.stream.id === stream.id) return loseOldSession(context);
  if (session.kind !== 'draining') return fail(context, cause, { ...failure, stream });
  // A revoked session may take a while to close: the drain timeout applies.
  if (cause !== 'session_revoked' && cause !== 'max_duration_reached') closeDrained(context, session);
}

type Transcript = Heard | Understood | Translated;

function onTranscript(context: StepContext, stream: Stream, said: Transcript): void {
  const { id, language, text } = said;
  context.patch(stream, { newsAt: context.now, replay: noteTranscribed(stream.replay, said, context.now) });
  if (said.type !== 'translated') context.set({ twoWay: noteHeardIn(context.state.twoWay, id, language) });
  noteAnswer(context);
  noteNews(context, stream, false);
  const kind =
    said.type === 'translated'
      ? ({ kind: 'translation', isFinal: said.isFinal, part: said.part } as const)
      : ({ kind: 'source', isFinal: said.type === 'understood', part: null } as const);
  context.emit({ type: 'caption', caption: { ...kind, id, language, text } });
}

function noteTranscribed(log: ReplayLog, said: Transcript, now: number): ReplayLog {
  const { id, language } = said;
  const letters = [...said.text].length;
  if (said.type === 'heard') return notePartial(log, { id, letters }, now);
  const final = { id, span: said.span };
  if (said.type === 'understood') return noteTranscript(log, final);
  if (!said.isFinal) return log;
  return noteText(noteTranslation(log, final), { ...final, part: said.part, language, letters }, now);
}

/** Plays translated sound, unless its sentence was already played in this language. */
function onSound(context: StepContext, stream: Stream, sound: Spoke): void {
  if (isSaid(context, stream, sound)) return onSaidSound(context, stream, sound);
  const { sentence: id, part, language, last } = sound;
  if (isSaidBack(context.state, id, language)) return noteNews(context, stream, true);
  const ms = sound.pcm.byteLength / context.state.settings.playoutBytesPerMs;
  const { log, isRepeat } = noteSound(stream.replay, { id, part, language, ms, last }, context.now);
  if (context.phase === 'draining') {
    context.patch(stream, { replay: log });
    return isRepeat ? undefined : dropOutputAudio(context, stream.id, sound);
  }
  context.patch(stream, { newsAt: context.now, replay: log });
  if (ms > 0) noteSpokenVoice(context, stream.replay, log, id);
  const ends = log.endsMarked - stream.replay.endsMarked;
  if (ends > 0) context.set({ endsMarked: context.state.endsMarked + ends });
  noteAnswer(context);
  noteNews(context, stream, true);
  const noiseMs = isRepeat ? 0 : playSound(context, stream, sound);
  if (noiseMs > 0) noteNoise(context, language, noiseMs, id ?? '');
  else if (ms > 0) noteLanguage(context, language, ms, id ?? '');
}

/** Whether a stream is ending: complaints about it then do not matter. */
function isEnding(context: StepContext, stream: Stream): boolean {
  const { session, oldSession } = context.state;
  return session.kind === 'draining' || oldSession?.stream.id === stream.id;
}

/** The service continues, but objects to the task, to a text that it should speak, or to something else. */
function onWarned(context: StepContext, stream: Stream, { level, code, text, isUnknownKind }: Warned): void {
  if (level === 'warning') return noteWarning(context, level, { code, text });
  if (isEnding(context, stream)) return;
  const words = [code, text].filter((part) => part !== null && part !== '').join(': ');
  onSayError(context, stream, words, isUnknownKind === true ? 'unsupported' : 'refused');
  const { session } = context.state;
  if (level !== 'rejection' || (stream.liveAt !== null && session.kind !== 'retasking'))
    return noteWarning(context, 'error', { code, text });
  const message = (text ?? 'the task is not valid').slice(0, 200);
  const unclear = unsettled(session);
  const refused = unclear === null ? null : context.patch(unclear, { sentTask: null });
  if (refused?.id === stream.id) {
    const isKept = fallBack(context, unclear?.sentTask ?? null, refused, message);
    if (isKept || keepAcceptedTask(context, refused, message)) return refreshTask(context);
  }
  lose(context, stream, 'task_rejected', { message });
}

/** The service refuses a stream that is open. */
function onRefused(context: StepContext, stream: Stream, { reason, errorCode, detail }: Refused): void {
  if (isEnding(context, stream)) return;
  const message = detail === null ? {} : { message: `the service says ${detail.slice(0, 200)}` };
  lose(context, stream, reason, { ...message, errorCode });
}

/** The service has not opened the stream. */
function onNotOpened(context: StepContext, stream: Stream, refused: Refused): void {
  const { session } = context.state;
  if (session.kind === 'draining') return closeDrained(context, session);
  const { reason, status, errorCode, detail, retryAfterMs } = refused;
  const said = [errorCode, detail].filter((part) => part !== null).join(' ');
  const message = `the service refused the stream with HTTP ${status}${said === '' ? '' : `: ${said}`}`;
  // Beyond the limit of streams, no stream opens, and the token stays unspent (docs/service.md 7).
  const unspent = reason === 'session_limit_reached' && stream.openedAt === null;
  lose(context, stream, reason, { message, errorCode, retryAfterMs, unspent });
}

/** Maximum length of the service's explanation of a close (characters): a code and 120 characters of text. */
const LONGEST_CLOSE_CHARS = 126;

/** The connection closed. */
function onClosed(context: StepContext, stream: Stream, { how, reason, detail }: Ended): void {
  const { session, oldSession } = context.state;
  if (session.kind === 'draining') return closeDrained(context, session);
  if (how === 'closed' && oldSession?.stream.id === stream.id) return endOldSession(context);
  const message = `the service closed the stream (${detail.slice(0, LONGEST_CLOSE_CHARS)})`;
  lose(context, stream, reason ?? 'network', { message });
}
