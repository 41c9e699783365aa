import { isPlaying } from '../../playout/playout.ts';
import { bytesOf, OWN_STREAM } from '../../playout/sentences.ts';
import { dropSpeech } from '../losses/speech-dropped.ts';
import type { StepContext } from '../state/step-context.ts';
import { echoInForce } from './echo-rules.ts';
import { silenceLoudspeaker } from './playback-rules.ts';

/** Time without a voice (ms) after which the translation is turned up again: a breath takes about one chunk, and the next may be late. */
const SILENT_FOR_MS = 700;

/** A visitor speaks: turns the translation down if the echo canceller lets both speak at once. */
export function duckUnder(context: StepContext): void {
  if (echoInForce(context.state).mode !== 'cancel') return;
  context.arm('duck', context.now + SILENT_FOR_MS);
  if (context.state.ducked) return bargeIn(context);
  context.set({ ducked: true });
  context.emit({ type: 'duck', on: true });
}

/**
 * The visitor goes on speaking, so it was not a cough: ends the translation if `bargeIn` is `flush`. That happens once for each
 * time that a visitor begins to speak, because later translations are for other listeners.
 */
function bargeIn(context: StepContext): void {
  const { options, bargedIn, playout } = context.state;
  if (bargedIn) return;
  context.set({ bargedIn: true });
  if (options.bargeIn !== 'flush' || !isPlaying(playout, context.now)) return;
  silenceLoudspeaker(context, 'barge_in');
  const waiting = playout.utterances.filter(({ stream }) => stream !== OWN_STREAM);
  const bytes = waiting.reduce((sum, one) => sum + bytesOf(one), 0);
  dropSpeech(context, 'barge_in', bytes / context.state.settings.playoutBytesPerMs, waiting.length);
}

/** Turns the translation up again, after a pause of speech or at a stop. */
export function unduck(context: StepContext): void {
  context.disarm('duck');
  if (context.state.bargedIn) context.set({ bargedIn: false });
  if (!context.state.ducked) return;
  context.set({ ducked: false });
  context.emit({ type: 'duck', on: false });
}
