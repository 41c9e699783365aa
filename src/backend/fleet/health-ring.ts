/**
 * A device's health of 24 hours in steps of 5 minutes: 288 steps with 8 values of 2 bytes, 4.6 KB for each device.
 * Each value is the worst of its step.
 */
import type { ReceivedHealth } from '../../fleet/health-message.ts';
import { HEALTH_SERIES, type HealthSeries } from '../../protocol/console-device.ts';

export const STEP_S = 300;
export const STEPS = 288;
const STEP_MS = STEP_S * 1000;
const NONE = -32_768;
const LARGEST = 32_767;
/** Values are kept as whole multiples of these units. */
const UNIT: Readonly<Record<HealthSeries, number>> = {
  rssMb: 0.1,
  cpuPercent: 0.1,
  temperatureC: 0.1,
  loopLagMs: 1,
  levelDbfs: 0.1,
  captureToWireMs: 1,
  wireToSpeakerMs: 1,
  speechLostS: 1,
};

export interface HealthRing {
  readonly values: Int16Array;
  /** Number of the newest step since 1970. */
  step: number;
  /** Counters of the last report, to calculate their growth. */
  last: { boot: string; uptimeS: number; cpuS: number; lostMs: number } | null;
}

export function createHealthRing(): HealthRing {
  return { values: new Int16Array(STEPS * HEALTH_SERIES.length).fill(NONE), step: 0, last: null };
}

/** Adds a report. The ring is changed in place: a copy per report would allocate 77 MB a minute in a large fleet. */
export function noteHealth(ring: HealthRing, report: ReceivedHealth, wallMs: number): void {
  advance(ring, Math.floor(wallMs / STEP_MS));
  const grown = growth(ring, report);
  const worst = (of: (lane: ReceivedHealth['lanes'][number]) => number | null | undefined): number | null => {
    const known = report.lanes.map(of).filter((value) => typeof value === 'number');
    return known.length === 0 ? null : Math.max(...known);
  };
  const values: Record<HealthSeries, number | null> = {
    rssMb: report.rss_bytes === null ? null : report.rss_bytes / 1_048_576,
    cpuPercent: grown.cpuPercent,
    temperatureC: report.temperature_c,
    loopLagMs: report.loop_lag_ms?.p99 ?? null,
    levelDbfs: worst((lane) => lane.level_dbfs),
    captureToWireMs: worst((lane) => lane.capture_to_wire_ms?.p99),
    wireToSpeakerMs: worst((lane) => lane.wire_to_speaker_ms?.p99),
    speechLostS: grown.lostS,
  };
  HEALTH_SERIES.forEach((name, index) => {
    const value = values[name];
    if (value === null || !Number.isFinite(value)) return;
    const at = (ring.step % STEPS) * HEALTH_SERIES.length + index;
    const whole = Math.min(LARGEST, Math.max(NONE + 1, Math.round(value / UNIT[name])));
    const before = ring.values[at] ?? NONE;
    // Lost speech adds up; the other numbers keep their highest value.
    const sum = name === 'speechLostS' && before !== NONE ? Math.min(LARGEST, before + whole) : whole;
    ring.values[at] = Math.max(before, sum);
  });
}

function growth(
  ring: HealthRing,
  report: ReceivedHealth,
): { cpuPercent: number | null; lostS: number | null } {
  const now = {
    boot: report.boot_id,
    uptimeS: report.uptime_s ?? 0,
    cpuS: report.cpu_seconds ?? 0,
    lostMs: report.lanes.reduce((sum, lane) => sum + (lane.speech_lost_ms ?? 0), 0),
  };
  const { last } = ring;
  ring.last = now;
  const isSameRun = last !== null && last.boot === now.boot && now.uptimeS > last.uptimeS;
  if (!isSameRun) return { cpuPercent: null, lostS: null };
  const cpu = (100 * (now.cpuS - last.cpuS)) / (now.uptimeS - last.uptimeS);
  const lost = (now.lostMs - last.lostMs) / 1000;
  return { cpuPercent: report.cpu_seconds === null || cpu < 0 ? null : cpu, lostS: Math.max(0, lost) };
}

function advance(ring: HealthRing, step: number): void {
  const passed = Math.min(STEPS, step - ring.step);
  if (passed <= 0) return;
  const width = HEALTH_SERIES.length;
  for (let at = step - passed + 1; at <= step; at += 1)
    ring.values.fill(NONE, (at % STEPS) * width, ((at % STEPS) + 1) * width);
  ring.step = step;
}

/** The last 24 hours, oldest first. */
export function readHealth(
  ring: HealthRing | null,
  wallMs: number,
): { fromMs: number; series: Record<HealthSeries, (number | null)[]> } {
  const end = Math.floor(wallMs / STEP_MS);
  const first = end - STEPS + 1;
  const steps = Array.from({ length: STEPS }, (_, index) => first + index);
  const valueAt = (step: number, index: number, unit: number): number | null => {
    if (ring === null || step > ring.step || step <= ring.step - STEPS) return null;
    const value = ring.values[(step % STEPS) * HEALTH_SERIES.length + index] ?? NONE;
    return value === NONE ? null : Math.round(value * unit * 10) / 10;
  };
  const series = Object.fromEntries(
    HEALTH_SERIES.map((name, index) => [name, steps.map((step) => valueAt(step, index, UNIT[name]))]),
  ) as Record<HealthSeries, (number | null)[]>;
  return { fromMs: first * STEP_MS, series };
}
