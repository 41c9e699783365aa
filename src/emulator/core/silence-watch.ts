import type { Choices } from './choices.ts';
import type { StreamReport } from './stream-report.ts';

/** Time (ms) without audio until the client is warned, before its timeout. */
const STALL_WARNING_MS = 4000;

/** When a client without audio for its running task is warned, and when its stream times out. */
export interface SilenceWatch {
  /** Infinity if no warning is due. Each silence gets one warning. */
  readonly warnsAt: number;
  readonly timesOutAt: number;
  /** Restarts the time without audio, after audio or at the start of a task. */
  restart(now: number): void;
  warned(): void;
  /** Disregards a period in which the service did not listen. */
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
