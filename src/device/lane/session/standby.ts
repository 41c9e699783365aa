import { isPlaying } from '../../playout/playout.ts';
import { owesSpeechSince, owesUnderstood } from '../replay/owed.ts';
import { isSpeaking } from '../replay/sentence.ts';
import { sleepsAt, UNANSWERED_MS } from '../sound/spoken-voice.ts';
import type { LaneOptions } from '../state/lane-options.ts';
import type { LiveStream } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import type { BacklogChunk } from '../uplink/backlog.ts';
import { remember } from '../uplink/backlog.ts';
import { dropLease } from './close.ts';
import { endUnneeded } from './old-session.ts';
import { askAboutSilence } from './silent-service.ts';
import { acquire } from './token-request.ts';
import { noteSleep, noteWake } from './vain-wakes.ts';

/** How many of the last chunks must be speech to wake the lane, each judged alone: a slammed door fills only one. */
const WAKE = { speech: 2, of: 3 } as const;
/** Interval of checks (ms) while something keeps the lane from standby. */
const SLEEP_CHECK_MS = 1000;
/** How long a sentence counts as open after its last partial (ms), even if the detector hears no voice. */
const PARTIAL_LASTS_MS = 3000;
/** How long standby waits for the sound of a transcript (ms): the service may have transcribed noise. */
const WRITTEN_AWAITED_MS = 15_000;

/** Goes to standby if no voice was heard for long enough, and nothing is pending. */
export function onStandbyTimer(context: StepContext): void {
  const { session, settings, options, lastVoiceAt, playout, oldSession, backlog, isUnanswered } =
    context.state;
  const { saying, vainWakes } = context.state;
  if (session.kind === 'rolling') return context.arm('standby', context.now + SLEEP_CHECK_MS);
  if (session.kind !== 'live' || options.standbyAfterMs === 0) return;
  const { stream } = session;
  const dueAt = sleepsAt(context.state);
  if (context.now < dueAt) return context.arm('standby', dueAt);
  // Earlier speech may still have to be sent, spoken or played. Noise of a loud room does not count.
  const patienceMs = isUnanswered ? UNANSWERED_MS : settings.answerMs;
  // The wait counts from sending, which on a slow connection is long after capture.
  // Before the first result, only speech that would wake the lane is waited for.
  const mistakes = isUnanswered ? vainWakes.length : 0;
  const isAwaited = owesSpeechSince(stream.replay, context.now - patienceMs, mistakes);
  // In a loud room the backlog never gets empty: only speech in it is waited for.
  const isUnsent = (backlog.chunks[0]?.capturedAt ?? Number.POSITIVE_INFINITY) <= lastVoiceAt;
  const isTextUnspoken = context.now < dueAt + WRITTEN_AWAITED_MS && isTranscribed(stream, context.now);
  const busy = isUnsent || isAwaited || isTextUnspoken;
  if (busy || saying !== null || oldSession !== null || isPlaying(playout, context.now))
    return context.arm('standby', context.now + SLEEP_CHECK_MS);
  // Polls the task of a silent service first: the service may be broken, and then the wake was not in vain.
  if (isUnanswered && askAboutSilence(context, stream))
    return context.arm('standby', context.now + SLEEP_CHECK_MS);
  context.disarm('ping', 'silence', 'stable', 'pace', 'roll');
  context.set({ starved: false, failures: 0 });
  // A token left over from a rollover would expire before the next voice.
  dropLease(context);
  context.become({ kind: 'standby', heardLately: [] });
  noteSleep(context);
  endUnneeded(context, stream);
  context.count('standbys');
  context.notify('standby', {});
}

/** Whether a partial is open, or a transcript is not completely spoken. */
export function isTranscribed({ replay, signs }: LiveStream, now: number): boolean {
  const isBeingWritten = replay.partial !== null && now - replay.partial.at < PARTIAL_LASTS_MS;
  return isBeingWritten || owesUnderstood(replay) || isSpeaking(replay, signs.settledAt);
}

/** Keeps the last moments of audio in standby; a voice wakes the lane. */
export function hearInStandby(context: StepContext, chunk: BacklogChunk, talks: boolean): void {
  const { session, backlog, settings } = context.state;
  if (session.kind !== 'standby') return;
  const heardLately = [...session.heardLately, talks].slice(-WAKE.of);
  context.set({ backlog: remember(backlog, chunk, Math.ceil(settings.prerollMs / settings.chunkMs)) });
  context.become({ ...session, heardLately });
  // If the verdict covers a longer time, one chunk is enough.
  const needed = chunk.levels?.talk === undefined ? WAKE.speech : 1;
  if (!talks || heardLately.filter(Boolean).length < needed) return;
  noteWake(context);
  wake(context);
}

/** Begins a session, because of a voice or an order. The audio kept in standby is sent first. */
export function wake(context: StepContext): void {
  if (context.state.hold !== null) return;
  context.set({ reason: 'start' });
  context.notify('wake', {});
  acquire(context);
}

/** Whether a lane with these options is never in standby, not even at its start. */
export function neverSleeps({ start, standbyAfterMs }: LaneOptions): boolean {
  return standbyAfterMs === 0 && start !== 'voice';
}
