import type { LaneAccountReport } from '../../../protocol/mqtt/account.ts';
import { billedMs } from '../lane-report.ts';
import type { LaneCounts } from '../state/lane-state.ts';
import type { Accounts } from '../uplink/backlog.ts';
import type { LaneRunner } from './lane-runner.ts';
import type { LatencySummary } from './latency.ts';

/** A lane's audio account so far. `captured = sent + silenced + trimmed + dropped + held`. */
export interface LaneAccount extends Accounts, LaneCounts {
  readonly held: number;
  /** Dropped translated speech (ms). */
  readonly lost_ms: number;
  /** Translated sound written to the loudspeaker (ms). */
  readonly played_ms: number;
  /** Translated sentences dropped because speech lagged, and their length (ms). */
  readonly shed_sentences: number;
  readonly shed_ms: number;
  /** Number of buffer underruns within a sentence. */
  readonly playout_gaps: number;
  readonly capture_to_wire_ms: LatencySummary | null;
  readonly wire_to_speaker_ms: LatencySummary | null;
}

/** @param now the time up to which open streams are counted */
export function accountOf(lane: LaneRunner, now: number): LaneAccount {
  const { backlog, counts, playout, settings } = lane.state;
  return {
    ...backlog.accounts,
    held: backlog.chunks.length,
    ...counts,
    streamMs: Math.round(billedMs(lane.state, now)),
    lost_ms: Math.round(backlog.accounts.lost * settings.chunkMs),
    played_ms: Math.round(playout.writtenBytes / settings.playoutBytesPerMs),
    shed_sentences: playout.shed.sentences,
    shed_ms: Math.round(playout.shed.bytes / settings.playoutBytesPerMs),
    playout_gaps: playout.gaps,
    capture_to_wire_ms: lane.captureToWire.summary(),
    wire_to_speaker_ms: lane.wireToSpeaker.summary(),
  };
}

/** The account as the command `status` reports it. */
export function reportAccount(id: string, account: LaneAccount): LaneAccountReport {
  const { maxDurations, takenBack, saidAgain, unspokenMs, speechDroppedMs, streamMs, ...rest } = account;
  return {
    id,
    ...rest,
    max_durations: maxDurations,
    taken_back: takenBack,
    said_again: saidAgain,
    unspoken_ms: Math.round(unspokenMs),
    speech_dropped_ms: Math.round(speechDroppedMs),
    stream_ms: streamMs,
  };
}
