import { canSay, isAnswered, isHeardOut } from '../lane/session/operator-text.ts';
import type { LaneState } from '../lane/state/lane-state.ts';
import { isPlaying } from '../playout/playout.ts';

/** Pause after a voice (ms) that may be only a breath. */
const BREATH_MS = 1000;
/** Longest time from the press of a talk key to the first word (ms). */
const THINK_MS = 10_000;

/** Whether a talk key was pressed and no speech has followed yet. */
function isAboutToSpeak({ twoWay, sureVoiceAt }: LaneState, now: number): boolean {
  return twoWay.turnedAt > sureVoiceAt && now - twoWay.turnedAt < THINK_MS;
}

/**
 * Whether a lane can speak the notice: the desk is silent, and all speech has been interpreted. The best moment is while the
 * last translation still plays, because people wait for it to end. Later, a person may be about to speak.
 */
export function maySpeakNotice(lane: LaneState, desk: readonly LaneState[], now: number): boolean {
  const isQuiet = (state: LaneState): boolean =>
    now - state.sureVoiceAt >= BREATH_MS &&
    !isAboutToSpeak(state, now) &&
    isHeardOut(state) &&
    isAnswered(state, now);
  const isSounding = isPlaying(lane.playout, now);
  const can = canSay(lane, now);
  return (can === 'quiet' || (can === 'busy' && isSounding)) && desk.every(isQuiet);
}
