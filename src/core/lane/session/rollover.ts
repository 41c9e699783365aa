import { isSameTask, taskOf } from '../lane-options.ts';
import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';
import { countWithoutRoom, lacksRoom } from './account-limit.ts';
import { drainOld, giveUpOldSession } from './old-session.ts';
import type { Live } from './session.ts';
import { refreshTask, tellableAt } from './session-setup.ts';
import { countSplit, isMoment, trySwitch } from './switch-session.ts';
import { acquire } from './token.ts';

/** The session nears its limit: the next one is begun, or the moment for the switch has come. */
export function onRollTimer(context: StepContext): void {
  const { session, settings, hold } = context.state;
  if (session.kind === 'rolling') return trySwitch(context);
  if (session.kind !== 'live' && session.kind !== 'retasking') return;
  const { stream } = session;
  if (stream.limitAt === null) return;
  // No session follows this one, unless it is allowed again in time.
  if (hold !== null) return context.arm('roll', context.now + settings.pollMs);
  // Between two tasks there is no telling when it is live again: as soon as it is.
  if (session.kind === 'retasking') {
    context.become({ ...session, rollIsDue: true });
    return context.arm('roll', context.now + settings.pollMs);
  }
  if (stream.mustGoFirst) return goFirst(context, session);
  const latestAt = Math.max(context.now, stream.limitAt - settings.rollLatestMs);
  context.arm('roll', latestAt);
  if (lacksRoom(context.state)) {
    countWithoutRoom(context);
    context.patch(stream, { mustGoFirst: true });
    return;
  }
  // Three streams at a time are never worth it: the one before this one has had its time.
  giveUpOldSession(context, 'close');
  // A change that waits its turn is for the next session, which begins with it.
  context.patch(stream, { taskStale: false });
  context.disarm('poll');
  context.set({ reason: 'rollover' });
  acquire(context);
}

/** A chunk has gone out: is this the pause that was waited for? */
export function rollInPause(context: StepContext): void {
  const { session, hold } = context.state;
  if (session.kind === 'rolling') return trySwitch(context);
  if (session.kind !== 'live' || hold !== null) return;
  if (session.stream.mustGoFirst && isMoment(context, session.stream)) goFirst(context, session);
}

/** No room for two streams: the old one finishes and goes, what is said meanwhile is held, and then the next one comes. */
function goFirst(context: StepContext, { stream, lease }: Live): void {
  const { settings } = context.state;
  countSplit(context);
  context.disarm('ping', 'silence', 'stable', 'pace', 'poll', 'roll', 'standby');
  context.set({ starved: false, reason: 'rollover' });
  context.become({ kind: 'waiting', lease, wait: null });
  drainOld(context, stream, { why: 'rollover', successorWaits: true });
  // In case the old one never says that it is gone.
  context.arm('retry', Math.max(context.now, (stream.limitAt ?? context.now) + settings.drainMs));
}

/**
 * What fell due during a change of the task is done once the lane is live: first the rollover, because a session's limit does not
 * wait; then a change of the languages, if the next session does not begin with it.
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
