import { isPlaying } from '../../playout/playout.ts';
import type { BacklogChunk } from '../../uplink/backlog.ts';
import { remember } from '../../uplink/backlog.ts';
import { FORGOTTEN_AFTER_MS, owedSpeechChunks, owesSpeech } from '../../uplink/replay/log.ts';
import type { LaneOptions } from '../options.ts';
import type { StepContext } from '../step-context.ts';
import { countUnheard, dropTokens } from './ending.ts';
import { endUnneeded } from './old-session.ts';
import { acquire } from './token.ts';

/** This many of the last chunks must be speech to wake the lane: a slammed door is one. */
const WAKE = { speech: 2, of: 3 } as const;
/** Looked at again so soon while the lane may not sleep yet. */
const SLEEP_CHECK_MS = 1000;

/** Nobody may have spoken for long enough to give the stream up. */
export function onStandbyTimer(context: StepContext): void {
  const { phase, stream, options, lastVoiceAt, playout, oldSession, backlog } = context.state;
  if (phase === 'rolling') return context.arm('standby', context.now + SLEEP_CHECK_MS);
  if (phase !== 'live' || stream === null || options.standbyAfterMs === 0) return;
  const dueAt = lastVoiceAt + options.standbyAfterMs;
  if (context.now < dueAt) return context.arm('standby', dueAt);
  // What was said before the silence may still have to be sent, spoken or heard.
  // A loud room fills the log forever; only what may have been speech is waited for.
  const isAwaited = context.now - lastVoiceAt < FORGOTTEN_AFTER_MS && owesSpeech(stream.replay);
  const busy = backlog.chunks.length > 0 || isAwaited;
  if (busy || oldSession !== null || isPlaying(playout, context.now))
    return context.arm('standby', context.now + SLEEP_CHECK_MS);
  context.disarm('ping', 'silence', 'stable', 'pace', 'roll');
  countUnheard(context, stream.replay.unheardChunks + owedSpeechChunks(stream.replay));
  context.set({ stream: null, starved: false, failures: 0 });
  // A token that a try at a rollover left over would be too old by the time that somebody speaks.
  dropTokens(context);
  context.enter('standby');
  endUnneeded(context, stream);
  context.count('standbys');
  context.notify('standby', {});
}

/** What is heard in standby is kept for a moment; a voice wakes the lane. */
export function hearInStandby(context: StepContext, chunk: BacklogChunk, isSpeech: boolean): void {
  const { backlog, settings } = context.state;
  const lately = [...context.state.heardLately, isSpeech].slice(-WAKE.of);
  context.set({ backlog: remember(backlog, chunk, Math.ceil(settings.prerollMs / settings.chunkMs)) });
  context.set({ heardLately: lately });
  if (lately.filter(Boolean).length >= WAKE.speech) wake(context);
}

/** Somebody speaks, or the operator wants a stream: what was heard last goes with it. */
export function wake(context: StepContext): void {
  context.set({ heardLately: [], reason: 'start' });
  context.notify('wake', {});
  acquire(context);
}

/** Whether a lane with these options sleeps at all, and waits for no voice to begin with. */
export function neverSleeps({ start, standbyAfterMs }: LaneOptions): boolean {
  return standbyAfterMs === 0 && start !== 'voice';
}
