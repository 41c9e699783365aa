import type { LaneStep } from '../../device/lane/runner/lane-runner.ts';
import { phaseOf } from '../../device/lane/state/session-state.ts';
import { isPlaying } from '../../device/playout/playout.ts';

/** Silence after the last sound or text that ends the demo (ms): nothing more will come. */
const QUIET_MS = 4000;
/** Maximum time between the end of the input and the end of the demo (ms), even if the service keeps talking. */
const LONGEST_TAIL_MS = 90_000;

/** Detects that all input has been translated and played. */
export interface FinishLine {
  onStep(step: LaneStep, now: number): void;
  isReached(now: number): boolean;
}

export function createFinishLine(): FinishLine {
  let last: LaneStep | null = null;
  let endedAt: number | null = null;
  let newsAt = 0;
  return {
    onStep(step, now) {
      last = step;
      if (step.after.captureEnded) endedAt ??= now;
      if (hasNews(step) || isPlaying(step.after.playout, now)) newsAt = now;
    },
    isReached(now) {
      if (last === null || endedAt === null) return false;
      if (now - endedAt > LONGEST_TAIL_MS) return true;
      const { session, backlog } = last.after;
      const allSent = session.kind === 'live' && !backlog.chunks.some((chunk) => chunk.voiced);
      return allSent && !isPlaying(last.after.playout, now) && now - Math.max(newsAt, endedAt) >= QUIET_MS;
    },
  };
}

/**
 * Whether this step suggests that more will follow: a caption, translated audio, speech just sent, or a change of session
 * phase.
 */
function hasNews({ effects, before, after }: LaneStep): boolean {
  return (
    phaseOf(before.session) !== phaseOf(after.session) ||
    after.backlog.quietRun === 0 ||
    effects.some(({ type }) => type === 'caption' || type === 'play')
  );
}
