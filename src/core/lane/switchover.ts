import { goLive } from './live.ts';
import { retire } from './retiring.ts';
import type { Turn } from './turn.ts';

/** Two pause chunks in a row (0.64 s) are a pause to switch in: no word is cut, and the old stream hears the rest of it. */
const PAUSE_CHUNKS = 2;

/** Whether nobody is speaking, as far as the streams have heard. */
export function isInPause(turn: Turn): boolean {
  return turn.state.hold.quietRun >= PAUSE_CHUNKS;
}

/** The latest moment for a switch that still lets the old stream finish speaking. */
export function isLate(turn: Turn): boolean {
  const { stream, settings } = turn.state;
  return stream?.limitAt != null && turn.now >= stream.limitAt - settings.rollLatestMs;
}

/** Goes over to the next session if it is ready and this is the moment. */
export function trySwitch(turn: Turn): void {
  const { phase, approach, stream } = turn.state;
  if (phase !== 'rolling' || approach?.stage !== 'ready' || stream === null) return;
  if (approach.stream === null || !(isInPause(turn) || isLate(turn))) return;
  retire(turn, stream, { why: 'rollover', successorWaits: false });
  turn.disarm('roll');
  goLive(turn, approach.stream);
}
