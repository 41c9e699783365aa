import {
  changePath,
  fallBack,
  modeInForce,
  observeEcho,
  reorder,
  reviewFallback,
  tailOf,
} from '../../audio/echo-guard.ts';
import type { EchoMeasure } from '../../audio/echo-measure.ts';
import type { EchoMode } from '../../uplink/gate.ts';
import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';

/** How the lane keeps its loudspeaker out of the translation just now. */
export function echoInForce(state: LaneState): { mode: EchoMode; tailMs: number } {
  const { echo, options, settings, captureFindings } = state;
  const mode = modeInForce(echo, options.echo, playedMs(state));
  return {
    // What was cut off at full scale is no echo of anything: no filter takes it out.
    mode: mode === 'cancel' && captureFindings.includes('clipping') ? 'half-duplex' : mode,
    tailMs: tailOf(echo, settings.echoTailMs),
  };
}

/** The loudspeaker was recognised in the microphone, or in what the canceller left of it. */
export function onEchoHeard(
  context: StepContext,
  heard: 'microphone' | 'cancelled',
  measure: EchoMeasure,
): void {
  const { options, echo } = context.state;
  const { mode } = echoInForce(context.state);
  const given = { wanted: options.echo, heard, playedMs: playedMs(context.state), now: context.now };
  const { guard, tell, fellBack } = observeEcho(echo, measure, given);
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
  if (echo.fallback === null) sayFallback(context);
  else context.emit({ type: 'cancel_echo', on: false });
}

/** The canceller has begun, works, has found the echo somewhere else, or can't. */
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
  const sentence = `echo cannot be cancelled (${message}): half-duplex from now on`;
  context.set({ echo: fallBack(echo, 'canceller', options.echo, sentence, context.now) });
  if (fallback === null) sayFallback(context);
  else context.emit({ type: 'cancel_echo', on: false });
}

/** What the canceller knows of the way to the microphone may be wrong: the gate closes until it has learnt again. */
export function onPathChanged(context: StepContext): void {
  const { state } = context;
  context.set({ echo: changePath(state.echo, playedMs(state)) });
}

/** What did not hold is tried again, in the mode that the options have now. @param before the mode that they had */
export function retryEcho(context: StepContext, before: EchoMode): void {
  const { echo, options } = context.state;
  const cancelled = before === 'cancel' && (echo.fallback === null || echo.fallback.onTrial);
  const cancels = options.echo === 'cancel';
  context.set({ echo: reorder(echo) });
  if (cancels === cancelled) return;
  context.set({ echo: { ...context.state.echo, cancelsSince: null } });
  context.emit({ type: 'cancel_echo', on: cancels });
}

/** A lane that fell back finds out by itself when cancelling holds again: behind its closed gate, where nobody hears it. */
export function reviewEcho(context: StepContext): void {
  const { echo } = context.state;
  if (echo.fallback === null) return;
  const review = reviewFallback(echo, { playedMs: playedMs(context.state), now: context.now });
  if (review === null) return;
  context.set({ echo: review.guard });
  if (review.step === 'try') context.emit({ type: 'cancel_echo', on: true });
  else context.notify('echo_restored', { mode: 'cancel' });
}

function sayFallback(context: StepContext): void {
  const { fallback } = context.state.echo;
  if (fallback === null) return;
  const { reason, from, message } = fallback;
  if (from === 'cancel') context.emit({ type: 'cancel_echo', on: false });
  context.notify('echo_fallback', { reason, from, mode: 'half-duplex', message });
}

function playedMs({ playout, settings }: LaneState): number {
  return playout.writtenBytes / settings.playoutBytesPerMs;
}
