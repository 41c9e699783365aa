import { isPlaying } from '../../playout/playout.ts';
import { owesSpeechSince, owesUnderstood } from '../../replay/owed.ts';
import { isSpeaking } from '../../replay/sentence.ts';
import type { BacklogChunk } from '../../uplink/backlog.ts';
import { remember } from '../../uplink/backlog.ts';
import type { LaneOptions } from '../lane-options.ts';
import type { StepContext } from '../step-context.ts';
import { dropLease } from './close.ts';
import { endUnneeded } from './old-session.ts';
import type { LiveStream } from './session.ts';
import { askAboutSilence } from './silent-service.ts';
import { sleepsAt, UNANSWERED_MS } from './spoken-voice.ts';
import { acquire } from './token.ts';
import { attendSleep, noteWake } from './vain-wakes.ts';

/** Where only single chunks are judged, this many of the last ones must be speech to wake the lane: a slammed door is one. */
const WAKE = { speech: 2, of: 3 } as const;
/** Looked at again so soon while the lane may not sleep yet. */
const SLEEP_CHECK_MS = 1000;
/** A sentence of which the service has written down something goes on for this long after it, whatever our own detector makes of it. */
const PARTIAL_LASTS_MS = 3000;
/** What the service writes down counts as a voice when it is spoken. No longer is waited for that: it may make words of a noise. */
const WRITTEN_AWAITED_MS = 15_000;

/** Nobody may have spoken for long enough to give the stream up. */
export function onStandbyTimer(context: StepContext): void {
  const { session, settings, options, lastVoiceAt, playout, oldSession, backlog, isUnanswered } =
    context.state;
  const { saying, vainWakes } = context.state;
  if (session.kind === 'rolling') return context.arm('standby', context.now + SLEEP_CHECK_MS);
  if (session.kind !== 'live' || options.standbyAfterMs === 0) return;
  const { stream } = session;
  const dueAt = sleepsAt(context.state);
  if (context.now < dueAt) return context.arm('standby', dueAt);
  // What was said before the silence may still have to be sent, spoken or heard.
  // A loud room fills the log forever; only what may have been speech is waited for.
  const patienceMs = isUnanswered ? UNANSWERED_MS : settings.answerMs;
  // By when it was sent: on a slow way that is long after it was said.
  // Until the service has understood something, no more is waited for than what would have woken the lane.
  const mistakes = isUnanswered ? vainWakes.length : 0;
  const isAwaited = owesSpeechSince(stream.replay, context.now - patienceMs, mistakes);
  // In a loud room a backlog never becomes shorter; only speech in it is waited for.
  const isUnsent = (backlog.chunks[0]?.capturedAt ?? Number.POSITIVE_INFINITY) <= lastVoiceAt;
  const isWritten = context.now < dueAt + WRITTEN_AWAITED_MS && isWrittenDown(stream, context.now);
  const busy = isUnsent || isAwaited || isWritten;
  if (busy || saying !== null || oldSession !== null || isPlaying(playout, context.now))
    return context.arm('standby', context.now + SLEEP_CHECK_MS);
  // A service that says nothing may be one that does not work: that is asked before the room is blamed.
  if (isUnanswered && askAboutSilence(context, stream))
    return context.arm('standby', context.now + SLEEP_CHECK_MS);
  context.disarm('ping', 'silence', 'stable', 'pace', 'roll');
  context.set({ starved: false, failures: 0 });
  // A token that a try at a rollover left over would be too old by the time that somebody speaks.
  dropLease(context);
  context.become({ kind: 'standby', heardLately: [] });
  attendSleep(context);
  endUnneeded(context, stream);
  context.count('standbys');
  context.notify('standby', {});
}

/** Whether the service writes a sentence down, or has written one down that it is still to speak, or to speak to its end. */
function isWrittenDown({ replay, signs }: LiveStream, now: number): boolean {
  const isBeingWritten = replay.partial !== null && now - replay.partial.at < PARTIAL_LASTS_MS;
  return isBeingWritten || owesUnderstood(replay) || isSpeaking(replay, signs.settledAt);
}

/** What is heard in standby is kept for a moment; a voice wakes the lane. */
export function hearInStandby(context: StepContext, chunk: BacklogChunk, talks: boolean): void {
  const { session, backlog, settings } = context.state;
  if (session.kind !== 'standby') return;
  const heardLately = [...session.heardLately, talks].slice(-WAKE.of);
  context.set({ backlog: remember(backlog, chunk, Math.ceil(settings.prerollMs / settings.chunkMs)) });
  context.become({ ...session, heardLately });
  // What was judged over a longer time needs no second chunk.
  const needed = chunk.levels?.talk === undefined ? WAKE.speech : 1;
  if (!talks || heardLately.filter(Boolean).length < needed) return;
  noteWake(context);
  wake(context);
}

/** Somebody speaks, or the operator wants a stream: what was heard last goes with it. */
export function wake(context: StepContext): void {
  if (context.state.hold !== null) return;
  context.set({ reason: 'start' });
  context.notify('wake', {});
  acquire(context);
}

/** Whether a lane with these options sleeps at all, and waits for no voice to begin with. */
export function neverSleeps({ start, standbyAfterMs }: LaneOptions): boolean {
  return standbyAfterMs === 0 && start !== 'voice';
}
