import { echoInForce } from './echo.ts';
import type { Turn } from './turn.ts';

/** A visitor who takes a breath has not finished: one chunk without speech, and the next one may be a little late. */
const SILENT_FOR_MS = 700;

/** Somebody speaks: where both can speak at once, the translation goes down, so that nobody has to shout against it. */
export function duckUnder(turn: Turn): void {
  if (echoInForce(turn.state).mode !== 'cancel') return;
  turn.arm('duck', turn.now + SILENT_FOR_MS);
  if (turn.state.ducked) return;
  turn.set({ ducked: true });
  turn.emit({ type: 'duck', on: true });
}

/** Nobody has spoken for a while, or it is of no interest any more. */
export function unduck(turn: Turn): void {
  turn.disarm('duck');
  if (!turn.state.ducked) return;
  turn.set({ ducked: false });
  turn.emit({ type: 'duck', on: false });
}
