import { languageClash } from '../../../protocol/common/language.ts';
import {
  differingKeys,
  isSameTask,
  type LaneOptions,
  type RefusedTask,
  TASK_KEYS,
  type TaskOptions,
  taskOf,
} from '../state/lane-options.ts';
import type { OpenStream } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';

/** Remembers the task that the service runs. */
export function noteAccepted(context: StepContext, task: TaskOptions): void {
  const { acceptedTask } = context.state;
  if (acceptedTask === null || !isSameTask(acceptedTask, task)) context.set({ acceptedTask: task });
}

/**
 * The service has refused the task: the lane keeps the last accepted task and reports that. The operator's order is kept.
 * @returns false if there is no accepted task, or it is the one that is refused now
 */
export function keepAcceptedTask(context: StepContext, stream: OpenStream, message: string): boolean {
  // A newer order is already waiting: the refusal of this one does not matter.
  if (stream.taskStale) return true;
  const { acceptedTask, refusedTask } = context.state;
  const refused = taskOf(context.state);
  const keys = acceptedTask === null ? [] : differingKeys(refused, acceptedTask);
  if (acceptedTask === null || keys.length === 0) {
    // The accepted task is refused, too. The next attempt sends the order again, in case the service now supports it.
    if (refusedTask !== null) context.set({ refusedTask: null });
    return false;
  }
  const instead = { ...refusedTask?.instead, ...pick(acceptedTask, keys) };
  context.set({ refusedTask: { instead, message } });
  context.set({ problem: { code: 'task_rejected', message, at: context.now } });
  const { source, targets, voice } = refused;
  context.notify('refused', { cause: 'task_rejected', message, source, targets, voice });
  return true;
}

/**
 * The part that stays refused after a new order. Every ordered key is tried again, even with the same value.
 * @param options the options after the order
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
  // The new source may be the language that replaces a refused target.
  return keys.length === 0 || languageClash(source, targets) !== null ? null : { ...refused, instead };
}

function pick(task: Partial<TaskOptions>, keys: readonly (keyof TaskOptions)[]): Partial<TaskOptions> {
  return Object.fromEntries(keys.map((key) => [key, task[key]]));
}
