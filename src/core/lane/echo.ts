import type { EchoMeasure } from '../audio/echo-detector.ts';
import { fallBack, modeInForce, reorder, sight, tailOf } from '../audio/echo-guard.ts';
import type { EchoMode } from '../gate.ts';
import type { LaneState } from './state.ts';
import type { Turn } from './turn.ts';

/** How the lane keeps its loudspeaker out of the translation just now. */
export function echoInForce(state: LaneState): { mode: EchoMode; tailMs: number } {
  const { echo, orders, settings } = state;
  return {
    mode: modeInForce(echo, orders.echo, playedMs(state)),
    tailMs: tailOf(echo, settings.echoTailMs),
  };
}

/** The loudspeaker was recognised in the microphone, or in what the canceller left of it. */
export function onEchoHeard(turn: Turn, heard: 'microphone' | 'cancelled', measure: EchoMeasure): void {
  const { orders, echo } = turn.state;
  const { mode } = echoInForce(turn.state);
  const given = { wanted: orders.echo, heard, playedMs: playedMs(turn.state), now: turn.now };
  const { guard, tell, fellBack } = sight(echo, measure, given);
  turn.set({ echo: guard });
  if (tell) {
    const { delayMs, gainDb, confidence } = measure;
    turn.notify('echo_detected', {
      mode,
      delay_ms: Math.round(delayMs),
      gain_db: Math.round(gainDb * 10) / 10,
      confidence: Math.round(confidence * 100) / 100,
      heard_in: heard,
    });
  }
  if (fellBack) sayFallback(turn);
}

/** The canceller has begun, works, or can't. */
export function onCanceller(turn: Turn, status: 'starting' | 'ready' | 'failed', message: string): void {
  const { echo, orders } = turn.state;
  if (orders.echo !== 'cancel' || echo.fallback !== null) return;
  if (status !== 'failed') {
    turn.set({ echo: { ...echo, cancelsSince: status === 'ready' ? playedMs(turn.state) : null } });
    return;
  }
  const sentence = `echo can not be cancelled (${message}): half-duplex from now on`;
  turn.set({ echo: fallBack(echo, 'canceller', orders.echo, sentence) });
  sayFallback(turn);
}

/** The operator's word on the echo mode: what did not hold is tried anew, even if it is the one that was wanted before. */
export function orderEcho(turn: Turn, mode: EchoMode): void {
  const { orders } = turn.state;
  turn.set({ orders: { ...orders, echo: mode } });
  tryAnew(turn, orders.echo);
}

/** Orders have changed. @param before the ones that were in force */
export function onEchoOrders(turn: Turn, before: { echo: EchoMode }): void {
  if (before.echo !== turn.state.orders.echo) tryAnew(turn, before.echo);
}

function tryAnew(turn: Turn, before: EchoMode): void {
  const { echo, orders } = turn.state;
  const cancelled = before === 'cancel' && echo.fallback === null;
  const cancels = orders.echo === 'cancel';
  turn.set({ echo: reorder(echo) });
  if (cancels === cancelled) return;
  turn.set({ echo: { ...turn.state.echo, cancelsSince: null } });
  turn.emit({ type: 'cancel_echo', on: cancels });
}

function sayFallback(turn: Turn): void {
  const { fallback } = turn.state.echo;
  if (fallback === null) return;
  const { reason, from, message } = fallback;
  if (from === 'cancel') turn.emit({ type: 'cancel_echo', on: false });
  turn.notify('echo_fallback', { reason, from, mode: 'half-duplex', message });
}

function playedMs({ playout, settings }: LaneState): number {
  return playout.writtenBytes / settings.playoutBytesPerMs;
}
