import {
  type Conversation,
  noteActivity,
  noteLanguage,
  noteSentence,
  noteSound,
} from '../../core/conversation/conversation.ts';
import type { LaneStep } from '../lane/lane-runner.ts';

/** Takes from a lane's step what belongs to the conversation at its desk. */
export function follow(
  given: Conversation,
  { event, effects, before, after }: LaneStep,
  now: number,
): Conversation {
  let talk = given;
  // A voice that the lane's own detector is sure of, whether or not the service can be reached.
  if (event.type === 'captured' && before.sureVoiceAt !== after.sureVoiceAt) talk = noteActivity(talk, now);
  for (const effect of effects) {
    if (effect.type !== 'caption') continue;
    const { kind, isFinal, id, language } = effect.caption;
    if (kind === 'source') talk = noteActivity(talk, now);
    if (kind === 'translation') talk = noteLanguage(talk, language);
    else if (isFinal) talk = noteSentence(talk, { id, language, endedAt: Math.min(now, after.lastVoiceAt) });
  }
  if (event.type !== 'service' || event.said.type !== 'spoke') return talk;
  const { playout, settings } = before;
  // It follows the sound that waits already.
  const waitsMs = playout.queuedBytes / settings.playoutBytesPerMs;
  return noteSound(talk, event.said.sentence, Math.max(now, playout.timeline.end) + waitsMs);
}
