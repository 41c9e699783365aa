import { z } from 'zod';
/** How a client keeps time, as `GET /emulator/metrics` shows it. Times are milliseconds. */
export const pacingReportSchema = z.object({
  violations: z.int().describe('frames faster than real time: what docs/service.md 8 asks clients not to do'),
  too_fast: z.int().describe('the same by kind; slow and stalled clients harm only themselves'),
  too_slow: z.int(),
  stalled: z.int(),
  lead_ms: z.number().describe('sound ahead of real time when the last frame came'),
  worst_lead_ms: z.number().describe('the most that was ever ahead of real time'),
  worst_lag_ms: z.number().describe('and behind it'),
  longest_gap_ms: z.number().describe('the longest time between two frames'),
});
export type PacingReport = z.infer<typeof pacingReportSchema>;

/** Effect of a frame on the pacing; `overrun`: the transcription has no room for it any more. */
export interface PacingVerdict {
  readonly pace: 'fine' | 'too_fast' | 'too_slow';
  readonly overrun: boolean;
}

/** Two chunks of the recommended length may wait somewhere on the way and arrive together. */
const CREDIT_MS = 640;
const CREDIT_CHUNKS = 2;
/** Timers and queues on the way are not exact. */
const SLACK_MS = 80;
/** The account of bursts forgets faster than time passes, so that an old burst does not taint what follows. */
const BURST_DECAY = 1.05;
/** Sound cards differ from the service's clock by up to 1000 ppm. */
const DRIFT = 1.001;
/** This far ahead by going a little too fast for long is a violation too. */
const CREEP_LIMIT_MS = 2500;
/**
 * This much may come in a heap from a client that was behind: what a network held up belongs to time that has passed, and is
 * listened to late, not badly.
 */
const CATCH_UP_MS = 20_000;
/** This far behind real time is too slow, and this long without a frame is a stall. */
const LAG_LIMIT_MS = 2500;
const STALL_MS = 2000;

/** Measures whether audio comes in real time (docs/service.md 8, "Audio pacing"). */
export interface PacingMeter {
  readonly report: PacingReport;
  /** Accounts for a frame of `durationMs` that arrived at `now`. */
  frame(durationMs: number, now: number): PacingVerdict;
  /** The service itself did not listen for this long: what piled up meanwhile is not the client's fault. */
  excuse(ms: number): void;
  /** The client may be silent for a while (it paused its task): what follows is not measured against it. */
  restart(): void;
}

export function newPacingReport(): PacingReport {
  return {
    ...{ violations: 0, too_fast: 0, too_slow: 0, stalled: 0 },
    ...{ lead_ms: 0, worst_lead_ms: 0, worst_lag_ms: 0, longest_gap_ms: 0 },
  };
}

export function createPacingMeter(): PacingMeter {
  const report = newPacingReport();
  let last: number | null = null;
  let burst = 0;
  let creep = 0;
  let lag = 0;
  /** Sound that waits to be listened to, which takes as long as it lasts; below zero for a client that is behind. */
  let backlog = 0;
  let grace = 0;

  const measureSlow = (gapMs: number, durationMs: number): boolean => {
    lag = Math.max(0, lag + gapMs - durationMs * DRIFT);
    report.worst_lag_ms = Math.max(report.worst_lag_ms, Math.round(lag));
    report.longest_gap_ms = Math.max(report.longest_gap_ms, Math.round(gapMs));
    if (gapMs >= STALL_MS + durationMs) {
      report.stalled++;
      lag = 0;
      return true;
    }
    if (lag <= LAG_LIMIT_MS) return false;
    report.too_slow++;
    lag = 0;
    return true;
  };

  return {
    report,
    frame(durationMs, now) {
      const gapMs = last === null ? 0 : Math.max(0, now - last);
      const slow = last !== null && measureSlow(gapMs, durationMs);
      last = now;
      burst = Math.max(-grace, burst - gapMs * BURST_DECAY) + durationMs;
      creep = Math.max(-grace, creep - gapMs * DRIFT) + durationMs;
      backlog = Math.max(-CATCH_UP_MS - grace, backlog - gapMs * BURST_DECAY);
      grace = Math.max(0, grace - durationMs);
      report.lead_ms = Math.max(0, Math.round(creep - durationMs));
      report.worst_lead_ms = Math.max(report.worst_lead_ms, report.lead_ms);
      const limit = durationMs + Math.max(CREDIT_MS, CREDIT_CHUNKS * durationMs) + SLACK_MS;
      const fast = burst > limit || creep > limit + CREEP_LIMIT_MS;
      if (fast) {
        report.too_fast++;
        report.violations++;
        burst = Math.min(burst, limit);
        if (creep > limit + CREEP_LIMIT_MS) creep = durationMs;
      }
      const overrun = fast && backlog + durationMs > limit;
      if (!overrun) backlog += durationMs;
      return { pace: fast ? 'too_fast' : slow ? 'too_slow' : 'fine', overrun };
    },
    excuse(ms) {
      grace = Math.max(grace, ms);
    },
    restart() {
      last = null;
      burst = 0;
      backlog = 0;
      creep = 0;
      lag = 0;
    },
  };
}
