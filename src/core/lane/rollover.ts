import { dropRetiring, retire } from './retiring.ts';
import { countWithoutRoom, lacksRoom } from './room.ts';
import { countSplit, isMoment, trySwitch } from './switchover.ts';
import { acquire } from './token.ts';
import type { Turn } from './turn.ts';

/** The session nears its limit: the next one is begun, or the moment for the switch has come. */
export function onRollTimer(turn: Turn): void {
  const { phase, stream, settings } = turn.state;
  if (stream?.limitAt == null) return;
  if (phase === 'rolling') return trySwitch(turn);
  // Between two tasks there is no telling when it is live again: a little later.
  if (phase === 'configuring' || stream.taskStale) return turn.arm('roll', turn.now + settings.pollMs);
  if (phase !== 'live') return;
  if (stream.mustGoFirst) return goFirst(turn);
  const latestAt = Math.max(turn.now, stream.limitAt - settings.rollLatestMs);
  turn.arm('roll', latestAt);
  if (lacksRoom(turn.state)) {
    countWithoutRoom(turn);
    return turn.put({ ...stream, mustGoFirst: true });
  }
  // Three streams at a time are never worth it: the one before this one has had its time.
  dropRetiring(turn, 'close');
  turn.set({ reason: 'rollover' });
  acquire(turn);
}

/** A chunk has gone out: is this the pause that was waited for? */
export function rollInPause(turn: Turn): void {
  const { phase, stream } = turn.state;
  if (phase === 'rolling') trySwitch(turn);
  else if (phase === 'live' && stream?.mustGoFirst === true && isMoment(turn)) goFirst(turn);
}

/** No room for two streams: the old one finishes and goes, what is said meanwhile is held, and then the next one comes. */
function goFirst(turn: Turn): void {
  const { stream, settings } = turn.state;
  if (stream === null) return;
  countSplit(turn);
  turn.disarm('ping', 'silence', 'stable', 'pace', 'roll', 'standby');
  turn.set({ stream: null, starved: false, reason: 'rollover' });
  turn.enter('waiting');
  retire(turn, stream, { why: 'rollover', successorWaits: true });
  // In case the old one never says that it is gone.
  turn.arm('retry', Math.max(turn.now, (stream.limitAt ?? turn.now) + settings.drainMs));
}
