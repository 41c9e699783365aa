/** Counters and histograms, whose values accumulate over scrapes. */
import type { Labels, Sample } from './open-metrics.ts';

export interface Counter {
  add(labels: Labels, by?: number): void;
  samples(): Sample[];
}

/** @param first label sets to export from the beginning, with 0: Prometheus does not count the appearance of a series as an increase */
export function createCounter(first: readonly Labels[] = []): Counter {
  const values = new Map<string, { labels: Labels; value: number }>();
  const at = (labels: Labels) => {
    const key = JSON.stringify(labels);
    const known = values.get(key) ?? { labels, value: 0 };
    values.set(key, known);
    return known;
  };
  for (const labels of first) at(labels);
  return {
    add(labels, by = 1) {
      at(labels).value += by;
    },
    samples: () => [...values.values()].map(({ labels, value }) => ({ labels, value })),
  };
}

export interface Histogram {
  observe(seconds: number, labels?: Labels): void;
  samples(): Sample[];
}

/** @param bounds upper bounds of the buckets, ascending. The last bucket has none. */
export function createHistogram(bounds: readonly number[], first: readonly Labels[] = [{}]): Histogram {
  const rows = new Map<string, { labels: Labels; counts: number[]; sum: number; count: number }>();
  const at = (labels: Labels) => {
    const key = JSON.stringify(labels);
    const known = rows.get(key) ?? { labels, counts: bounds.map(() => 0), sum: 0, count: 0 };
    rows.set(key, known);
    return known;
  };
  for (const labels of first) at(labels);
  return {
    observe(seconds, labels = {}) {
      const row = at(labels);
      row.sum += seconds;
      row.count += 1;
      for (const [index, bound] of bounds.entries())
        if (seconds <= bound) row.counts[index] = (row.counts[index] ?? 0) + 1;
    },
    samples: () =>
      [...rows.values()].flatMap(({ labels, counts, sum, count }): Sample[] => [
        ...bounds.map((bound, index) => ({
          suffix: '_bucket' as const,
          value: counts[index] ?? 0,
          labels: { ...labels, le: Number.isInteger(bound) ? `${bound}.0` : String(bound) },
        })),
        { suffix: '_bucket', labels: { ...labels, le: '+Inf' }, value: count },
        { suffix: '_count', labels, value: count },
        { suffix: '_sum', labels, value: sum },
      ]),
  };
}
