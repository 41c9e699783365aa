import type { Cause } from '../../../protocol/mqtt/causes.ts';
import type { Draining, Lease, Live, Retasking, Rolling, Stream, Successor } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { forgetWarning } from './warning.ts';

/** Forgets an unspent token, before the lane requests another or stops. */
export function dropLease(context: StepContext): void {
  const { session } = context.state;
  if (!('lease' in session)) return;
  forgetLease(context, session.lease);
  context.become({ ...session, lease: null });
}

export function forgetLease(context: StepContext, lease: Lease | null): void {
  if (lease !== null) context.emit({ type: 'forget_grant', grant: lease.grant.id });
}

/** Closes a stream in any stage. The caller removes it from the session. */
export function closeStream(
  context: StepContext,
  stream: Stream,
  why: Cause | 'stopped' | 'rollover' | 'standby',
  how: 'close' | 'terminate',
): void {
  context.emit({ type: 'close_stream', stream: stream.id, how });
  context.emit({ type: 'forget_grant', grant: stream.lease.grant.id });
  forgetWarning(context);
  if (stream.openedAt !== null) context.count('streamMs', Math.round(context.now - stream.openedAt));
  if (stream.liveAt === null) return;
  context.notify('session_ended', {
    session: stream.lease.grant.session,
    cause: why,
    live_ms: Math.round(context.now - stream.liveAt),
  });
}

/** Cancels a set-up, with its token. The caller changes the session. */
export function closeSetup(context: StepContext, setup: Successor | null): void {
  context.disarm('setup', 'poll');
  // A service that has a task gets a clean close, so that it does not wait for more audio.
  if (setup !== null && setup.stage !== 'acquiring')
    closeStream(context, setup.stream, 'stopped', setup.stage === 'connecting' ? 'terminate' : 'close');
  context.disarm('token');
}

/** Closes the stream that receives speech. The caller changes the session. */
export function closeHearing(
  context: StepContext,
  { kind, stream }: Live | Retasking | Rolling | Draining,
  why: Cause | 'stopped',
  how: 'close' | 'terminate',
): void {
  context.disarm('ping', 'silence', 'stable', 'drain', 'pace', 'roll', 'standby');
  if (kind !== 'rolling') context.disarm('setup', 'poll');
  context.set({ starved: false });
  closeStream(context, stream, why, how);
}
