import type { LeftOut, PassedOver } from './left-out.ts';
import { placePart } from './parts.ts';
import { isQuiet, type Span } from './piece.ts';
import type { Interim, ReplayLog } from './record.ts';
import { owedSpeech } from './replay-log.ts';
import type { SpeechCount } from './speech-count.ts';

/**
 * Speech of which the service says nothing at all, between sentences that it understands. By the times of those it is known, and
 * told: nothing else would.
 */

/** Less may be a cough, or somebody who speaks far away: about three seconds, and two of which the lane is sure. */
const LEAST_CHUNKS = { possible: 10, sure: 6 } as const;
/** Where it is seldom sure: about five seconds on end, with a voice somewhere in them. */
const LEAST_UNSURE_CHUNKS = { likely: 15, sure: 1 } as const;
/** What later texts cover so far has not been passed over. */
const COVERED_SHARE = 0.5;
/** No more are remembered. */
const MOST_PASSED_OVER = 8;

/**
 * A sentence has come, and begins here by its times: what lies before it, and is in none, has been passed over.
 * @param before the log as it was before the sentence came
 */
export function notePassedOver(before: ReplayLog, log: ReplayLog, beginsMs: number): ReplayLog {
  // What has been written down may still become a sentence, or is told as left out.
  const isWritten = ({ fromMs, countedMs }: Interim, ms: number): boolean => ms >= fromMs && ms < countedMs;
  const pieces = before.pieces.filter(
    (piece) =>
      piece.sentence === null &&
      piece.toMs <= beginsMs &&
      !isQuiet(piece) &&
      !before.interims.some((one) => isWritten(one, piece.fromMs)),
  );
  const [first, last] = [pieces[0], pieces.at(-1)];
  const speech = owedSpeech({ ...before, pieces });
  if (first === undefined || last === undefined || !isSpeech(speech)) return log;
  const span = { fromMs: first.fromMs, toMs: last.toMs };
  const one: PassedOver = { ...span, at: last.sentAt, speech, coveredShare: 0 };
  return { ...log, passedOver: [...log.passedOver, one].slice(-MOST_PASSED_OVER) };
}

/**
 * A text has come that tells where it lies. Of a sentence that is translated in several parts, later ones may come behind the word of
 * another sentence.
 */
export function coverPassedOver(log: ReplayLog, told: Span | null): ReplayLog {
  const span = placePart(log, told);
  if (span === null || log.passedOver.length === 0) return log;
  const passedOver = log.passedOver.flatMap((one): readonly PassedOver[] => {
    const overlapMs = Math.min(one.toMs, span.toMs) - Math.max(one.fromMs, span.fromMs);
    const coveredShare = one.coveredShare + Math.max(0, overlapMs) / (one.toMs - one.fromMs);
    return coveredShare >= COVERED_SHARE ? [] : [{ ...one, coveredShare }];
  });
  return { ...log, passedOver };
}

function isSpeech({ sure, likely, possible }: SpeechCount): boolean {
  if (sure >= LEAST_CHUNKS.sure && possible >= LEAST_CHUNKS.possible) return true;
  return sure >= LEAST_UNSURE_CHUNKS.sure && likely >= LEAST_UNSURE_CHUNKS.likely;
}

/** What has been passed over by this moment, unless the times that tell of it turned out to be untrue. */
export function passedOverBy({ passedOver, times }: ReplayLog, sentBy: number): readonly LeftOut[] {
  if (times.refused !== null) return [];
  return passedOver.filter(({ at }) => at <= sentBy).map((one) => ({ ...one, id: null, letters: 0 }));
}
