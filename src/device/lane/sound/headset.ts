import type { Heard } from '../../playout/heard.ts';
import { cutOutput, forgetAudible, heardLately, writtenAfter } from '../../playout/playout.ts';
import { bytesOf, OWN_STREAM } from '../../playout/sentences.ts';
import { before } from '../../playout/timeline.ts';
import { dropSpeech } from '../losses/speech-dropped.ts';
import type { LaneState } from '../state/lane-state.ts';
import type { StepContext } from '../state/step-context.ts';

/** Private listening: while the plug of a headset is in, all sound goes to the headset alone. */

/**
 * Volume (percent) after each plugging, -36 dB: a headphone output of 1 V then makes 63 dB(A) of speech in the most sensitive
 * headphones of EN 50332-2 (94 dB(A) at 75 mV). EN 301 549 (5.1.3.13) allows 65 dB(A) at the beginning of each use.
 */
export const SAFE_PERCENT = 25;

/** The plug went in or out. The output in use falls silent at once, and the other one opens. */
export function onPlug(context: StepContext, isIn: boolean): void {
  const { playout, headset, playbackLost, settings } = context.state;
  if ((headset !== null) === isIn) return;
  const unheardMs = playbackLost ? 0 : writtenAfter(playout, context.now);
  // The rest of a sentence is private: the loudspeaker begins with the next one.
  const ended = isIn ? [] : playout.utterances.filter(({ begun, stream }) => begun && stream !== OWN_STREAM);
  const endedMs = ended.reduce((sum, one) => sum + bytesOf(one), 0) / settings.playoutBytesPerMs;
  context.emit({ type: 'flush_playback' });
  context.disarm('playout');
  const cut = cutOutput(playout, context.now, isIn);
  context.set({ playout: headset === null ? cut : forgetAudible(cut, headset.since) });
  dropSpeech(context, 'headset', unheardMs + endedMs, 1);
  switchOutput(context, isIn);
}

/** Orders the output that this plug asks for. */
export function switchOutput(context: StepContext, isIn: boolean): void {
  const { volume } = context.state.options;
  context.set({ headset: isIn ? { since: context.now, volume: SAFE_PERCENT } : null, isSwitching: true });
  context.emit({
    type: 'use_output',
    output: isIn ? 'headset' : 'loudspeaker',
    percent: isIn ? SAFE_PERCENT : volume,
  });
}

/** Volume of the output in use (percent). */
export function volumeInUse({ headset, options }: Pick<LaneState, 'headset' | 'options'>): number {
  return headset?.volume ?? options.volume;
}

/** When the lane was heard in the room lately: nothing of a headset's sound is in the air. */
export function heardInRoom({ playout, headset }: Pick<LaneState, 'playout' | 'headset'>): readonly Heard[] {
  const heard = heardLately(playout);
  return headset === null ? heard : before(heard, headset.since);
}
