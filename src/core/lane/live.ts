import { freshEars } from '../hold.ts';
import { pump } from './sending.ts';
import type { Stream } from './state.ts';
import type { Turn } from './turn.ts';

/** The stream takes what is said from here on. */
export function goLive(turn: Turn, stream: Stream): void {
  turn.enter('live');
  turn.set({ problem: null });
  if (stream.liveAt === null) beginSession(turn, stream);
  const { orders, lastVoiceAt } = turn.state;
  if (orders.standbyAfterMs > 0) {
    turn.arm('standby', Math.max(turn.now, lastVoiceAt + orders.standbyAfterMs));
  }
  pump(turn);
}

function beginSession(turn: Turn, stream: Stream): void {
  const { reason, settings, hold } = turn.state;
  const { session, streamHost: stream_host } = stream.lease.grant;
  turn.set({
    refusedTokens: 0,
    approach: null,
    stream: { ...stream, liveAt: turn.now },
    hold: freshEars(hold),
  });
  // A session in place of another one begins in the same silence; any other gives somebody time to speak.
  const { timers } = turn.state;
  if (reason !== 'rollover') turn.set({ lastVoiceAt: turn.now });
  turn.count('sessions');
  turn.notify('session_started', { session, stream_host, reason });
  if (reason === 'max_duration' || reason === 'rollover') {
    turn.count('rollovers');
    turn.notify('rollover', { session });
  }
  // Sessions shorter than the proof would never prove anything: one that ran to its rollover counts with the next.
  if (timers.stable === null) turn.arm('stable', turn.now + settings.stableMs);
  turn.arm('ping', turn.now + settings.pingMs, settings.pingSlackMs);
  if (stream.limitAt !== null) {
    // A limit that is nearer than the lead leaves half of the time for the session itself.
    const halfWay = turn.now + Math.max(0, stream.limitAt - turn.now) / 2;
    turn.arm('roll', Math.max(halfWay, stream.limitAt - settings.rollLeadMs));
  }
}
