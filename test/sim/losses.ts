/** Which speech a lane may count as lost. */
import type { LaneState } from '../../src/core/lane/state.ts';
import { owedSpeechChunks } from '../../src/core/uplink/replay/log.ts';

/** The backlog was full, or a stream ended without a word of what it was sent long ago. */
export function isLossRight(before: LaneState, after: LaneState): boolean {
  const { backlogMs, chunkMs } = after.settings;
  if (after.backlog.chunks.length >= Math.floor(backlogMs / chunkMs) - 1) return true;
  const lost = after.backlog.accounts.lost - before.backlog.accounts.lost;
  const gone = [before.stream, before.oldSession?.stream].map((stream) => stream?.replay);
  const unheard = gone.reduce((sum, log) => sum + (log?.unheardChunks ?? 0), 0);
  // What a stream owes that is given up because nobody speaks any more is lost with it.
  const owed =
    after.phase === 'standby' && before.stream !== null ? owedSpeechChunks(before.stream.replay) : 0;
  return lost <= unheard + owed;
}
