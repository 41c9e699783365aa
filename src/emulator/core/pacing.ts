import * as z from 'zod';
/** The pacing of a client's audio, as `GET /emulator/metrics` shows it. Times are milliseconds. */
export const pacingReportSchema = z.object({
  violations: z.int().describe('frames faster than real time, against docs/service.md 8'),
  too_fast: z
    .int()
    .describe('violations by kind; slow and stalled clients do not count: they harm only themselves'),
  too_slow: z.int(),
  stalled: z.int(),
  lead_ms: z.number().describe('sound ahead of real time when the last frame arrived'),
  worst_lead_ms: z.number().describe('the most that the sound was ever ahead of real time'),
  worst_lag_ms: z.number().describe('the most that the sound was ever behind real time'),
  longest_gap_ms: z.number().describe('the longest time between two frames'),
});
export type PacingReport = z.infer<typeof pacingReportSchema>;

/** Effect of a frame on the pacing; `overrun`: the transcription has no room left for it. */
export interface PacingVerdict {
  readonly pace: 'fine' | 'too_fast' | 'too_slow';
  readonly overrun: boolean;
}

/** Lead (ms) that is allowed: two chunks of the recommended length may be delayed and arrive together. */
const CREDIT_MS = 640;
const CREDIT_CHUNKS = 2;
/** Extra tolerance (ms), because timers and queues on the way are not exact. */
const SLACK_MS = 80;
/** Factor by which the count of bursts decays faster than time passes, so that an old burst does not affect later frames. */
const BURST_DECAY = 1.05;
/** Tolerated clock drift (factor): sound cards differ from the service's clock by up to 1000 ppm. */
const DRIFT = 1.001;
/** Additional lead (ms) that is a violation even if it grows slowly. */
const CREEP_LIMIT_MS = 2500;
/**
 * Maximum sound (ms) that a client may catch up at once after a delay: sound that the network held up is transcribed late, but
 * whole.
 */
const CATCH_UP_MS = 20_000;
/** Lag (ms) behind real time that counts as too slow. */
const LAG_LIMIT_MS = 2500;
/** Time (ms) without a frame that counts as a stall, in addition to the duration of the frame. */
const STALL_MS = 2000;

/** Measures whether audio comes in real time (docs/service.md 8, "Audio pacing"). */
export interface PacingMeter {
  readonly report: PacingReport;
  /** Accounts for a frame of `durationMs` that arrived at `now`. */
  frame(durationMs: number, now: number): PacingVerdict;
  /** Disregards a period in which the service did not listen: the audio that piled up is not the client's fault. */
  excuse(ms: number): void;
  /** Restarts the measurement, because the client may be silent for a while (it paused its task). */
  restart(): void;
}

export function newPacingReport(): PacingReport {
  return {
    violations: 0,
    too_fast: 0,
    too_slow: 0,
    stalled: 0,
    lead_ms: 0,
    worst_lead_ms: 0,
    worst_lag_ms: 0,
    longest_gap_ms: 0,
  };
}

export function createPacingMeter(): PacingMeter {
  const report = newPacingReport();
  let last: number | null = null;
  let burst = 0;
  let creep = 0;
  let lag = 0;
  /** Sound (ms) that waits for transcription, which runs in real time; below zero for a client that is behind. */
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
