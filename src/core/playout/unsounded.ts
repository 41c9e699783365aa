import { bytesOf, OWN_STREAM } from './sentences.ts';
import type { Playout } from './state.ts';
import { speechMsBehind } from './timeline.ts';

/** What of the service's speech has come, and not been heard. */
export interface Unsounded {
  readonly sentences: number;
  readonly ms: number;
}

/** All that waits, and what is written and heard only later than `from`. */
export function unsounded(playout: Playout, from: number, bytesPerMs: number): Unsounded {
  const waiting = playout.utterances.filter((one) => one.stream !== OWN_STREAM && bytesOf(one) > 0);
  const writtenMs = speechMsBehind(playout.timeline, from);
  // The rest of what sounds may all be written, or a part of it.
  const isApart = writtenMs > 0 && waiting[0]?.begun !== true;
  return {
    sentences: waiting.length + (isApart ? 1 : 0),
    ms: writtenMs + waiting.reduce((sum, one) => sum + bytesOf(one), 0) / bytesPerMs,
  };
}
