import { forNewStream } from '../../uplink/backlog.ts';
import { pump } from '../sound/sending.ts';
import type { Stream } from '../state.ts';
import type { StepContext } from '../step-context.ts';
import { sleepsAt } from './standby.ts';

/** The stream takes what is said from here on. */
export function goLive(context: StepContext, stream: Stream): void {
  context.enter('live');
  context.set({ problem: null });
  if (stream.liveAt === null) beginSession(context, stream);
  if (context.state.options.standbyAfterMs > 0)
    context.arm('standby', Math.max(context.now, sleepsAt(context.state)));
  pump(context);
}

function beginSession(context: StepContext, stream: Stream): void {
  const { reason, settings, backlog } = context.state;
  const { session, streamHost: stream_host } = stream.lease.grant;
  context.set({
    refusedTokens: 0,
    setup: null,
    stream: { ...stream, liveAt: context.now },
    backlog: forNewStream(backlog),
  });
  // A session in place of another one begins in the same silence; any other gives somebody time to speak.
  const { timers } = context.state;
  if (reason !== 'rollover') context.set({ lastVoiceAt: context.now });
  context.count('sessions');
  context.notify('session_started', { session, stream_host, reason });
  if (reason === 'max_duration' || reason === 'rollover') {
    context.count('rollovers');
    context.notify('rollover', { session });
  }
  // Sessions shorter than the proof would never prove anything: one that ran to its rollover counts with the next.
  if (timers.stable === null) context.arm('stable', context.now + settings.stableMs);
  context.arm('ping', context.now + settings.pingMs, settings.pingSlackMs);
  if (stream.limitAt !== null) {
    // A limit that is nearer than the lead leaves half of the time for the session itself.
    const halfWay = context.now + Math.max(0, stream.limitAt - context.now) / 2;
    context.arm('roll', Math.max(halfWay, stream.limitAt - settings.rollLeadMs));
  }
}
