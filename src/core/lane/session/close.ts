import type { Cause } from '../../retry/recovery.ts';
import { forgetWarning } from '../problems.ts';
import type { StepContext } from '../step-context.ts';
import type { Draining, Lease, Live, Retasking, Rolling, Stream, Successor } from './session.ts';

/** Gives an unspent token back, before the lane asks for another or stops. */
export function dropLease(context: StepContext): void {
  const { session } = context.state;
  if (!('lease' in session)) return;
  forgetLease(context, session.lease);
  context.become({ ...session, lease: null });
}

export function forgetLease(context: StepContext, lease: Lease | null): void {
  if (lease !== null) context.emit({ type: 'forget_grant', grant: lease.grant.id });
}

/** Closes a stream, wherever it stood. The caller takes it out of its place. */
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

/** Gives the setup up, with its token. The caller goes on to a session without it. */
export function closeSetup(context: StepContext, setup: Successor | null): void {
  context.disarm('setup', 'poll');
  // A service that has been told a task is told of the end, so that it does not wait for the rest.
  if (setup !== null && setup.stage !== 'acquiring')
    closeStream(context, setup.stream, 'stopped', setup.stage === 'connecting' ? 'terminate' : 'close');
  context.disarm('token');
}

/** Closes the stream that hears. The caller goes on to a session without it. */
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
