import type { Cause } from '../../retry/recovery.ts';
import { writeOff } from '../../uplink/backlog.ts';
import type { LeftOut } from '../../uplink/replay/interim.ts';
import { NO_SPEECH, type SpeechCount } from '../../uplink/replay/record.ts';
import { addSpeech } from '../../uplink/replay/replay-log.ts';
import { noteLeftOut } from '../sound/speech-lost.ts';
import type { StepContext } from '../step-context.ts';

/** Less than this of speech is a noise of which the service made a word: about two seconds of which the lane is sure. */
const LEAST_CHUNKS = 6;
/** So is less than this of which it is not, in however many words. */
const LEAST_WRITTEN = { sure: 1, possible: 9, letters: 20 } as const;
/** No noise makes a service write so many words in so little time: the lane need not be sure of any voice. */
const LEAST_TEXT = { possible: 9, letters: 40 } as const;

/**
 * The service has begun to write down what was said, and left it out: it is counted as lost, and told. That it was speech the
 * voice detector must be sure of, or the service by several words; how much of it was, neither need be.
 * @param endedBy of a stream that ends: one that has fallen silent leaves nothing out, it is lost with all that was said to it
 * @returns what was counted
 */
export function countLeftOut(
  context: StepContext,
  leftOut: readonly LeftOut[],
  endedBy: Cause | null = null,
): SpeechCount {
  const lost = leftOut.filter(isSpeech);
  const [first] = lost;
  if (first === undefined) return NO_SPEECH;
  const speech = lost.map((one) => one.speech).reduce(addSpeech);
  context.set({ backlog: writeOff(context.state.backlog, speech.possible) });
  if (endedBy !== 'silent_service') noteLeftOut(context, first.since, Math.max(...lost.map(({ at }) => at)));
  return speech;
}

function isSpeech({ speech: { sure, possible }, letters }: LeftOut): boolean {
  if (sure >= LEAST_CHUNKS) return true;
  if (possible >= LEAST_TEXT.possible && letters >= LEAST_TEXT.letters) return true;
  return sure >= LEAST_WRITTEN.sure && possible >= LEAST_WRITTEN.possible && letters >= LEAST_WRITTEN.letters;
}
