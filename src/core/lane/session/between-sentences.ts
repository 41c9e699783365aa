import { isPlaying } from '../../playout/playout.ts';
import { owesSpeechSince } from '../../replay/owed.ts';
import type { LaneState } from '../lane-state.ts';
import { isTranscribed } from './standby.ts';

/** A pause that ends a sentence (ms), longer than one within it. */
const PAUSE_MS = 2000;

/** No sentence is under way: nobody speaks, and nothing is being translated or played. A new device cuts nothing off. */
export function isBetweenSentences(state: LaneState, now: number): boolean {
  const { session, saying, oldSession, playout, playbackLost, lastVoiceAt, settings } = state;
  if (now - lastVoiceAt < PAUSE_MS || saying !== null || oldSession !== null) return false;
  // Without a loudspeaker nothing is played, and what waits for it is kept.
  if (!playbackLost && isPlaying(playout, now)) return false;
  if (session.kind === 'rolling') return false;
  if (session.kind !== 'live') return true;
  const { stream } = session;
  return !isTranscribed(stream, now) && !owesSpeechSince(stream.replay, now - settings.answerMs, 0);
}
