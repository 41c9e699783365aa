import { fail } from './ending.ts';
import { pump } from './sending.ts';
import type { Stream } from './state.ts';
import type { Turn } from './turn.ts';

/**
 * A socket can look open for many minutes after its other end is gone. Two signs tell: pings without an answer, and
 * bytes that do not leave. Both are found well within the time for which unspoken speech is remembered.
 */
export function onPingTimer(turn: Turn): void {
  const { stream, settings, phase } = turn.state;
  if (stream === null || phase === 'draining') return;
  const isStuck = stream.congestedSince !== null && turn.now - stream.congestedSince >= settings.stuckMs;
  if (isStuck || stream.pingsOut >= settings.pingsMissed) return fail(turn, 'unresponsive', { stream });
  turn.put({ ...stream, pingsOut: stream.pingsOut + 1 });
  turn.emit({ type: 'ping', stream: stream.id });
  turn.arm('ping', turn.now + settings.pingMs);
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
