import { languageClash } from '../../../protocol/language.ts';
import {
  differingKeys,
  isSameTask,
  type LaneOptions,
  type RefusedTask,
  TASK_KEYS,
  type TaskOptions,
  taskOf,
} from '../lane-options.ts';
import type { StepContext } from '../step-context.ts';
import type { OpenStream } from './session.ts';

/** The service runs this task. */
export function noteAccepted(context: StepContext, task: TaskOptions): void {
  const { acceptedTask } = context.state;
  if (acceptedTask === null || !isSameTask(acceptedTask, task)) context.set({ acceptedTask: task });
}

/**
 * The service does not take the task that it was told: what it took last goes on, and the operator is told. What is ordered
 * stays as it is.
 * @returns false where there is nothing to go on with: no task before it, or that one is rejected now
 */
export function goOnWithAccepted(context: StepContext, stream: OpenStream, message: string): boolean {
  // A newer order waits its turn: what is said of the one before it is of no interest any more.
  if (stream.taskStale) return true;
  const { acceptedTask, refusedTask } = context.state;
  const told = taskOf(context.state);
  const keys = acceptedTask === null ? [] : differingKeys(told, acceptedTask);
  if (acceptedTask === null || keys.length === 0) {
    // Neither is taken: the next try begins with what is ordered, which the service may know by then.
    if (refusedTask !== null) context.set({ refusedTask: null });
    return false;
  }
  const instead = { ...refusedTask?.instead, ...pick(acceptedTask, keys) };
  context.set({ refusedTask: { instead, message } });
  context.set({ problem: { code: 'task_rejected', message, at: context.now } });
  const { source, targets, voice } = told;
  context.notify('refused', { cause: 'task_rejected', message, source, targets, voice });
  return true;
}

/**
 * What is still refused after the operator has ordered something else. What is ordered again is tried, even if it is the same.
 * @param options as they are now
 */
export function stillRefused(
  refused: RefusedTask | null,
  ordered: Partial<LaneOptions>,
  options: LaneOptions,
): RefusedTask | null {
  if (refused === null) return null;
  if (!TASK_KEYS.some((key) => key in ordered)) return refused;
  const keys = TASK_KEYS.filter((key) => key in refused.instead && !(key in ordered));
  const instead = pick(refused.instead, keys);
  const { source, targets } = { ...options, ...instead };
  // A source that is ordered now may be the language that goes on in place of a refused target.
  return keys.length === 0 || languageClash(source, targets) !== null ? null : { ...refused, instead };
}

function pick(task: Partial<TaskOptions>, keys: readonly (keyof TaskOptions)[]): Partial<TaskOptions> {
  return Object.fromEntries(keys.map((key) => [key, task[key]]));
}
