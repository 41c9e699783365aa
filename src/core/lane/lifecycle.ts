import { discard } from '../hold.ts';
import { unduck } from './ducking.ts';
import { dropApproach, dropStream, surrender } from './ending.ts';
import { isListening } from './phases.ts';
import { dropRetiring } from './retiring.ts';
import { silenceLoudspeaker } from './speaking.ts';
import { wake } from './standby.ts';
import { acquire } from './token.ts';
import type { Turn } from './turn.ts';
import { forgetWarning } from './warning.ts';

/** Somebody wants the lane to run; one that waits or is parked tries again at once, and one that sleeps wakes. */
export function start(turn: Turn): void {
  if (turn.state.ending) return;
  turn.set({ wanted: true });
  if (turn.state.phase === 'idle' || turn.state.phase === 'restarting') begin(turn);
  else if (turn.state.phase === 'standby') wake(turn);
  else hasten(turn);
}

/** What a lane waits for may have been mended: it is tried now. */
export function hasten(turn: Turn): void {
  const { phase, retiring } = turn.state;
  if (phase !== 'waiting' && phase !== 'parked') return;
  // The successor of a session that has to go first has no room yet.
  if (retiring?.successorWaits === true) return;
  turn.disarm('retry');
  // What has been mended may be the address: the backend knows the new one.
  surrender(turn);
  acquire(turn);
}

function begin(turn: Turn): void {
  turn.disarm('retry');
  turn.emit({ type: 'open_capture' });
  turn.set({ failures: 0, problem: null, reason: 'start', captureEnded: false, heardLately: [] });
  if (turn.state.orders.start === 'voice') turn.enter('standby');
  else acquire(turn);
}

/** Ends what runs: at once where nothing is up, through `end_task` where a task is. */
export function stop(turn: Turn): void {
  const { phase, stream, settings } = turn.state;
  if (phase === 'draining') return;
  if (isListening(phase)) silence(turn);
  dropApproach(turn);
  turn.disarm('retry');
  if (stream !== null) {
    turn.disarm('setup', 'poll', 'silence', 'pace', 'stable', 'roll', 'standby');
    turn.enter('draining');
    dropRetiring(turn, 'close');
    turn.emit({ type: 'end_task', stream: stream.id });
    turn.arm('drain', turn.now + settings.drainMs);
    return;
  }
  forgetWarning(turn);
  if (turn.state.ending) turn.enter('closed');
  else if (phase !== 'idle') turn.enter('idle');
  dropRetiring(turn, 'close');
}

/** Nothing is heard and nothing is said any more. */
function silence(turn: Turn): void {
  turn.emit({ type: 'close_capture' });
  silenceLoudspeaker(turn);
  unduck(turn);
  turn.set({ hold: discard(turn.state.hold), captureLost: false });
}

/** The drained stream is gone. Somebody may have wanted the lane back meanwhile. */
export function finish(turn: Turn): void {
  dropStream(turn, 'stopped', 'close');
  if (turn.state.ending) return turn.enter('closed');
  turn.enter('idle');
  if (turn.state.wanted) begin(turn);
}

/** The wait is over. */
export function onRetryTimer(turn: Turn): void {
  const { phase } = turn.state;
  if (phase === 'waiting' || phase === 'parked') acquire(turn);
  else if (phase === 'restarting') begin(turn);
}
