import type { LeftOut } from '../../uplink/replay/left-out.ts';
import { addSpeech, NO_SPEECH, type SpeechCount } from '../../uplink/replay/speech-count.ts';
import type { LossCause } from '../loss-cause.ts';
import { loseSent } from '../sound/speech-lost.ts';
import type { StepContext } from '../step-context.ts';

/** Less than this of speech is a noise of which the service made a word: about two seconds of which the lane is sure. */
const LEAST_CHUNKS = 6;
/** So is less than this of which it is not, in however many words. */
const LEAST_WRITTEN = { sure: 1, possible: 9, letters: 20 } as const;
/** No noise makes a service write that much in so little time: the lane need not be sure of any voice. */
const LEAST_TEXT = { possible: 9, letters: 40 } as const;

/**
 * The service has begun to write down what was said, and left it out: it is counted as lost, and told. That it was speech the
 * voice detector must be sure of, or the service by several words; how much of it was, neither need be.
 * @param cause another one of a stream that has fallen silent
 * @returns what was counted
 */
export function countLeftOut(
  context: StepContext,
  leftOut: readonly LeftOut[],
  cause: LossCause = 'left_out',
): SpeechCount {
  const lost = leftOut.filter(isSpeech);
  if (lost.length === 0) return NO_SPEECH;
  const speech = lost.map((one) => one.speech).reduce(addSpeech);
  // It may have waited long before it was sent, and the texts came when it was.
  const { possibleSince: from, until: to } = speech;
  loseSent(context, speech.possible, { cause, from: from ?? context.now, to: to ?? context.now });
  return speech;
}

/** Whether what a service has written down of it makes it speech. What it has written nothing of has been judged before. */
export function isSpeech({
  speech: { sure, possible },
  letters,
}: Pick<LeftOut, 'speech' | 'letters'>): boolean {
  if (letters === 0 || sure >= LEAST_CHUNKS) return true;
  if (possible >= LEAST_TEXT.possible && letters >= LEAST_TEXT.letters) return true;
  return sure >= LEAST_WRITTEN.sure && possible >= LEAST_WRITTEN.possible && letters >= LEAST_WRITTEN.letters;
}
