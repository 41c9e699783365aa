/** Summary of recent delays (ms). */
export interface LatenessSummary {
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Keeps the most recent delays. */
export interface Lateness {
  add(ms: number): void;
  summary(): LatenessSummary;
}

/** @param most number of delays that are kept */
export function createLateness(most: number): Lateness {
  const recent: number[] = [];
  let next = 0;
  return {
    add(ms) {
      recent[next] = Math.max(0, ms);
      next = (next + 1) % most;
    },
    summary() {
      const sorted = [...recent].sort((a, b) => a - b);
      const at = (share: number): number =>
        Math.round(sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0);
      return { p50: at(0.5), p99: at(0.99), max: at(1) };
    },
  };
}
