import { pump } from '../sound/sending.ts';
import { sleepsAt } from '../sound/spoken-voice.ts';
import type { LiveStream, ReadyStream, Retasking } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { forNewStream } from '../uplink/backlog.ts';

/** The stream receives speech from now on. */
export function goLive(context: StepContext, ready: ReadyStream): void {
  const stream = { ...ready, liveAt: context.now };
  context.become({ kind: 'live', stream, lease: null });
  context.set({ problem: null });
  beginSession(context, stream);
  takeSpeech(context);
}

/** Maximum time to send audio held during a change of the task, before the next change (ms). */
const HEARS_AT_MOST_MS = 10_000;

/** The live stream's new task runs. */
export function resumeLive(context: StepContext, { stream, lease }: Retasking): void {
  context.become({ kind: 'live', stream, lease });
  context.set({ problem: null });
  takeSpeech(context);
  const { backlog, settings, session } = context.state;
  if (session.kind !== 'live') return;
  const heldMs = Math.min(backlog.chunks.length * settings.chunkMs, HEARS_AT_MOST_MS);
  context.patch(session.stream, { hearsUntil: context.now + heldMs });
}

function takeSpeech(context: StepContext): void {
  if (context.state.options.standbyAfterMs > 0)
    context.arm('standby', Math.max(context.now, sleepsAt(context.state)));
  pump(context);
}

function beginSession(context: StepContext, stream: LiveStream): void {
  const { reason, settings, backlog } = context.state;
  const { session, streamHost: stream_host } = stream.lease.grant;
  context.set({ refusedTokens: 0, backlog: forNewStream(backlog) });
  // A rollover does not interrupt the wait for standby. Any other session gives a visitor time to speak.
  const { timers } = context.state;
  if (reason !== 'rollover') context.set({ lastVoiceAt: context.now });
  context.count('sessions');
  context.notify('session_started', { session, stream_host, reason });
  if (reason === 'max_duration' || reason === 'rollover') {
    context.count('rollovers');
    context.notify('rollover', { session });
  }
  // A rollover does not restart the timer: otherwise sessions shorter than `stableMs` would never count as stable.
  if (timers.stable === null) context.arm('stable', context.now + settings.stableMs);
  context.arm('ping', context.now + settings.pingMs, settings.pingSlackMs);
  if (stream.limitAt !== null) {
    // If the limit is nearer than the lead, the next session begins halfway to it.
    const halfWay = context.now + Math.max(0, stream.limitAt - context.now) / 2;
    context.arm('roll', Math.max(halfWay, stream.limitAt - settings.rollLeadMs));
  }
}
