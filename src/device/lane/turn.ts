import { isPlaying, unsounded } from '../playout/playout.ts';
import { bytesOf, OWN_STREAM, type Utterance } from '../playout/sentences.ts';
import { dropSpeech } from './losses/speech-dropped.ts';
import { answerKey } from './sound/earcons.ts';
import { feedLoudspeaker, runsOutMs, silenceLoudspeaker } from './sound/playback-rules.ts';
import type { Speaker } from './state/lane-options.ts';
import type { StepContext } from './state/step-context.ts';
import { opensByKey, turnsByKey } from './two-way/two-way.ts';

/** How long the microphone stays open after the key is released (ms), for a last syllable. */
export const OPEN_AFTER_MS = 300;

/**
 * A key says who speaks, or opens the microphone. Whoever presses it wants to speak now: playback stops, and a chime confirms the press.
 * @param held false: the key was released
 */
export function turn(context: StepContext, speaker: Speaker, held: boolean): void {
  if (!turnsByKey(context.state) && !opensByKey(context.state)) return;
  if (!held) return release(context);
  const { twoWay } = context.state;
  const openUntil = Number.POSITIVE_INFINITY;
  context.set({ twoWay: { ...twoWay, speaker, turnedAt: context.now, openUntil } });
  interrupt(context);
  if (context.state.options.earcons) answerKey(context, speaker === 'source' ? 'turn_source' : 'turn_target');
}

function release(context: StepContext): void {
  const { twoWay } = context.state;
  if (twoWay.openUntil !== Number.POSITIVE_INFINITY) return;
  context.set({ twoWay: { ...twoWay, openUntil: context.now + OPEN_AFTER_MS } });
  feedLoudspeaker(context);
}

/** If a held key opens the microphone, sentences that have not begun wait for its release, so as not to play over the speaker. */
function interrupt(context: StepContext): void {
  const { utterances } = context.state.playout;
  const isKept = ({ begun, stream }: Utterance): boolean =>
    opensByKey(context.state) && !begun && stream !== OWN_STREAM;
  const kept = utterances.filter(isKept);
  const keptBytes = kept.reduce((sum, one) => sum + bytesOf(one), 0);
  put(
    context,
    utterances.filter((one) => !kept.includes(one)),
    -keptBytes,
  );
  endSpeech(context);
  put(context, [...context.state.playout.utterances, ...kept], keptBytes);
}

function put(context: StepContext, utterances: readonly Utterance[], bytes: number): void {
  const { playout } = context.state;
  context.set({ playout: { ...playout, utterances, queuedBytes: playout.queuedBytes + bytes } });
}

function endSpeech(context: StepContext): void {
  const { playout, settings } = context.state;
  if (!isPlaying(playout, context.now)) return;
  const from = context.now + runsOutMs(context.state);
  const { ms, sentences } = unsounded(playout, from, settings.playoutBytesPerMs);
  dropSpeech(context, 'barge_in', ms, sentences);
  silenceLoudspeaker(context, 'barge_in');
}
