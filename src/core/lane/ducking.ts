import { OWN_STREAM } from '../playout/sentences.ts';
import { isPlaying } from '../playout.ts';
import { echoInForce } from './echo.ts';
import { silenceLoudspeaker } from './speaking.ts';
import type { Turn } from './turn.ts';

/** A visitor who takes a breath has not finished: one chunk without speech, and the next one may be a little late. */
const SILENT_FOR_MS = 700;

/** Somebody speaks: where both can speak at once, the translation goes down, so that nobody has to shout against it. */
export function duckUnder(turn: Turn): void {
  if (echoInForce(turn.state).mode !== 'cancel') return;
  turn.arm('duck', turn.now + SILENT_FOR_MS);
  if (turn.state.ducked) return bargeIn(turn);
  turn.set({ ducked: true });
  turn.emit({ type: 'duck', on: true });
}

/**
 * It was no cough: who means to interrupt need not hear the rest. What is said later is for others to hear, so this
 * happens once for each time that somebody begins to speak.
 */
function bargeIn(turn: Turn): void {
  const { orders, bargedIn, playout } = turn.state;
  if (bargedIn) return;
  turn.set({ bargedIn: true });
  if (orders.bargeIn !== 'flush' || !isPlaying(playout, turn.now)) return;
  silenceLoudspeaker(turn);
  turn.notify('speech_dropped', {
    why: 'barge_in',
    sentences: playout.utterances.filter(({ stream }) => stream !== OWN_STREAM).length,
    dropped_ms: Math.round(playout.queuedBytes / turn.state.settings.playoutBytesPerMs),
    waiting_ms: 0,
  });
}

/** Nobody has spoken for a while, or it is of no interest any more. */
export function unduck(turn: Turn): void {
  turn.disarm('duck');
  if (turn.state.bargedIn) turn.set({ bargedIn: false });
  if (!turn.state.ducked) return;
  turn.set({ ducked: false });
  turn.emit({ type: 'duck', on: false });
}
