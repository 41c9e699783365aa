import type { EchoMode } from '../../../sound/echo-guard.ts';
import {
  changePath,
  fallBack,
  modeInForce,
  observeEcho,
  reorder,
  reviewFallback,
  tailOf,
} from '../../../sound/echo-guard.ts';
import type { EchoMeasure } from '../../../sound/echo-measure.ts';
import type { LaneState } from '../state/lane-state.ts';
import type { StepContext } from '../state/step-context.ts';

/** The echo mode in force, and the time for which the gate stays closed after playback. */
export function echoInForce(state: LaneState): { mode: EchoMode; tailMs: number } {
  const { echo, options, settings, captureFindings } = state;
  const mode = modeInForce(echo, options.echo, playedMs(state));
  return {
    // No filter removes an echo that clips.
    mode: mode === 'cancel' && captureFindings.includes('clipping') ? 'half-duplex' : mode,
    tailMs: tailOf(echo, settings.echoTailMs),
  };
}

/** The loudspeaker was recognised in the microphone, or in the canceller's output. */
export function onEchoHeard(
  context: StepContext,
  heard: 'microphone' | 'cancelled',
  measure: EchoMeasure,
): void {
  const { options, echo } = context.state;
  const { mode } = echoInForce(context.state);
  const echoFacts = { wanted: options.echo, heard, playedMs: playedMs(context.state), now: context.now };
  const { guard, tell, fellBack } = observeEcho(echo, measure, echoFacts);
  context.set({ echo: guard });
  if (tell) {
    const { delayMs, gainDb, confidence } = measure;
    context.notify('echo_detected', {
      mode,
      delay_ms: Math.round(delayMs),
      gain_db: Math.round(gainDb * 10) / 10,
      confidence: Math.round(confidence * 100) / 100,
      heard_in: heard,
    });
  }
  if (!fellBack) return;
  if (echo.fallback === null) reportFallback(context);
  else context.emit({ type: 'cancel_echo', on: false });
}

/** The canceller has started, works, has found the echo at another delay, or has failed. */
export function onCanceller(
  context: StepContext,
  status: 'starting' | 'ready' | 'found' | 'failed',
  message: string,
): void {
  const { echo, options } = context.state;
  const { fallback } = echo;
  if (options.echo !== 'cancel' || (fallback !== null && !fallback.onTrial)) return;
  if (status === 'found') return onPathChanged(context);
  if (status !== 'failed') {
    context.set({ echo: { ...echo, cancelsSince: status === 'ready' ? playedMs(context.state) : null } });
    return;
  }
  const sentence = `cannot cancel the echo (${message}): half-duplex from now on`;
  context.set({ echo: fallBack(echo, 'canceller', options.echo, sentence, context.now) });
  if (fallback === null) reportFallback(context);
  else context.emit({ type: 'cancel_echo', on: false });
}

/** The path from the loudspeaker to the microphone may have changed: the gate closes until the canceller has learned it. */
export function onPathChanged(context: StepContext): void {
  const { state } = context;
  context.set({ echo: changePath(state.echo, playedMs(state)) });
}

/** Ends a fallback and tries the ordered mode. @param before the previously ordered mode */
export function retryEcho(context: StepContext, before: EchoMode): void {
  const { echo, options } = context.state;
  const cancelled = before === 'cancel' && (echo.fallback === null || echo.fallback.onTrial);
  const cancels = options.echo === 'cancel';
  context.set({ echo: reorder(echo) });
  if (cancels === cancelled) return;
  context.set({ echo: { ...context.state.echo, cancelsSince: null } });
  context.emit({ type: 'cancel_echo', on: cancels });
}

/** During a fallback: tests from time to time whether the canceller works again, with the gate closed. */
export function reviewEcho(context: StepContext): void {
  const { echo } = context.state;
  if (echo.fallback === null) return;
  const review = reviewFallback(echo, { playedMs: playedMs(context.state), now: context.now });
  if (review === null) return;
  context.set({ echo: review.guard });
  if (review.step === 'try') context.emit({ type: 'cancel_echo', on: true });
  else context.notify('echo_restored', { mode: 'cancel' });
}

function reportFallback(context: StepContext): void {
  const { fallback } = context.state.echo;
  if (fallback === null) return;
  const { reason, from, message } = fallback;
  if (from === 'cancel') context.emit({ type: 'cancel_echo', on: false });
  context.notify('echo_fallback', { reason, from, mode: 'half-duplex', message });
}

/** Sound given to the loudspeaker so far; in a room, the lesser of the two lanes' amounts: the canceller must learn both. */
function playedMs({ playout, settings, room }: LaneState): number {
  const own = ownPlayedMs({ playout, settings });
  return room === null ? own : Math.min(own, room.playedMs);
}

/** Sound given to the lane's own loudspeaker so far. */
export function ownPlayedMs({ playout, settings }: Pick<LaneState, 'playout' | 'settings'>): number {
  return playout.writtenBytes / settings.playoutBytesPerMs;
}
