import { isInPause } from '../../uplink/backlog.ts';
import { isSameTask, taskOf } from '../lane-options.ts';
import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';
import { goLive } from './go-live.ts';
import { drainOld } from './old-session.ts';
import type { LiveStream } from './session.ts';

/** When the old stream must switch to be able to finish speaking. */
function latestAt({ settings }: LaneState, { limitAt }: LiveStream): number {
  return (limitAt ?? Number.POSITIVE_INFINITY) - settings.rollLatestMs;
}

/** The latest moment for a switch that still lets the old stream finish speaking. */
function isLate(context: StepContext, stream: LiveStream): boolean {
  return context.now >= latestAt(context.state, stream);
}

/** This long before the latest moment a short pause is taken, too: better than a cut in a word. */
const HURRY_MS = 4000;
/** A breath is this much lower than the loudest of what was said around it. */
const BREATH_DB = 6;
const BREATH_CHUNKS = 12;

/** Whether this is the best moment that can still be hoped for: a single pause chunk, or the deepest breath for some time. */
function isBreath(context: StepContext, stream: LiveStream): boolean {
  const { backlog, noiseFloor } = context.state;
  if (context.now < latestAt(context.state, stream) - HURRY_MS) return false;
  if (backlog.quietRun > 0) return true;
  // With a backlog what goes out is not what is heard.
  if (backlog.chunks.length > 0) return false;
  const lately = noiseFloor.quietest.slice(-BREATH_CHUNKS);
  const last = lately.at(-1) ?? 0;
  return last <= Math.min(...lately) && last <= Math.max(...lately) - BREATH_DB;
}

/** Whether the lane goes over to another session now, if it can. */
export function isMoment(context: StepContext, stream: LiveStream): boolean {
  return isInPause(context.state.backlog) || isBreath(context, stream) || isLate(context, stream);
}

/** Counts a switch that cut a sentence in two. */
export function countSplit(context: StepContext): void {
  const { backlog, noiseFloor } = context.state;
  const isSpeaking = backlog.quietRun === 0 && noiseFloor.quietest.length > 0;
  if (isSpeaking) context.count('splits');
}

/** Goes over to the next session if it is ready and this is the moment. */
export function trySwitch(context: StepContext): void {
  const { session } = context.state;
  if (session.kind !== 'rolling' || session.setup.stage !== 'ready') return;
  const { stream, setup } = session;
  // Other languages end a sentence anyhow, and only the next session is told of them.
  const runsOrdered = isSameTask(stream.confirmedTask, taskOf(context.state));
  if (runsOrdered && !isMoment(context, stream)) return;
  countSplit(context);
  drainOld(context, stream, { why: 'rollover', successorWaits: false });
  context.disarm('roll');
  goLive(context, setup.stream);
}
