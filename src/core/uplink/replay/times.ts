import type { Span } from './piece.ts';
import type { StreamTimes } from './record.ts';

/** Two sentences may overlap by this much: a service keeps some sound before the first word and after the last. */
export const OVERLAP_MS = 400;
/** Sample counts and seconds round. */
const ROUNDING_MS = 40;
/** No sentence holds a pause this long: the longest with which a service can be told to wait. */
const LONGEST_PAUSE_MS = 2300;
/** Nobody speaks faster, in whatever script: half of what the fastest speaker needs for a letter. */
const LEAST_MS_PER_LETTER = 20;
/** A sentence begins with its first word: no more silence than this lies before what we take for it. */
const MOST_LEAD_MS = 1500;

/** What is needed to judge a stretch that the service tells. */
interface Sent {
  readonly times: StreamTimes;
  readonly voiced: readonly Span[];
  readonly sentMs: number;
  readonly forgottenMs: number;
}

/**
 * Places the times of a transcript in the stream's audio.
 * @param told seconds since the service's zero, in milliseconds
 * @param letters of the text that was said in them; 0: not known
 * @returns `span` null: they tell nothing, now or for good (`times.refused`)
 */
export function placeSpan(sent: Sent, told: Span, letters = 0): { span: Span | null; times: StreamTimes } {
  const { times } = sent;
  if (times.refused !== null) return { span: null, times };
  const tries = times.zeros.map((zero) => {
    const span = { fromMs: told.fromMs + zero, toMs: told.toMs + zero };
    return { zero, span, objection: objectionTo(sent, span, letters) };
  });
  const fitting = tries.filter(({ objection }) => objection === null);
  const [only] = fitting;
  if (only !== undefined && fitting.length === 1) {
    // Word of what was said before the new task tells nothing about where its times begin.
    const isOld = times.zeros.length > 1 && only.span.toMs <= Math.max(...times.zeros);
    const zeros = isOld ? times.zeros : [only.zero];
    return { span: only.span, times: { ...times, zeros, settledMs: only.span.toMs } };
  }
  const refused = tries.length === 1 ? (tries[0]?.objection ?? null) : null;
  return { span: null, times: { ...times, refused } };
}

/** Why a stretch can't be what the service has understood; null: it can. */
function objectionTo(
  { times, voiced, sentMs, forgottenMs }: Sent,
  { fromMs, toMs }: Span,
  letters: number,
): string | null {
  if (fromMs < -ROUNDING_MS || toMs <= fromMs) return 'times that run backwards';
  if (toMs > sentMs + ROUNDING_MS) return 'times beyond what was sent';
  if (fromMs < times.settledMs - OVERLAP_MS) return 'times that contradict the order of sentences';
  if (toMs - fromMs + OVERLAP_MS < letters * LEAST_MS_PER_LETTER) return 'times too short for their text';
  // What was forgotten can't contradict anything.
  if (fromMs < forgottenMs) return null;
  const spoken = voiced.filter((one) => one.toMs > fromMs && one.fromMs < toMs);
  const [first] = spoken;
  if (first === undefined) return 'times at which nobody spoke';
  if (first.fromMs - Math.max(fromMs, times.settledMs) > MOST_LEAD_MS)
    return 'times that begin long before the speech';
  const pauses = spoken.slice(1).map((one, index) => one.fromMs - (spoken[index]?.toMs ?? one.fromMs));
  return pauses.some((ms) => ms >= LONGEST_PAUSE_MS) ? 'times that span a long pause' : null;
}

/** Another task has been set on the stream: whether the service counts on or again is not known. */
export function reanchor(times: StreamTimes, sentMs: number): StreamTimes {
  return { ...times, zeros: [...new Set([...times.zeros.slice(0, 1), sentMs])] };
}
