import { dropSpeech } from '../../losses/speech-dropped.ts';
import { isPlaying } from '../../playout/playout.ts';
import { OWN_STREAM } from '../../playout/sentences.ts';
import type { StepContext } from '../step-context.ts';
import { echoInForce } from './echo.ts';
import { silenceLoudspeaker } from './playback.ts';

/** A visitor who takes a breath has not finished: one chunk without speech, and the next one may be a little late. */
const SILENT_FOR_MS = 700;

/** Somebody speaks: where both can speak at once, the translation goes down, so that nobody has to shout against it. */
export function duckUnder(context: StepContext): void {
  if (echoInForce(context.state).mode !== 'cancel') return;
  context.arm('duck', context.now + SILENT_FOR_MS);
  if (context.state.ducked) return bargeIn(context);
  context.set({ ducked: true });
  context.emit({ type: 'duck', on: true });
}

/**
 * It was no cough: who means to interrupt need not hear the rest. What is said later is for others to hear, so this
 * happens once for each time that somebody begins to speak.
 */
function bargeIn(context: StepContext): void {
  const { options, bargedIn, playout } = context.state;
  if (bargedIn) return;
  context.set({ bargedIn: true });
  if (options.bargeIn !== 'flush' || !isPlaying(playout, context.now)) return;
  silenceLoudspeaker(context, 'barge_in');
  const ms = playout.queuedBytes / context.state.settings.playoutBytesPerMs;
  const sentences = playout.utterances.filter(({ stream }) => stream !== OWN_STREAM).length;
  dropSpeech(context, 'barge_in', ms, sentences);
}

/** Nobody has spoken for a while, or it is of no interest any more. */
export function unduck(context: StepContext): void {
  context.disarm('duck');
  if (context.state.bargedIn) context.set({ bargedIn: false });
  if (!context.state.ducked) return;
  context.set({ ducked: false });
  context.emit({ type: 'duck', on: false });
}
