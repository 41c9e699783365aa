import type { Phase } from '../../protocol/phases.ts';
import type { LaneEffect } from '../lane/state/lane-effect.ts';
import type { LaneEvent } from '../lane/state/lane-event.ts';
import type { LaneState } from '../lane/state/lane-state.ts';
import { phaseOf } from '../lane/state/session-state.ts';
import { type Conversation, noteActivity, noteLanguage, noteSentence, noteSound } from './conversation.ts';

/** A step of a lane at the desk. */
export interface DeskStep {
  readonly event: LaneEvent;
  readonly effects: readonly LaneEffect[];
  readonly before: LaneState;
  readonly after: LaneState;
}

/** Phases in which nothing is interpreted. */
const AT_REST: readonly Phase[] = ['idle', 'draining', 'closed'];

/** Whether a lane interprets, or would as soon as a person speaks. */
export const isRunning = ({ session }: LaneState): boolean => !AT_REST.includes(phaseOf(session));

/** Whether a step begins a conversation: the service has transcribed words that were said after the last conversation. */
export function isFirstWord({ effects, after }: DeskStep, lastEndedAt: number | null): boolean {
  if (!isRunning(after)) return false;
  const isUnderstood = effects.some(
    (effect) => effect.type === 'caption' && effect.caption.kind === 'source',
  );
  return isUnderstood && (lastEndedAt === null || after.lastVoiceAt > lastEndedAt);
}

/** Updates the conversation with a step of a lane at its desk. */
export function follow(
  given: Conversation,
  { event, effects, before, after }: DeskStep,
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
  // The new sound plays after the sound that already waits.
  const waitsMs = playout.queuedBytes / settings.playoutBytesPerMs;
  return noteSound(talk, event.said.sentence, Math.max(now, playout.timeline.end) + waitsMs);
}

/** Whether the service has sent speech. */
export const isSpoken = ({ event }: DeskStep): boolean =>
  event.type === 'service' && event.said.type === 'spoke';

/** Time from the warning to the end of a conversation (ms). A short conversation is not warned from its beginning. */
export const warnsBefore = (endAfterMs: number, wantedMs: number): number =>
  Math.min(wantedMs, endAfterMs / 2);

/** When the conversation ends if silence follows; null: it is over. */
export function endsAt(
  talk: Conversation,
  lanes: readonly LaneState[],
  endAfterMs: number,
  now: number,
): number | null {
  if (!lanes.some(isRunning)) return null;
  const heardUntil = lanes.map((lane) => soundsUntil(lane, now));
  const at = Math.max(talk.activeAt, ...heardUntil) + endAfterMs;
  return at > now ? at : null;
}

/** When the sound received so far has been heard. */
export function soundsUntil({ playout, settings }: LaneState, now: number): number {
  const heardUntil = playout.heard?.until ?? Number.NEGATIVE_INFINITY;
  return playout.queuedBytes === 0
    ? heardUntil
    : Math.max(now, heardUntil) + playout.queuedBytes / settings.playoutBytesPerMs;
}
