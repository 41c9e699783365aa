import type { StepContext } from '../step-context.ts';
import { countWithoutRoom, lacksRoom } from './account-limit.ts';
import { drainOld, dropOldSession } from './old-session.ts';
import { countSplit, isMoment, trySwitch } from './switchover.ts';
import { acquire } from './token.ts';

/** The session nears its limit: the next one is begun, or the moment for the switch has come. */
export function onRollTimer(context: StepContext): void {
  const { phase, stream, settings, hold } = context.state;
  if (stream?.limitAt == null) return;
  if (phase === 'rolling') return trySwitch(context);
  // No session follows this one, unless it is allowed again in time.
  if (hold !== null) return context.arm('roll', context.now + settings.pollMs);
  // Between two tasks there is no telling when it is live again: a little later.
  if (phase === 'configuring' || stream.taskStale) return context.arm('roll', context.now + settings.pollMs);
  if (phase !== 'live') return;
  if (stream.mustGoFirst) return goFirst(context);
  const latestAt = Math.max(context.now, stream.limitAt - settings.rollLatestMs);
  context.arm('roll', latestAt);
  if (lacksRoom(context.state)) {
    countWithoutRoom(context);
    return context.put({ ...stream, mustGoFirst: true });
  }
  // Three streams at a time are never worth it: the one before this one has had its time.
  dropOldSession(context, 'close');
  context.set({ reason: 'rollover' });
  acquire(context);
}

/** A chunk has gone out: is this the pause that was waited for? */
export function rollInPause(context: StepContext): void {
  const { phase, stream, hold } = context.state;
  if (phase === 'rolling') trySwitch(context);
  else if (phase === 'live' && hold === null && stream?.mustGoFirst === true && isMoment(context))
    goFirst(context);
}

/** No room for two streams: the old one finishes and goes, what is said meanwhile is held, and then the next one comes. */
function goFirst(context: StepContext): void {
  const { stream, settings } = context.state;
  if (stream === null) return;
  countSplit(context);
  context.disarm('ping', 'silence', 'stable', 'pace', 'roll', 'standby');
  context.set({ stream: null, starved: false, reason: 'rollover' });
  context.enter('waiting');
  drainOld(context, stream, { why: 'rollover', successorWaits: true });
  // In case the old one never says that it is gone.
  context.arm('retry', Math.max(context.now, (stream.limitAt ?? context.now) + settings.drainMs));
}
