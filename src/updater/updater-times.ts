import { GATE, type GateTimes } from '../core/update/health-gate.ts';

export interface UpdaterTimes extends GateTimes {
  /** Longest wait for a good moment, and for a download (ms). */
  readonly patienceMs: number;
  /** First pause after a failed download (ms); it doubles each time, up to ten times the first. */
  readonly retryMs: number;
  /** Polling interval (ms). */
  readonly lookMs: number;
}

export const TIMES: UpdaterTimes = { ...GATE, patienceMs: 86_400_000, retryMs: 60_000, lookMs: 2000 };

/** The times divided by `factor`, for tests on whole machines. */
export const faster = (times: UpdaterTimes, factor: number): UpdaterTimes => ({
  watchMs: times.watchMs / factor,
  readyMs: times.readyMs / factor,
  hearMs: times.hearMs / factor,
  patienceMs: times.patienceMs / factor,
  retryMs: times.retryMs / factor,
  lookMs: Math.max(500, times.lookMs / factor),
});
