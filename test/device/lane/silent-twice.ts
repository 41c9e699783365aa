/** Worlds in which a lane has disconnected from two sessions that answer about their task and send no result. */
import { expect } from 'vitest';
import { ends, HOUR_CHUNKS, LaneHarness } from './asking-lane.ts';
import { behave } from './behaviour.ts';
import { fork } from './fork.ts';
import { CHUNK_MS } from './lane-harness.ts';

export const MINUTE_CHUNKS = HOUR_CHUNKS / 60;

interface InDoubt {
  readonly lane: LaneHarness;
  /** The last speech is replayed to the next session: this many chunks, which begin at `since`. */
  readonly owed: number;
  readonly since: number;
}

/** Speech until the lane has disconnected from two of them; the next one is live. */
function leaveTwo(maxDurationMs?: number): InDoubt {
  const lane = new LaneHarness().goLive();
  behave(lane, { ...(maxDurationMs !== undefined && { maxDurationMs }) });
  while (ends(lane) < 2) lane.speak(1);
  lane.until(() => lane.phase === 'live', 20_000);
  const endedAt = lane.now;
  // Held speech is sent, and the lost speech so far is reported.
  lane.hush(2 * MINUTE_CHUNKS);
  expect(lane.state.loss).toBeNull();
  const again = lane
    .all('send_audio')
    .filter(({ stream, capturedAt }) => stream === lane.stream && (capturedAt ?? endedAt) < endedAt);
  return { lane, owed: again.length, since: (again[0]?.capturedAt ?? 0) - CHUNK_MS };
}

const left = new Map<number | undefined, InDoubt>();

/** An independent world in that state. The way there is always the same, and is gone only once. */
export function inDoubt(given: { maxDurationMs?: number } = {}): InDoubt {
  const first = left.get(given.maxDurationMs) ?? leaveTwo(given.maxDurationMs);
  left.set(given.maxDurationMs, first);
  const lane = fork(first.lane);
  // A watcher of the first world would react to that.
  lane.watchers.splice(0);
  behave(lane, given);
  return { ...first, lane };
}

/** The session breaks off, and the next one transcribes the speech at once. */
export function comesBack(lane: LaneHarness): void {
  lane.end();
  understandsSoon(lane);
}

export function understandsSoon(lane: LaneHarness): void {
  lane.until(() => lane.phase === 'live', 20_000);
  lane.speak(6);
  lane.hush(3);
  lane.understands('a');
  lane.hear('a', 2000, true);
}
