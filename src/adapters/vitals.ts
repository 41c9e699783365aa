import type { Clock } from '../ports/clock.ts';
import type { ReadVitals } from '../ports/vitals.ts';
import { KERNEL_FOLDERS, readTemperature } from './kernel.ts';
import { residentTree } from './process-memory.ts';

/** Time between two measurements (milliseconds): wakes the process rarely, and is enough for a report every minute. */
const LAG_EACH_MS = 2000;
/** An hour of samples. */
const SAMPLES = 1800;

/** Measures this process from now on, as long as it runs. */
export function createVitals(clock: Clock, sys = '/sys'): ReadVitals {
  const lags: number[] = [];
  let dueAt = clock.now() + LAG_EACH_MS;
  setInterval(() => {
    const now = clock.now();
    lags.push(Math.max(0, now - dueAt));
    if (lags.length > SAMPLES) lags.shift();
    dueAt = now + LAG_EACH_MS;
  }, LAG_EACH_MS).unref();
  return () => {
    const { user, system } = process.cpuUsage();
    const sorted = [...lags].sort((one, other) => one - other);
    const at = (share: number): number =>
      Math.round((sorted[Math.floor(share * (sorted.length - 1))] ?? 0) * 10) / 10;
    return {
      rssBytes: residentTree(process.memoryUsage.rss),
      cpuSeconds: Math.round((user + system) / 1e4) / 100,
      loopLagMs: sorted.length === 0 ? null : { p50: at(0.5), p99: at(0.99) },
      temperatureC: readTemperature({ ...KERNEL_FOLDERS, sys }),
    };
  };
}
