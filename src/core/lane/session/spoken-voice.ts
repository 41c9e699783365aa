import { isQuiet, isSpeech, type Piece } from '../../replay/piece.ts';
import type { ReplayLog } from '../../replay/record.ts';
import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';

/**
 * Speech that the service has translated was a voice, even if the lane's own detector was not sure of it: standby waits from there,
 * and for a while less of a voice wakes the lane.
 */

/** Time (ms) since the lane's own detector was sure for which the service is believed: it can make words of noise all day. */
const TRUSTED_MS = 300_000;

/** Sound has come. @param id the service's name for the sentence; null: it gives none */
export function noteSpokenVoice(
  context: StepContext,
  before: ReplayLog,
  after: ReplayLog,
  id: string | null,
): void {
  const isOf = ({ claims }: Piece): boolean => id !== null && claims.includes(id);
  // What the log has settled by it was spoken, too.
  const left = new Set(after.pieces.filter((piece) => !isOf(piece)).map(({ chunk }) => chunk.seq));
  const own = before.pieces.filter((piece) => !isQuiet(piece) && (isOf(piece) || !left.has(piece.chunk.seq)));
  const end = own.at(-1)?.chunk.capturedAt;
  const { spoken } = context.state;
  if (end === undefined || end < spoken.at) return;
  const unsureAt = own.some((piece) => isSpeech(piece)) ? spoken.unsureAt : end;
  if (end > spoken.at || unsureAt > spoken.unsureAt) context.set({ spoken: { at: end, unsureAt } });
}

/** When somebody was heard speaking last, by the lane's own detector or, within reason, by the service. */
export function lastHeardAt({ lastVoiceAt, sureVoiceAt, spoken }: LaneState): number {
  return Math.max(lastVoiceAt, Math.min(spoken.at, sureVoiceAt + TRUSTED_MS));
}

/** Whether somebody has just spoken of whom the lane's own detector is seldom sure. */
export function isVoiceExpected({ sureVoiceAt, spoken }: LaneState, now: number): boolean {
  return now - spoken.unsureAt < TRUSTED_MS && now - sureVoiceAt < TRUSTED_MS;
}

/** A service that has understood something says so within this time; a lane that woke for something else need not wait on. */
export const UNANSWERED_MS = 10_000;

/** When the lane may fall asleep, if nobody speaks meanwhile. */
export function sleepsAt(state: LaneState): number {
  const { options, isUnanswered } = state;
  const { standbyAfterMs } = options;
  return lastHeardAt(state) + (isUnanswered ? Math.min(standbyAfterMs, UNANSWERED_MS) : standbyAfterMs);
}
