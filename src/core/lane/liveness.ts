import { fail } from './ending.ts';
import { pump } from './sending.ts';
import { type Stream, waitingSuccessor } from './state.ts';
import type { Turn } from './turn.ts';

/**
 * A socket can look open for many minutes after its other end is gone. Two signs tell: pings without an answer, and
 * bytes that do not leave. Both are found well within the time for which unspoken speech is remembered.
 */
export function onPingTimer(turn: Turn): void {
  const { stream, phase, settings } = turn.state;
  if (stream === null || phase === 'draining') return;
  if (isGone(turn, stream)) return fail(turn, 'unresponsive', { stream });
  // A successor that waits for its moment must not be found dead when that has come.
  const waiting = waitingSuccessor(turn.state);
  if (waiting !== null && isGone(turn, waiting)) fail(turn, 'unresponsive', { stream: waiting });
  else if (waiting !== null) ping(turn, waiting);
  ping(turn, turn.state.stream ?? stream);
  turn.arm('ping', turn.now + settings.pingMs, settings.pingSlackMs);
}

function isGone(turn: Turn, { congestedSince, pingsOut }: Stream): boolean {
  const { stuckMs, pingsMissed } = turn.state.settings;
  return (congestedSince !== null && turn.now - congestedSince >= stuckMs) || pingsOut >= pingsMissed;
}

function ping(turn: Turn, stream: Stream): void {
  turn.put({ ...stream, pingsOut: stream.pingsOut + 1 });
  turn.emit({ type: 'ping', stream: stream.id });
}

/** The way to the service is slower than speech: what is said from here on is held, instead of piling up in the socket. */
export function onCongested(turn: Turn, stream: Stream): void {
  if (stream.congestedSince === null) turn.put({ ...stream, congestedSince: turn.now });
}

export function onDrained(turn: Turn, stream: Stream): void {
  if (stream.congestedSince === null) return;
  turn.put({ ...stream, congestedSince: null });
  pump(turn);
}
