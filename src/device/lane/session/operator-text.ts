import type { Spoke } from '../../../ports/stream.ts';
import { isPlaying } from '../../playout/playout.ts';
import { bytesOf } from '../../playout/sentences.ts';
import { owesSpeech, owesSpeechSince } from '../replay/owed.ts';
import { PAUSE_MS } from '../replay/replay-log.ts';
import { OTHER_SOUND_MS } from '../replay/spoken.ts';
import { playSound } from '../sound/playback-rules.ts';
import type { SaidOutcome } from '../state/lane-effect.ts';
import type { LaneEvent } from '../state/lane-event.ts';
import { type Speaker, taskOf } from '../state/lane-options.ts';
import type { LaneState } from '../state/lane-state.ts';
import { hearingStream, type Stream, streamsOf } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { turnsByKey } from '../two-way/two-way.ts';
import { noteNews } from './old-session.ts';

/** Timeout for the first sound (ms): a service that takes longer does not speak texts, or not in this language. */
const BEGINS_WITHIN_MS = 15_000;
/** Pause after sound without an end mark (ms) that counts as the end of the sound. */
const GAP_MS = 1500;
/** Timeout of a text (ms), longer than any accepted text takes. */
const LONGEST_MS = 180_000;
const LOOK_EACH_MS = 320;

type SayEvent = Extract<LaneEvent, { type: 'say' }>;

/** Whether all speech was sent and a pause followed, so that no sentence is open. */
export function isHeardOut({ session, backlog }: LaneState): boolean {
  const stream = hearingStream(session);
  return (
    stream === null || (stream.replay.quietMs >= PAUSE_MS && !backlog.chunks.some(({ voiced }) => voiced))
  );
}

/** Whether the translation of all speech has arrived. It may still be playing. */
export function isAnswered(
  { session, oldSession, backlog, settings, saying }: LaneState,
  now: number,
): boolean {
  if (saying !== null || oldSession !== null) return false;
  const stream = hearingStream(session);
  if (stream === null) return true;
  const isUnsent = backlog.chunks.some(({ voiced }) => voiced);
  return !isUnsent && !owesSpeechSince(stream.replay, now - settings.answerMs);
}

/** Whether all speech has been translated and played. */
export function isSpokenOut(state: LaneState, now: number): boolean {
  const { session, playout, settings } = state;
  if (isPlaying(playout, now) || !isAnswered(state, now)) return false;
  const stream = hearingStream(session);
  if (stream === null) return true;
  return now - (stream.newsAt ?? Number.NEGATIVE_INFINITY) >= settings.oldSessionDoneMs;
}

/** Whether a text can be spoken now. `busy`: it would interrupt a sentence. */
export function canSay(state: LaneState, now: number): 'quiet' | 'busy' | 'no' {
  if (state.session.kind !== 'live' || state.hold !== null || state.saying !== null) return 'no';
  return isHeardOut(state) && isSpokenOut(state, now) ? 'quiet' : 'busy';
}

/**
 * Whose turn it must be so that the service translates a text into this language: it translates in one direction at a time.
 * Null: the direction is already right, or no key says who speaks.
 */
export function turnBefore(state: LaneState, language: string): Speaker | null {
  const { session } = state;
  if (session.kind !== 'live' || !turnsByKey(state)) return null;
  const isBack = language.toLowerCase() === taskOf(state).source.toLowerCase();
  const [wanted, has] = [isBack, session.stream.confirmedTask.speaker === 'target'];
  if (wanted === has) return null;
  return wanted ? 'target' : 'source';
}

export function say(context: StepContext, { id, text, language, translate }: SayEvent): void {
  const { session, playout } = context.state;
  if (canSay(context.state, context.now) === 'no' || session.kind !== 'live')
    return context.emit({ type: 'said', id, outcome: 'not_live', message: null, playedMs: 0 });
  const { id: stream } = session.stream;
  const { droppedBytes } = playout;
  context.set({ saying: { id, stream, language, sentAt: context.now, droppedBytes, sound: null } });
  context.emit({ type: 'say', stream, text, language, translate });
  context.arm('saying', context.now + BEGINS_WITHIN_MS);
}

/** Whether sound belongs to the operator's text, and not to a visitor's sentence. */
export function isSaid({ state, now }: StepContext, stream: Stream, { sentence, language }: Spoke): boolean {
  const { saying } = state;
  if (saying === null || saying.stream !== stream.id) return false;
  if (saying.sound !== null) return saying.sound.sentence === sentence;
  if (language !== null && language.toLowerCase() !== saying.language.toLowerCase()) return false;
  if (sentence === null) return !owesSpeech(stream.replay) && !goesOn(stream, now);
  const { known, sentences, withdrawn, partial } = stream.replay;
  const isOther = known.includes(sentence) || withdrawn.includes(sentence) || partial?.id === sentence;
  return !isOther && !sentences.some(({ id }) => id === sentence);
}

/** Whether a visitor's sentence without an id had sound a moment ago. */
function goesOn({ replay: { namelessAt } }: Stream, now: number): boolean {
  return namelessAt !== null && now - namelessAt < OTHER_SOUND_MS;
}

export function onSaidSound(context: StepContext, stream: Stream, message: Spoke): void {
  const { saying, settings } = context.state;
  if (saying === null) return;
  const { sentence, utterance, last } = message;
  const ms = (saying.sound?.ms ?? 0) + message.pcm.byteLength / settings.playoutBytesPerMs;
  const isComplete = last || saying.sound?.isComplete === true;
  context.set({ saying: { ...saying, sound: { sentence, utterance, ms, lastAt: context.now, isComplete } } });
  context.patch(stream, { newsAt: context.now });
  noteNews(context, stream, false);
  playSound(context, stream, message);
  context.arm('saying', context.now + LOOK_EACH_MS);
}

/** An objection of the service counts against the text if the text's sound has not begun. */
export function onSayError(
  context: StepContext,
  stream: Stream,
  words: string,
  outcome: 'refused' | 'unsupported' = 'refused',
): void {
  const { saying } = context.state;
  if (saying?.stream !== stream.id || saying.sound !== null) return;
  end(context, outcome, words.slice(0, 200));
}

export function onSayingTimer(context: StepContext): void {
  const { saying, playout } = context.state;
  if (saying === null) return;
  const { sound } = saying;
  if (sound === null) return end(context, 'silent');
  if (context.now - saying.sentAt >= LONGEST_MS) return end(context, 'cut');
  const isAllHere = sound.isComplete || context.now - sound.lastAt >= GAP_MS;
  const isWaiting = playout.utterances.some(
    (one) =>
      one.stream === saying.stream &&
      (sound.utterance === null || one.key === sound.utterance) &&
      bytesOf(one) > 0,
  );
  if (!isAllHere || isWaiting || playout.timeline.end > context.now)
    return context.arm('saying', context.now + LOOK_EACH_MS);
  end(context, playout.droppedBytes > saying.droppedBytes ? 'cut' : 'played');
}

/** Ends a text whose stream has ended or is draining. */
export function trackSaying(context: StepContext): void {
  const { saying, session } = context.state;
  if (saying === null) return;
  const isOpen = streamsOf(context.state).some(({ id }) => id === saying.stream);
  if (!isOpen || session.kind === 'draining') end(context, 'lost');
}

function end(context: StepContext, outcome: SaidOutcome, message: string | null = null): void {
  const { saying } = context.state;
  if (saying === null) return;
  context.disarm('saying');
  context.set({ saying: null });
  const playedMs = Math.round(saying.sound?.ms ?? 0);
  context.emit({ type: 'said', id: saying.id, outcome, message, playedMs });
}
