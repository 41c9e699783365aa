import type { Choices } from './choices.ts';
import type { StreamReport } from './stream-report.ts';

/** A client without audio for this long is warned before it is given up. */
const STALL_WARNING_MS = 4000;

/** When a client is warned, and given up, that sends no audio to its running task. */
export interface SilenceWatch {
  /** Infinity where nothing is due. A client is warned once, or not at all for a frame that comes late. */
  readonly warnsAt: number;
  readonly timesOutAt: number;
  /** Audio has come, or its time begins to count now. */
  restart(now: number): void;
  warned(): void;
  /** The service itself did not listen for this long: that is not the client's silence. */
  excuse(ms: number): void;
}

export function createSilenceWatch(choices: Choices, report: StreamReport, openedAt: number): SilenceWatch {
  let lastAudioAt = openedAt;
  let isWarned = false;
  return {
    get warnsAt() {
      return choices.warnings && report.phase === 'running' && !isWarned
        ? lastAudioAt + STALL_WARNING_MS
        : Number.POSITIVE_INFINITY;
    },
    get timesOutAt() {
      return choices.noAudioTimeoutMs > 0 && report.phase === 'running'
        ? lastAudioAt + choices.noAudioTimeoutMs
        : Number.POSITIVE_INFINITY;
    },
    restart(now) {
      lastAudioAt = now;
      isWarned = false;
    },
    warned() {
      isWarned = true;
    },
    excuse(ms) {
      lastAudioAt += ms;
    },
  };
}
