import type { ServiceEvent } from '../../../ports/stream.ts';
import { isTalk } from '../../../sound/speech/decision.ts';
import type { BacklogChunk } from '../uplink/backlog.ts';
import type { LaneSettings } from './lane-options.ts';

/** Speech that was sent on a stream and has no result so far. */
export interface Silence {
  /**
   * When speech was first sent after the last message of the service, or when the service last sent a text that it has not spoken.
   * Null: no result is due.
   */
  readonly since: number | null;
  /** Chunks of speech sent since then. */
  readonly speechChunks: number;
  /** When the lane polled the task because of the missing result; null: not yet. */
  readonly askedAt: number | null;
  /** Since the last text or sound, the service has only answered such polls. */
  readonly onlyAnswers: boolean;
}

export const NO_SILENCE: Silence = { since: null, speechChunks: 0, askedAt: null, onlyAnswers: false };

/** Consecutive sessions that the lane ended because the service was silent. */
export interface SilentEnds {
  readonly count: number;
  readonly lastAt: number;
}

export const NO_SILENT_ENDS: SilentEnds = { count: 0, lastAt: Number.NEGATIVE_INFINITY };

/** Consecutive silent sessions after which the voice detector is in doubt: it may take noise for speech. */
export const DOUBTFUL_ENDS = 2;
/** Time after which silent sessions no longer count (ms): the service may work again. */
export const ENDS_FORGOTTEN_MS = 3_600_000;
/** Permitted delay of the poll (ms), to share the wake-up of another timer. */
export const SILENCE_SLACK_MS = 300;

/**
 * Notes a chunk that is sent. It counts only if the voice detector judges it to be speech: a loud room gets no result.
 * @param isExpected whether the last speaker has a voice that the detector seldom recognises
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
 * Notes any event of the service.
 * @param isWriting a partial is open: sound of an earlier sentence does not end the wait for its result
 */
export function noteMessage(silence: Silence, said: ServiceEvent, isWriting: boolean, now: number): Silence {
  const since = isText(said) || (said.type === 'spoke' && isWriting) ? now : null;
  if (since === null && silence.since === null && !silence.onlyAnswers) return silence;
  const onlyAnswers = isAnswer(said) && (silence.askedAt !== null || silence.onlyAnswers);
  return { ...NO_SILENCE, since, onlyAnswers };
}

/** A transcript or translation: its sound is still due. */
export function isText({ type }: ServiceEvent): boolean {
  return type === 'heard' || type === 'understood' || type === 'translated';
}

function isAnswer(said: ServiceEvent): boolean {
  return said.type === 'ready' && said.isAnswer;
}

/** Notes that a session was ended because the service was silent. */
export function noteSilentEnd(ends: SilentEnds, now: number): SilentEnds {
  return { count: now - ends.lastAt < ENDS_FORGOTTEN_MS ? ends.count + 1 : 1, lastAt: now };
}

/** Until when the service, or the voice detector, is in doubt after several silent sessions; null: no doubt. */
export function doubtfulUntil({ count, lastAt }: SilentEnds): number | null {
  return count >= DOUBTFUL_ENDS ? lastAt + ENDS_FORGOTTEN_MS : null;
}

/** Whether the service, or the voice detector, is in doubt now. */
export function isDoubtful(ends: SilentEnds, now: number): boolean {
  return now < (doubtfulUntil(ends) ?? Number.NEGATIVE_INFINITY);
}

/** When the next step against a silence is due: to poll the task, or to end the session. Null: no result is due. */
export function silenceDueAt(
  { since, askedAt, onlyAnswers }: Silence,
  settings: LaneSettings,
  isInDoubt: boolean,
): number | null {
  if (askedAt !== null) return askedAt + settings.silentAnswerMs;
  if (since === null) return null;
  return since + (isInDoubt ? 2 : 1) * (onlyAnswers ? settings.silentGoOnMs : settings.silentAskMs);
}
