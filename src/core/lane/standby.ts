import type { HeldChunk } from '../hold.ts';
import { remember } from '../hold.ts';
import { isPlaying } from '../playout.ts';
import { FORGOTTEN_AFTER_MS, owesSpeech } from '../replay/log.ts';
import { surrender } from './ending.ts';
import { dismiss } from './retiring.ts';
import type { LaneOrders } from './settings.ts';
import { acquire } from './token.ts';
import type { Turn } from './turn.ts';

/** So many of the last chunks must be speech to wake the lane: a slammed door is one. */
const WAKE = { speech: 2, of: 3 } as const;
/** Looked at again so soon while the lane may not sleep yet. */
const SLEEP_CHECK_MS = 1000;

/** Nobody may have spoken for long enough to give the stream up. */
export function onStandbyTimer(turn: Turn): void {
  const { phase, stream, orders, lastVoiceAt, playout, retiring, hold } = turn.state;
  if (phase === 'rolling') return turn.arm('standby', turn.now + SLEEP_CHECK_MS);
  if (phase !== 'live' || stream === null || orders.standbyAfterMs === 0) return;
  const dueAt = lastVoiceAt + orders.standbyAfterMs;
  if (turn.now < dueAt) return turn.arm('standby', dueAt);
  // What was said before the silence may still have to be sent, spoken or heard.
  // A loud room fills the log for ever; only what may have been speech is waited for.
  const isAwaited = turn.now - lastVoiceAt < FORGOTTEN_AFTER_MS && owesSpeech(stream.replay);
  const busy = hold.chunks.length > 0 || isAwaited;
  if (busy || retiring !== null || isPlaying(playout, turn.now))
    return turn.arm('standby', turn.now + SLEEP_CHECK_MS);
  turn.disarm('ping', 'silence', 'stable', 'pace', 'roll');
  turn.set({ stream: null, starved: false, failures: 0 });
  // A token that a try at a rollover left over would be too old by the time that somebody speaks.
  surrender(turn);
  turn.enter('standby');
  dismiss(turn, stream);
  turn.count('standbys');
  turn.notify('standby', {});
}

/** What is heard in standby is kept for a moment; a voice wakes the lane. */
export function hearInStandby(turn: Turn, chunk: HeldChunk, isSpeech: boolean): void {
  const { hold, settings } = turn.state;
  const lately = [...turn.state.heardLately, isSpeech].slice(-WAKE.of);
  turn.set({ hold: remember(hold, chunk, Math.ceil(settings.prerollMs / settings.chunkMs)) });
  turn.set({ heardLately: lately });
  if (lately.filter(Boolean).length >= WAKE.speech) wake(turn);
}

/** Somebody speaks, or the operator wants a stream: what was heard last goes with it. */
export function wake(turn: Turn): void {
  turn.set({ heardLately: [], reason: 'start' });
  turn.notify('wake', {});
  acquire(turn);
}

/** Whether a lane with these orders sleeps at all, and waits for no voice to begin with. */
export function neverSleeps({ start, standbyAfterMs }: LaneOrders): boolean {
  return standbyAfterMs === 0 && start !== 'voice';
}
