import { isListening } from '../../../protocol/phases.ts';
import { enqueueRepeat, isPlaying, type LastSpoken } from '../../playout/playout.ts';
import { differ } from '../replay/language-tags.ts';
import { differingKeys, isMuted, taskOf } from '../state/lane-options.ts';
import type { LaneState } from '../state/lane-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { playsFrom, spokenLanguages } from '../two-way/two-way.ts';
import { feedLoudspeaker } from './playback-rules.ts';

/** The lane's languages in which a sentence can be spoken again. */
export function repeatableIn(state: LaneState): readonly string[] {
  if (state.playout.lastSpoken.length === 0) return [];
  return spokenLanguages(state).targets.filter((language) => lastSpokenIn(state, language) !== undefined);
}

function lastSpokenIn(state: LaneState, language: string): LastSpoken | undefined {
  const { targets } = spokenLanguages(state);
  return state.playout.lastSpoken.findLast((one) =>
    one.language === null ? targets.length === 1 : !differ(one.language, language),
  );
}

/** Speaks the last sentence in this language again, from memory, unless something is spoken or a held key keeps the microphone open. */
export function repeat(context: StepContext, language: string): void {
  const { state, now } = context;
  const spoken = lastSpokenIn(state, language);
  const isFree = !isPlaying(state.playout, now) && !state.playbackLost && playsFrom(state, now) <= now;
  if (spoken === undefined || !isFree) return;
  context.set({ playout: enqueueRepeat(state.playout, spoken, now) });
  feedLoudspeaker(context);
}

/** At the end of a step: forgets what was said once its conversation has ended, or the lane is muted, in other languages, or no longer listens. */
export function trackLastSpoken(context: StepContext, before: LaneState): void {
  const { state } = context;
  if (state.playout.lastSpoken.length === 0) return;
  const { conversation, options } = state;
  const isOtherTask = differingKeys(taskOf(before), taskOf(state)).some((key) => key !== 'voice');
  if (conversation !== null && isListening(context.phase) && !isMuted(options) && !isOtherTask) return;
  context.set({ playout: { ...state.playout, lastSpoken: [] } });
}
