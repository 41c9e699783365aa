import type { Span } from './piece.ts';
import type { ReplayLog, Times } from './record.ts';

/** Credible overlap of two neighbouring sentences (ms): a service cuts between words, and rounds. */
const OVERLAP_MS = 400;
/** Credible excess over the sent audio (ms): rounding of segment times. */
const ROUNDING_MS = 40;
/** Number of segments with impossible times after which the times of the session are ignored: one may be a slip. */
const REFUSED_TO_STOP = 3;

export const NO_TIMES: Times = { coveredMs: 0, refused: 0 };

/**
 * Rule 5: segment times are used unless they cannot be true.
 * @returns `span` is null if the times are not used
 */
export function placeSpan(
  { times, sentMs }: Pick<ReplayLog, 'times' | 'sentMs'>,
  span: Span | null,
): { span: Span | null; times: Times } {
  if (span === null || times.refused >= REFUSED_TO_STOP) return { span: null, times };
  if (!isTrue(span, sentMs) || span.fromMs < times.coveredMs - OVERLAP_MS)
    return { span: null, times: { ...times, refused: times.refused + 1 } };
  return { span, times: { ...times, coveredMs: span.toMs } };
}

/** Rule 5 for a part of a sentence: parts may come in any order. */
export function placePart(
  { times, sentMs }: Pick<ReplayLog, 'times' | 'sentMs'>,
  span: Span | null,
): Span | null {
  return span !== null && times.refused < REFUSED_TO_STOP && isTrue(span, sentMs) ? span : null;
}

function isTrue({ fromMs, toMs }: Span, sentMs: number): boolean {
  return fromMs >= -ROUNDING_MS && toMs > fromMs && toMs <= sentMs + ROUNDING_MS;
}
