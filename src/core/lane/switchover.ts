import { goLive } from './live.ts';
import { retire } from './retiring.ts';
import { type LaneState, waitingSuccessor } from './state.ts';
import type { Turn } from './turn.ts';

/** Two pause chunks in a row (0.64 s) are a pause to switch in: no word is cut, and the old stream hears the rest of it. */
const PAUSE_CHUNKS = 2;

/** Whether nobody is speaking, as far as the streams have heard. */
export function isInPause(turn: Turn): boolean {
  return turn.state.hold.quietRun >= PAUSE_CHUNKS;
}

/** When the old stream must switch to be able to finish speaking. */
function latestAt({ stream, settings }: LaneState): number {
  return (stream?.limitAt ?? Number.POSITIVE_INFINITY) - settings.rollLatestMs;
}

/** The latest moment for a switch that still lets the old stream finish speaking. */
export function isLate(turn: Turn): boolean {
  return turn.now >= latestAt(turn.state);
}

/** So long before the latest moment a short pause is taken, too: better than a cut in a word. */
const HURRY_MS = 4000;
/** A breath is so much lower than the loudest of what was said around it. */
const BREATH_DB = 6;
const BREATH_CHUNKS = 12;

/** Whether this is the best moment that can still be hoped for: a single pause chunk, or the deepest breath for some time. */
function isBreath(turn: Turn): boolean {
  const { hold, activity } = turn.state;
  if (turn.now < latestAt(turn.state) - HURRY_MS) return false;
  if (hold.quietRun > 0) return true;
  // With a backlog what goes out is not what is heard.
  if (hold.chunks.length > 0) return false;
  const lately = activity.quietest.slice(-BREATH_CHUNKS);
  const last = lately.at(-1) ?? 0;
  return last <= Math.min(...lately) && last <= Math.max(...lately) - BREATH_DB;
}

/** Whether the lane goes over to another session now, if it can. */
export function isMoment(turn: Turn): boolean {
  return isInPause(turn) || isBreath(turn) || isLate(turn);
}

/** Counts a switch that cut a sentence in two. */
export function countSplit(turn: Turn): void {
  const { hold, activity } = turn.state;
  const isSpeaking = hold.quietRun === 0 && activity.quietest.length > 0;
  if (isSpeaking) turn.count('splits');
}

/** Goes over to the next session if it is ready and this is the moment. */
export function trySwitch(turn: Turn): void {
  const { phase, stream } = turn.state;
  const successor = waitingSuccessor(turn.state);
  if (phase !== 'rolling' || successor === null || stream === null || !isMoment(turn)) return;
  countSplit(turn);
  retire(turn, stream, { why: 'rollover', successorWaits: false });
  turn.disarm('roll');
  goLive(turn, successor);
}
