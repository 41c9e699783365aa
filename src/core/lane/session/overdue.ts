import { isSameTask, taskOf } from '../lane-options.ts';
import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';
import { onRollTimer } from './rollover.ts';
import { refreshTask, tellableAt } from './session-setup.ts';

/**
 * What fell due while it could not be done is done once the lane is live: first the rollover, for a session's end does not
 * wait; and a change of the languages, if the next session does not begin with it.
 */
export function catchUpWithOrders(context: StepContext, before: LaneState): void {
  const wasDue = before.session.kind === 'retasking' && before.session.rollIsDue;
  if (wasDue && context.state.session.kind === 'live') onRollTimer(context);
  const { session, hold } = context.state;
  if (session.kind !== 'live' || hold !== null) return;
  const { stream } = session;
  const isDue = stream.taskStale
    ? tellableAt(context.state, stream) <= context.now
    : !isSameTask(stream.confirmedTask, taskOf(context.state));
  if (isDue) refreshTask(context);
}
