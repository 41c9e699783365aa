import { isQuiet, isSpeech, type Piece } from '../replay/piece.ts';
import type { ReplayLog } from '../replay/record.ts';
import type { LaneState } from '../state/lane-state.ts';
import type { StepContext } from '../state/step-context.ts';

/**
 * Speech that the service has translated was a voice, even if the lane's own detector was not sure: the time until standby
 * counts from it, and for a while a less certain voice wakes the lane.
 */

/** How long the service is trusted after the detector's last sure voice (ms): it may transcribe noise all day. */
const TRUSTED_MS = 300_000;

/** Notes that sound has arrived. @param id the service's id of the sentence; null: it sends none */
export function noteSpokenVoice(
  context: StepContext,
  before: ReplayLog,
  after: ReplayLog,
  id: string | null,
): void {
  const isOf = ({ claims }: Piece): boolean => id !== null && claims.includes(id);
  // Pieces that this sound has removed from the log were spoken, too.
  const left = new Set(after.pieces.filter((piece) => !isOf(piece)).map(({ chunk }) => chunk.seq));
  const own = before.pieces.filter((piece) => !isQuiet(piece) && (isOf(piece) || !left.has(piece.chunk.seq)));
  const end = own.at(-1)?.chunk.capturedAt;
  const { spoken } = context.state;
  if (end === undefined || end < spoken.at) return;
  const unsureAt = own.some((piece) => isSpeech(piece)) ? spoken.unsureAt : end;
  if (end > spoken.at || unsureAt > spoken.unsureAt) context.set({ spoken: { at: end, unsureAt } });
}

/** When a voice was last heard, by the lane's own detector or by a trusted service. */
export function lastHeardAt({ lastVoiceAt, sureVoiceAt, spoken }: LaneState): number {
  return Math.max(lastVoiceAt, Math.min(spoken.at, sureVoiceAt + TRUSTED_MS));
}

/** Whether a visitor whose voice the detector seldom recognises has just spoken. */
export function isVoiceExpected({ sureVoiceAt, spoken }: LaneState, now: number): boolean {
  return now - spoken.unsureAt < TRUSTED_MS && now - sureVoiceAt < TRUSTED_MS;
}

/** Longest wait for standby after a wake without a result (ms): a service that understands speech answers within this time. */
export const UNANSWERED_MS = 10_000;

/** When the lane may go to standby, if no voice is heard before. */
export function sleepsAt(state: LaneState): number {
  const { options, isUnanswered } = state;
  const { standbyAfterMs } = options;
  return lastHeardAt(state) + (isUnanswered ? Math.min(standbyAfterMs, UNANSWERED_MS) : standbyAfterMs);
}
