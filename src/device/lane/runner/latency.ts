/** Latencies of the recent past. */
export interface LatencyRecorder {
  record(ms: number): void;
  /** Null before the first record. */
  summary(): LatencySummary | null;
}

export interface LatencySummary {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
  readonly count: number;
}

/** Number of records: enough for a p99, few enough to sort; about 20 minutes of chunks. */
const CAPACITY = 4096;

export function createLatencyRecorder(): LatencyRecorder {
  const ring = new Float64Array(CAPACITY);
  let count = 0;
  return {
    record(ms) {
      ring[count % CAPACITY] = ms;
      count += 1;
    },
    summary() {
      if (count === 0) return null;
      const sorted = ring.slice(0, Math.min(count, CAPACITY)).sort();
      const at = (share: number): number =>
        round(sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? 0);
      return { p50: at(0.5), p99: at(0.99), max: at(1), count };
    },
  };
}

function round(ms: number): number {
  return Math.round(ms * 100) / 100;
}
