import { isSameTask } from '../state/lane-options.ts';
import type { LaneState } from '../state/lane-state.ts';
import type { Live, LiveStream } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { isSentenceOver, serviceTaskOf, turnsByKey, waitsForTurn } from '../two-way/two-way.ts';
import { countWithoutRoom, lacksRoom } from './account-limit.ts';
import { drainOld, giveUpOldSession } from './old-session.ts';
import { refreshTask, taskAllowedAt } from './session-setup.ts';
import { countSplit, isMoment, trySwitch } from './switch-session.ts';
import { acquire } from './token-request.ts';

/** The session nears its limit: begins the next one, or switches to it. */
export function onRollTimer(context: StepContext): void {
  const { session, settings, hold } = context.state;
  if (session.kind === 'rolling') return trySwitch(context);
  if (session.kind !== 'live' && session.kind !== 'retasking') return;
  const { stream } = session;
  if (stream.limitAt === null) return;
  // During a hold no session follows, unless the hold ends in time.
  if (hold !== null) return context.arm('roll', context.now + settings.pollMs);
  // During a change of the task the rollover waits until the session is live again.
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
  // At most two streams at a time: the old session ends now.
  giveUpOldSession(context, 'close');
  // The next session begins with the changed options: this one need not take them.
  context.patch(stream, { taskStale: false });
  context.disarm('poll');
  context.set({ reason: 'rollover' });
  acquire(context);
}

/** A chunk was sent: switches if there is a pause now. */
export function rollInPause(context: StepContext): void {
  const { session, hold } = context.state;
  if (session.kind === 'rolling') return trySwitch(context);
  if (session.kind !== 'live' || hold !== null) return;
  if (session.stream.mustGoFirst && isMoment(context, session.stream)) goFirst(context, session);
}

/** The account allows one stream: the old session finishes and ends, speech is held meanwhile, and then the next one begins. */
function goFirst(context: StepContext, { stream, lease }: Live): void {
  const { settings } = context.state;
  countSplit(context);
  context.disarm('ping', 'silence', 'stable', 'pace', 'poll', 'roll', 'standby');
  context.set({ starved: false, reason: 'rollover' });
  context.become({ kind: 'waiting', lease, wait: null });
  drainOld(context, stream, { why: 'rollover', successorWaits: true });
  // Covers the case that the old session never ends.
  context.arm('retry', Math.max(context.now, (stream.limitAt ?? context.now) + settings.drainMs));
}

/**
 * Does what became due during a change of the task, once the lane is live: first the rollover, because the limit of a session
 * is fixed; then a newer change of the task, unless the next session begins with it.
 */
export function catchUpAfterTask(context: StepContext, before: LaneState): void {
  const wasDue = before.session.kind === 'retasking' && before.session.rollIsDue;
  if (wasDue && context.state.session.kind === 'live') onRollTimer(context);
  const { session, hold } = context.state;
  if (session.kind !== 'live' || hold !== null) return;
  const { stream } = session;
  const isSame = isSameTask(stream.confirmedTask, serviceTaskOf(context.state));
  // The previous speaker speaks again: the service translates in that direction already.
  if (isSame && stream.taskStale && turnsByKey(context.state)) context.patch(stream, { taskStale: false });
  else if (
    stream.taskStale
      ? taskAllowedAt(context.state, stream) <= context.now
      : !isSame && mayTurn(context, stream)
  )
    refreshTask(context);
}

/** Whether a turn may change the task: the previous speaker's sentence must be over. Other changes do not wait for that. */
function mayTurn({ state }: StepContext, stream: LiveStream): boolean {
  const { confirmedTask } = stream;
  if (!turnsByKey(state) || confirmedTask.speaker === serviceTaskOf(state).speaker) return true;
  return waitsForTurn(state, stream) && isSentenceOver(state, stream);
}
