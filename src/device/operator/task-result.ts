import type { Clock } from '../../ports/clock.ts';
import type { Phase } from '../../protocol/phases.ts';
import { CommandError } from '../commands/command-request.ts';
import type { LaneRunner, LaneStep } from '../lane/runner/lane-runner.ts';
import { isSameTask, orderOf, type TaskOptions, taskOf } from '../lane/state/lane-options.ts';
import type { LaneState } from '../lane/state/lane-state.ts';
import { hearingStream, phaseOf, setupOf } from '../lane/state/session-state.ts';

/** Timeout (ms): longer than a service takes to apply a task, and longer than the lane waits for it. */
const VERDICT_WITHIN_MS = 30_000;

/** Dependencies for following a lane. */
export interface TaskResultDeps {
  readonly clock: Clock;
  watch(listener: (step: LaneStep) => void): () => void;
}

/** `now`: the service runs the task. `next_session`: no stream is open, so the next session brings the task. */
export type TakesEffect = 'now' | 'next_session';

/** Phases in which a lane without a stream does not get one soon. */
const AT_REST: readonly Phase[] = ['idle', 'standby', 'parked', 'draining', 'closed'];

/** The service's verdict on a new task; undefined while it is pending. */
function judge(
  state: LaneState,
  before: LaneState,
  wanted: TaskOptions,
): TakesEffect | CommandError | undefined {
  const { problem, session } = state;
  if (problem !== before.problem && problem?.code === 'task_rejected') {
    return new CommandError('rejected', `the service says: ${problem.message}`);
  }
  if (!isSameTask(taskOf(state), wanted)) {
    return new CommandError('superseded', 'other languages were ordered before the service had answered');
  }
  if (setupOf(session)?.stage === 'configuring') return undefined;
  const stream = hearingStream(session);
  if (stream === null) return AT_REST.includes(phaseOf(session)) ? 'next_session' : undefined;
  const isSettled = session.kind !== 'retasking' && !stream.taskStale;
  return isSettled && isSameTask(orderOf(stream.confirmedTask), wanted) ? 'now' : undefined;
}

/**
 * The service's verdict on a lane's new task: immediate if no stream is open, or the task is already running. If the stream
 * ends, the next one brings the verdict. Rejects with a CommandError.
 * @param before the lane's state before the change
 */
export function taskResult(
  lane: LaneRunner,
  before: LaneState,
  { clock, watch }: TaskResultDeps,
): TakesEffect | Promise<TakesEffect> {
  const wanted = taskOf(lane.state);
  const { session } = lane.state;
  if (hearingStream(session) === null && setupOf(session)?.stage !== 'configuring') return 'next_session';
  const first = judge(lane.state, before, wanted);
  if (first instanceof CommandError) return Promise.reject(first);
  if (first !== undefined) return first;
  return new Promise((resolve, reject) => {
    const end = (verdict: TakesEffect | CommandError): void => {
      unwatch();
      cancel();
      if (verdict instanceof CommandError) reject(verdict);
      else resolve(verdict);
    };
    const unwatch = watch((step) => {
      const verdict = step.lane === lane.id ? judge(step.after, before, wanted) : undefined;
      if (verdict !== undefined) end(verdict);
    });
    const cancel = clock.at(clock.now() + VERDICT_WITHIN_MS, () => {
      const message = 'no answer from the service within 30 s; the languages stay requested';
      end(new CommandError('no_answer', message));
    });
  });
}
