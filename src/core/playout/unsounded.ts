import { bytesOf, OWN_STREAM } from './sentences.ts';
import type { Playout } from './state.ts';
import { speechMsBehind } from './timeline.ts';

/** Received speech that has not been heard. */
export interface Unsounded {
  readonly sentences: number;
  readonly ms: number;
}

/** Counts the waiting speech, and written speech that is heard only after `from`. */
export function unsounded(playout: Playout, from: number, bytesPerMs: number): Unsounded {
  const waiting = playout.utterances.filter((one) => one.stream !== OWN_STREAM && bytesOf(one) > 0);
  const writtenMs = speechMsBehind(playout.timeline, from);
  // The waiting rest of the current sentence and its written part count as one sentence.
  const isApart = writtenMs > 0 && waiting[0]?.begun !== true;
  return {
    sentences: waiting.length + (isApart ? 1 : 0),
    ms: writtenMs + waiting.reduce((sum, one) => sum + bytesOf(one), 0) / bytesPerMs,
  };
}
