import { pump } from '../sound/sending.ts';
import { hearingStream, type Stream, waitingSuccessor } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { fail } from './failure.ts';

/**
 * A socket can look open for minutes after the peer is gone. Two signs show that: pings without an answer, and bytes that
 * do not leave. Both are noticed while unspoken speech is still kept for a replay.
 */
export function onPingTimer(context: StepContext): void {
  const { session, settings } = context.state;
  const stream = hearingStream(session);
  if (stream === null || session.kind === 'draining') return;
  if (isGone(context, stream)) return fail(context, 'unresponsive', { stream });
  // Also checks a successor that waits for a pause: otherwise it might be found dead only at the switch.
  const waiting = waitingSuccessor(session);
  if (waiting !== null && isGone(context, waiting)) fail(context, 'unresponsive', { stream: waiting });
  else if (waiting !== null) ping(context, waiting);
  ping(context, stream);
  context.arm('ping', context.now + settings.pingMs, settings.pingSlackMs);
}

function isGone(context: StepContext, { congestedSince, pingsOut }: Stream): boolean {
  const { stuckMs, pingsMissed } = context.state.settings;
  return (congestedSince !== null && context.now - congestedSince >= stuckMs) || pingsOut >= pingsMissed;
}

function ping(context: StepContext, stream: Stream): void {
  context.patch(stream, { pingsOut: stream.pingsOut + 1 });
  context.emit({ type: 'ping', stream: stream.id });
}

/** The connection is slower than speech: later speech is held in the backlog instead of the socket. */
export function onCongested(context: StepContext, stream: Stream): void {
  if (stream.congestedSince === null) context.patch(stream, { congestedSince: context.now });
}

export function onDrained(context: StepContext, stream: Stream): void {
  if (stream.congestedSince === null) return;
  context.patch(stream, { congestedSince: null });
  pump(context);
}
