import { isPlaying } from '../playout/playout.ts';
import { owesSpeechSince } from './replay/owed.ts';
import { isTranscribed } from './session/standby.ts';
import type { LaneState } from './state/lane-state.ts';
import { heldSpeech } from './uplink/backlog.ts';

/** Pause after which a sentence counts as ended (ms): pauses within a sentence are shorter. */
const PAUSE_MS = 2000;

/** Whether the microphone can change without cutting off speech: the room is silent, or the current microphone is lost. */
export function mayChangeMicrophone({ captureLost, lastVoiceAt }: LaneState, now: number): boolean {
  return captureLost || now - lastVoiceAt >= PAUSE_MS;
}

/** Whether the loudspeaker can change without cutting off a sentence: none is being translated or played, or the device is lost. */
export function mayChangeLoudspeaker(state: LaneState, now: number): boolean {
  const { session, saying, oldSession, playout, playbackLost, lastVoiceAt, settings } = state;
  // Sound that waits for a loudspeaker is kept.
  if (playbackLost) return true;
  if (now - lastVoiceAt < PAUSE_MS || saying !== null || oldSession !== null) return false;
  if (isPlaying(playout, now) || session.kind === 'rolling') return false;
  if (session.kind !== 'live') return true;
  const { stream } = session;
  return !isTranscribed(stream, now) && !owesSpeechSince(stream.replay, now - settings.answerMs, 0);
}

/** Whether the lane can end without cutting off speech: none is heard, held, translated or played. */
export function mayEnd(state: LaneState, now: number): boolean {
  const isHeld = heldSpeech(state.backlog).length > 0;
  return !isHeld && mayChangeMicrophone(state, now) && mayChangeLoudspeaker(state, now);
}
