import type { Piece } from '../../uplink/replay/piece.ts';
import { owedSpeech, PAUSE_MS } from '../../uplink/replay/replay-log.ts';
import { lessSpeech, NO_SPEECH, type SpeechCount } from '../../uplink/replay/speech-count.ts';
import type { DoubtfulSpeech } from '../observations.ts';
import { loseSent } from '../sound/speech-lost.ts';
import type { StepContext } from '../step-context.ts';
import { isSpeech } from './left-out.ts';
import { hearingStream, type Stream } from './session.ts';
import { ENDS_FORGOTTEN_MS, isDoubtful } from './silence.ts';
import { isVoiceExpected } from './spoken-voice.ts';

/**
 * What sessions were sent, and is too old to be said again, is lost where they have not shown for long that they understand
 * anything. After several of them in a row it may as well be noise that the voice detector takes for speech: then it is kept
 * in mind until a session understands something. If that one was sent such sound itself for long, and has left it unanswered,
 * it was noise. If not, the sessions before it were dead, and what they took was speech.
 */

/** Less than this of speech is a cough: about three seconds of which the voice detector is sure. */
const LEAST_UNHEARD_CHUNKS = 10;
/** What a stream owes that is stopped: less than this, about a second, is the end of a sentence. */
const LEAST_OWED_CHUNKS = 3;
/** The same of what only may be speech, where somebody has just spoken of whom it is seldom sure. */
const LEAST_EXPECTED_CHUNKS = 30;

/** That it was speech at all the voice detector must be sure of; how much of it was, it need not. */
function isLikelySpeech({ state, now }: StepContext, { sure, possible }: SpeechCount): boolean {
  if (sure >= LEAST_UNHEARD_CHUNKS) return true;
  return isVoiceExpected(state, now) && possible >= LEAST_EXPECTED_CHUNKS;
}

/**
 * A stream ends that has left this unanswered: it is lost, and told at once, or when it is no more in doubt.
 * @param isProven it is left because it has left so much speech unanswered
 */
export function countUnheard(
  context: StepContext,
  stream: Stream,
  lost: SpeechCount,
  isProven = false,
): void {
  const { state, now } = context;
  if (!isProven && !isLikelySpeech(context, lost) && !goesOn(lost, owedSpeech(stream.replay))) return;
  const isExpected = isVoiceExpected(state, now);
  const chunks = isExpected ? lost.possible : lost.likely;
  if (chunks === 0) return;
  const from = (isExpected ? lost.possibleSince : lost.likelySince) ?? now;
  const to = lost.until ?? now;
  if (tookInDoubt(context, stream)) keepInMind(context, { chunks, from, to });
  else loseSent(context, chunks, { cause: 'silent_service', from, to });
}

/** Somebody who has spoken for longer than anything is remembered: what is forgotten is the beginning of what is not. */
function goesOn(lost: SpeechCount, owed: SpeechCount): boolean {
  if (owed.sure < LEAST_UNHEARD_CHUNKS || lost.until === null || owed.possibleSince === null) return false;
  return Math.abs(owed.possibleSince - lost.until) < PAUSE_MS;
}

/** A stream hears no more, and may end in order: what it took in doubt is not forgotten with it. */
export function keepDoubtful(context: StepContext, stream: Stream): void {
  if (!tookInDoubt(context, stream)) return;
  countUnheard(context, stream, stream.replay.unheard);
  context.patch(stream, { replay: { ...stream.replay, unheard: NO_SPEECH } });
}

/**
 * A stream is to end by the owner's word: what it had left unanswered for long before that is told. Returns the stream as it is
 * then.
 */
export function tellUnheard<S extends Stream>(context: StepContext, stream: S): S {
  if (tookInDoubt(context, stream)) return stream;
  countUnheard(context, stream, stream.replay.unheard);
  return context.patch(stream, { replay: { ...stream.replay, unheard: NO_SPEECH } });
}

/**
 * A stream is over that was ended by the owner's word: what it has not spoken by then is lost. That the service has understood it,
 * or written down several words of it, makes it speech; of all else the voice detector must be sure.
 */
export function loseOwed(context: StepContext, stream: Stream): void {
  const { replay } = stream;
  const written = replay.interims.filter(isSpeech);
  const isWritten = ({ sentence, fromMs }: Piece): boolean =>
    sentence !== null || written.some((one) => fromMs >= one.fromMs && fromMs < one.countedMs);
  const understood = owedSpeech({ ...replay, pieces: replay.pieces.filter(isWritten) });
  const owed = owedSpeech(replay);
  const rest = lessSpeech(owed, understood);
  const isSure = rest.sure >= LEAST_OWED_CHUNKS && !tookInDoubt(context, stream);
  const chunks = understood.possible + (isSure ? rest.possible : 0);
  if (chunks < LEAST_OWED_CHUNKS) return;
  const { possibleSince: from, until: to } = isSure ? owed : understood;
  loseSent(context, chunks, { cause: 'stopped', from: from ?? context.now, to: to ?? context.now });
}

/** Whether enough sessions had ended for their silence when it began to hear. */
function tookInDoubt({ state, now }: StepContext, { liveAt }: Stream): boolean {
  return isDoubtful(state.silentEnds, liveAt ?? now);
}

function keepInMind(context: StepContext, more: DoubtfulSpeech): void {
  const known = recent(context);
  const chunks = more.chunks + (known?.chunks ?? 0);
  const from = Math.min(more.from, known?.from ?? more.from);
  context.set({ doubtful: { chunks, from, to: Math.max(more.to, known?.to ?? more.to) } });
}

/** What was said so long ago is not told any more. */
function recent({ state: { doubtful }, now }: StepContext): DoubtfulSpeech | null {
  return doubtful !== null && now - doubtful.to < ENDS_FORGOTTEN_MS ? doubtful : null;
}

/** A stream has understood something: what those before it took was speech, or else noise. */
export function settleDoubtful(context: StepContext, stream: Stream): void {
  const { doubtful, session } = context.state;
  if (doubtful === null) return;
  const known = recent(context);
  context.set({ doubtful: null });
  // One that hears no more is of those before: it was not dead, and what it took was noise to it.
  const isNew = hearingStream(session)?.id === stream.id;
  if (known === null || !isNew || isLikelySpeech(context, stream.replay.unheard)) return;
  const { chunks, from, to } = known;
  loseSent(context, chunks, { cause: 'silent_service', from, to }, 'apart');
}
