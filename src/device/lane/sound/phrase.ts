import { enqueuePhrase, isInterpreting } from '../../playout/playout.ts';
import type { LaneEvent } from '../state/lane-event.ts';
import type { LaneState } from '../state/lane-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { playsFrom } from '../two-way/two-way.ts';
import { feedLoudspeaker } from './playback-rules.ts';

/** Whether a phrase of the house can be spoken now: no translation plays or waits, and no held key keeps the microphone open. */
export function canSpeakPhrase(state: LaneState, now: number): boolean {
  return !isInterpreting(state.playout, now) && !state.playbackLost && playsFrom(state, now) <= now;
}

/** Speaks a phrase of the house, in place of one that still plays. A translation that arrives ends it. */
export function speakPhrase(
  context: StepContext,
  { language, pcm }: Extract<LaneEvent, { type: 'phrase' }>,
): void {
  const { state, now } = context;
  if (!canSpeakPhrase(state, now)) return;
  context.set({ playout: enqueuePhrase(state.playout, language, pcm, now) });
  feedLoudspeaker(context);
}
