import type { Accounts } from '../core/hold.ts';
import type { LaneCounts } from '../core/lane/state.ts';
import type { LaneRunner } from './lane-runner.ts';
import type { LatencySummary } from './latency.ts';

/** Where a lane's audio went so far, and how fast. `captured = sent + silenced + trimmed + dropped + held`. */
export interface LaneAccount extends Accounts, LaneCounts {
  readonly held: number;
  /** Speech thrown away unheard, milliseconds. */
  readonly lost_ms: number;
  /** Translated sound handed to the loudspeaker, milliseconds. */
  readonly played_ms: number;
  readonly capture_to_wire_ms: LatencySummary | null;
  readonly wire_to_speaker_ms: LatencySummary | null;
}

export function accountOf(lane: LaneRunner): LaneAccount {
  const { hold, counts, playout, settings } = lane.state;
  return {
    ...hold.accounts,
    held: hold.chunks.length,
    ...counts,
    lost_ms: Math.round(hold.accounts.lost * settings.chunkMs),
    played_ms: Math.round(playout.writtenBytes / settings.playoutBytesPerMs),
    capture_to_wire_ms: lane.captureToWire.summary(),
    wire_to_speaker_ms: lane.wireToSpeaker.summary(),
  };
}
