import type { ServiceEvent } from '../../../ports/stream.ts';
import { isTalk } from '../../speech/decision.ts';
import type { BacklogChunk } from '../../uplink/backlog.ts';
import type { LaneSettings } from '../lane-options.ts';

/** Speech that a stream was sent, and what the service has said of it: nothing so far. */
export interface Silence {
  /**
   * When the first speech was sent since the service last said anything, or when it last wrote down some that it has not
   * spoken; null: no answer is owed.
   */
  readonly since: number | null;
  /** How much speech was sent since then. */
  readonly speechChunks: number;
  /** When the task was asked for because of it; null: not yet. */
  readonly askedAt: number | null;
  /** The last that the service said was the answer to such a question, and nothing of its own. */
  readonly onlyAnswers: boolean;
}

export const NO_SILENCE: Silence = { since: null, speechChunks: 0, askedAt: null, onlyAnswers: false };

/** Sessions that were ended for their silence since anything was last understood. */
export interface SilentEnds {
  readonly count: number;
  readonly lastAt: number;
}

export const NO_SILENT_ENDS: SilentEnds = { count: 0, lastAt: Number.NEGATIVE_INFINITY };

/** This many in a row may as well be noise that the voice detector takes for speech. */
export const DOUBTFUL_ENDS = 2;
/** What was this long ago says nothing of the service of today. */
export const ENDS_FORGOTTEN_MS = 3_600_000;
/** The question may be this much later: it shares the wake-up of something else. */
export const SILENCE_SLACK_MS = 300;

/**
 * Notes a chunk that goes out. What counts is what the voice detector says: a loud room is owed no answer.
 * @param isExpected whether somebody has just spoken of whom the voice detector is seldom sure
 */
export function noteSpeech(
  silence: Silence,
  { pcm, voiced, levels }: BacklogChunk,
  isExpected: boolean,
  now: number,
): Silence {
  if (pcm === null || (levels === undefined ? !voiced : !isTalk(voiced, levels, 0, isExpected)))
    return silence;
  return { ...silence, since: silence.since ?? now, speechChunks: silence.speechChunks + 1 };
}

/**
 * Notes that the service says something, of whatever kind.
 * @param isWriting it has begun to write a sentence down: sound of the one before it does not settle that
 */
export function noteMessage(silence: Silence, said: ServiceEvent, isWriting: boolean, now: number): Silence {
  const since = isText(said) || (said.type === 'spoke' && isWriting) ? now : null;
  if (since === null && silence.since === null && !silence.onlyAnswers) return silence;
  const onlyAnswers = isAnswer(said) && (silence.askedAt !== null || silence.onlyAnswers);
  return { ...NO_SILENCE, since, onlyAnswers };
}

/** What it has written down it has still to speak. */
export function isText({ type }: ServiceEvent): boolean {
  return type === 'heard' || type === 'understood' || type === 'translated';
}

function isAnswer(said: ServiceEvent): boolean {
  return said.type === 'ready' && said.isAnswer;
}

/** Notes that a session was ended for its silence. */
export function noteSilentEnd(ends: SilentEnds, now: number): SilentEnds {
  return { count: now - ends.lastAt < ENDS_FORGOTTEN_MS ? ends.count + 1 : 1, lastAt: now };
}

/** Until when nobody can say whether the service hears anything at all; null: there is no such doubt. */
export function doubtfulUntil({ count, lastAt }: SilentEnds): number | null {
  return count >= DOUBTFUL_ENDS ? lastAt + ENDS_FORGOTTEN_MS : null;
}

/** Whether this many sessions have ended for their silence that the service, or what is taken for speech, is in doubt. */
export function isDoubtful(ends: SilentEnds, now: number): boolean {
  return now < (doubtfulUntil(ends) ?? Number.NEGATIVE_INFINITY);
}

/** When a silence is long enough for the next step: to ask, or to end the session. Null: no answer is owed. */
export function silenceDueAt(
  { since, askedAt, onlyAnswers }: Silence,
  settings: LaneSettings,
  isInDoubt: boolean,
): number | null {
  if (askedAt !== null) return askedAt + settings.silentAnswerMs;
  if (since === null) return null;
  return since + (isInDoubt ? 2 : 1) * (onlyAnswers ? settings.silentGoOnMs : settings.silentAskMs);
}
