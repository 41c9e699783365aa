import { isSameTask } from '../state/lane-options.ts';
import type { LaneState } from '../state/lane-state.ts';
import type { LiveStream } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { serviceTaskOf } from '../two-way/two-way.ts';
import { isInPause } from '../uplink/backlog.ts';
import { goLive } from './go-live.ts';
import { drainOld } from './old-session.ts';

/** The latest moment for a switch that still lets the old stream finish speaking. */
function latestAt({ settings }: LaneState, { limitAt }: LiveStream): number {
  return (limitAt ?? Number.POSITIVE_INFINITY) - settings.rollLatestMs;
}

function isLate(context: StepContext, stream: LiveStream): boolean {
  return context.now >= latestAt(context.state, stream);
}

/** How long before the latest moment a short pause is enough (ms): a switch in it is better than one in a word. */
const HURRY_MS = 4000;
/** How far a breath must be below the loudest of the last chunks (dB). */
const BREATH_DB = 6;
/** Number of chunks that are searched for a breath (3.8 s). */
const BREATH_CHUNKS = 12;

/** Whether this is a short pause near the latest moment: a single silent chunk, or the deepest breath of the last chunks. */
function isBreath(context: StepContext, stream: LiveStream): boolean {
  const { backlog, noiseFloor } = context.state;
  if (context.now < latestAt(context.state, stream) - HURRY_MS) return false;
  if (backlog.quietRun > 0) return true;
  // With a backlog, the sent audio is older than the measured levels.
  if (backlog.chunks.length > 0) return false;
  const lately = noiseFloor.quietest.slice(-BREATH_CHUNKS);
  const last = lately.at(-1) ?? 0;
  return last <= Math.min(...lately) && last <= Math.max(...lately) - BREATH_DB;
}

/** Whether this is a suitable moment to switch sessions. */
export function isMoment(context: StepContext, stream: LiveStream): boolean {
  return isInPause(context.state.backlog) || isBreath(context, stream) || isLate(context, stream);
}

/** Counts a switch that cut a sentence in two. */
export function countSplit(context: StepContext): void {
  const { backlog, noiseFloor } = context.state;
  const isSpeaking = backlog.quietRun === 0 && noiseFloor.quietest.length > 0;
  if (isSpeaking) context.count('splits');
}

/** Switches to the next session if it is ready and this is a suitable moment. */
export function trySwitch(context: StepContext): void {
  const { session } = context.state;
  if (session.kind !== 'rolling' || session.setup.stage !== 'ready') return;
  const { stream, setup } = session;
  // A change of languages ends the sentence anyway, and only the next session has the new ones.
  const runsOrdered = isSameTask(stream.confirmedTask, serviceTaskOf(context.state));
  if (runsOrdered && !isMoment(context, stream)) return;
  countSplit(context);
  drainOld(context, stream, { why: 'rollover', successorWaits: false });
  context.disarm('roll');
  goLive(context, setup.stream);
}
