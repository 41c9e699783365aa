import { isListening } from '../../../protocol/phases.ts';
import { dropHeld } from '../losses/speech-lost.ts';
import { forgetSilentLanguages } from '../losses/unspoken.ts';
import { forgetDeviceFault } from '../sound/device-faults.ts';
import { unduck } from '../sound/ducking.ts';
import { stopSpeaking } from '../sound/playback-rules.ts';
import { type Draining, hearingStream, setupOf } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { closeHearing, closeSetup, dropLease } from './close.ts';
import { dropOldSession } from './old-session.ts';
import { giveUpRest } from './resend.ts';
import { wake } from './standby.ts';
import { acquire, askNow } from './token-request.ts';
import { forgetWarning } from './warning.ts';

/**
 * Starts the lane. A waiting or parked lane retries at once, a sleeping one wakes, and a draining one closes its stream at
 * once: speech must be heard from now on.
 */
export function start(context: StepContext): void {
  if (context.state.ending) return;
  context.set({ wanted: true });
  if (context.state.hold !== null) return;
  const { session } = context.state;
  if (context.phase === 'idle' || context.phase === 'restarting') begin(context);
  else if (session.kind === 'draining') closeDrained(context, session);
  else if (context.phase === 'standby') wake(context);
  else if (context.phase === 'acquiring') askNow(context);
  else retryNow(context);
}

/** Retries at once instead of waiting: the cause may have been fixed. */
export function retryNow(context: StepContext): void {
  const { session, oldSession, hold } = context.state;
  if (hold !== null) return;
  if (session.kind !== 'waiting' && session.kind !== 'parked') return;
  // The old session must end before the account has room for its successor.
  if (oldSession?.successorWaits === true) return;
  context.disarm('retry');
  // The address may be out of date: the backend knows the current one.
  dropLease(context);
  acquire(context);
}

/** Opens the microphone, and begins a session or waits for a voice. */
export function begin(context: StepContext): void {
  context.disarm('retry');
  context.emit({ type: 'open_capture' });
  context.set({ failures: 0, problem: null, reason: 'start', captureEnded: false });
  context.set({ sureVoiceAt: context.now });
  context.set({ isUnanswered: false, silencedSince: null, deafSince: null });
  forgetSilentLanguages(context);
  if (context.state.options.start === 'voice') context.become({ kind: 'standby', heardLately: [] });
  else acquire(context);
}

/** Stops the lane: at once without a live stream, otherwise after the service has finished the task. */
export function stop(context: StepContext): void {
  const { session, oldSession, settings } = context.state;
  context.disarm('closing');
  context.set({ closing: null });
  if (session.kind === 'draining') return;
  const stream = hearingStream(session);
  if (isListening(context.phase)) silence(context);
  if (oldSession !== null) giveUpRest(context, oldSession.stream, 'stopped');
  closeSetup(context, setupOf(session));
  dropLease(context);
  context.disarm('retry');
  if (stream !== null) {
    context.disarm('setup', 'poll', 'silence', 'pace', 'stable', 'roll', 'standby');
    context.become({ kind: 'draining', stream });
    dropOldSession(context, 'close');
    context.emit({ type: 'end_task', stream: stream.id });
    context.arm('drain', context.now + settings.drainMs);
    return;
  }
  forgetWarning(context);
  context.become({ kind: context.state.ending ? 'closed' : 'idle' });
  dropOldSession(context, 'close');
}

/** Closes the microphone and stops the loudspeaker. */
function silence(context: StepContext): void {
  context.emit({ type: 'close_capture' });
  stopSpeaking(context);
  unduck(context);
  dropHeld(context);
  context.set({ captureLost: false });
  forgetDeviceFault(context, 'capture');
}

/** The drained stream is gone, or the lane was started again and does not wait for it. */
export function closeDrained(context: StepContext, draining: Draining): void {
  giveUpRest(context, draining.stream, 'stopped');
  closeHearing(context, draining, 'stopped', 'close');
  if (context.state.ending) return context.become({ kind: 'closed' });
  context.become({ kind: 'idle' });
  if (context.state.wanted && context.state.hold === null) begin(context);
}

export function onRetryTimer(context: StepContext): void {
  const { phase } = context;
  if (context.state.hold !== null) stop(context);
  else if (phase === 'waiting' || phase === 'parked') acquire(context);
  else if (phase === 'restarting') begin(context);
}
