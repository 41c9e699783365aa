import { isQuiet, isSpeech } from '../../uplink/replay/piece.ts';
import type { ReplayLog } from '../../uplink/replay/record.ts';
import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';

/**
 * What the service has spoken was a voice, although the lane's own detector may not have been sure of it: the patience of standby
 * counts from there, and for a while less of a voice wakes the lane. A service can make words of noise as well, all day long:
 * its word counts for no longer than this after the lane's own detector was sure.
 */
const TRUSTED_MS = 300_000;

/** Sound has come. @param id the service's name for the sentence; null: it gives none */
export function noteSpokenVoice(
  context: StepContext,
  before: ReplayLog,
  after: ReplayLog,
  id: string | null,
): void {
  const isOf = ({ sentence }: { readonly sentence: string | null }): boolean =>
    sentence !== null && sentence === id;
  // What the log has settled by it was spoken, too.
  const left = new Set(after.pieces.filter((piece) => !isOf(piece)).map(({ chunk }) => chunk.seq));
  const own = before.pieces.filter((piece) => !isQuiet(piece) && (isOf(piece) || !left.has(piece.chunk.seq)));
  const end = own.at(-1)?.chunk.capturedAt;
  const { spoken } = context.state;
  if (end === undefined || end < spoken.at) return;
  const unsureAt = own.some(isSpeech) ? spoken.unsureAt : end;
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
