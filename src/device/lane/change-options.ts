import type { EchoMode } from '../../sound/echo-guard.ts';
import { volumeGain } from '../../sound/pcm.ts';
import { stillRefused } from './session/accepted-task.ts';
import { closeSetup } from './session/close.ts';
import { retryNow } from './session/lifecycle.ts';
import { refreshTask, taskAllowedAt } from './session/session-setup.ts';
import { neverSleeps, wake } from './session/standby.ts';
import { trySwitch } from './session/switch-session.ts';
import { unduck } from './sound/ducking.ts';
import { onPathChanged, retryEcho } from './sound/echo-rules.ts';
import { SAFE_PERCENT } from './sound/headset.ts';
import { isSameTask, type LaneOptions } from './state/lane-options.ts';
import { isStreaming, type Rolling } from './state/session-state.ts';
import type { StepContext } from './state/step-context.ts';
import { serviceTaskOf } from './two-way/two-way.ts';

/** Increase in volume (factor) above which the canceller must learn the echo again: the echo may have been inaudible before. */
const MUCH_LOUDER = 4;

/** The only place where options change. `refusedTask` keeps the part of the order that the service refused. */
export function changeOptions(context: StepContext, ordered: Partial<LaneOptions>): void {
  const { options: before, refusedTask: refused } = context.state;
  const taskBefore = serviceTaskOf(context.state);
  const after = { ...before, ...ordered };
  context.set({ options: after, refusedTask: stillRefused(refused, ordered, after) });
  if (['twoWay', 'source', 'targets'].some((key) => key in ordered))
    context.set({ twoWay: { ...context.state.twoWay, isRefused: false } });
  if (after.echo !== before.echo) retryEcho(context, before.echo);
  if (after.volume !== before.volume) {
    // A headset has its own volume.
    if (context.state.headset === null) context.emit({ type: 'set_volume', percent: after.volume });
    if (volumeGain(after.volume) > MUCH_LOUDER * volumeGain(before.volume)) onPathChanged(context);
  }
  if (after.echo !== 'cancel') unduck(context);
  if (after.standbyAfterMs !== before.standbyAfterMs && isStreaming(context.state.session))
    rearmStandby(context);
  if (context.phase === 'standby' && neverSleeps(after)) return wake(context);
  if (isSameTask(taskBefore, serviceTaskOf(context.state))) return;
  const { session, problem } = context.state;
  if (session.kind === 'rolling' && isTimeForBoth(context, session)) dropRollover(context, session);
  refreshTask(context);
  // If the next session is ready, it takes over now.
  trySwitch(context);
  if (problem?.code === 'task_rejected') retryNow(context);
}

/** Changes the volume of the output in use: the headset keeps the loudspeaker's as it is. */
export function changeVolume(context: StepContext, percent: number): void {
  const { headset } = context.state;
  if (headset === null) return changeOptions(context, { volume: percent });
  if (percent === headset.volume) return;
  context.set({ headset: { ...headset, volume: percent } });
  context.emit({ type: 'set_volume', percent });
}

/** The conversation has ended: the next person at a headset that stays plugged in begins at the safe volume, too. */
export function calmHeadset(context: StepContext): void {
  if (context.state.headset !== null) changeVolume(context, SAFE_PERCENT);
}

/** The operator orders an echo mode. Ordering the current one again retries it after a fallback. */
export function setEcho(context: StepContext, mode: EchoMode): void {
  const { echo } = context.state.options;
  changeOptions(context, { echo: mode });
  if (mode === echo) retryEcho(context, echo);
}

function rearmStandby(context: StepContext): void {
  const { standbyAfterMs } = context.state.options;
  if (standbyAfterMs === 0) context.disarm('standby');
  else context.arm('standby', context.now + standbyAfterMs);
}

/** Time (ms) that must remain before the latest possible switch, to change the task and then set up a successor. */
const TASK_AND_SUCCESSOR_MS = 12_000;

/** Whether the live session can take a new task now, and still has time to set up its successor. */
function isTimeForBoth({ state, now }: StepContext, { stream }: Rolling): boolean {
  const leftMs = (stream.limitAt ?? Number.POSITIVE_INFINITY) - state.settings.rollLatestMs - now;
  return leftMs >= TASK_AND_SUCCESSOR_MS && taskAllowedAt(state, stream) <= now;
}

/** Cancels the successor: the live session takes the new task first, and the next successor starts with that task. */
function dropRollover(context: StepContext, { stream, setup }: Rolling): void {
  closeSetup(context, setup);
  context.become({ kind: 'live', stream, lease: null });
  if (stream.limitAt !== null) context.arm('roll', context.now + context.state.settings.reapplyMs);
}
