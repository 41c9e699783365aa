import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ReadVitals } from '../../ports/vitals.ts';
import { asWall } from '../../protocol/common/time.ts';
import { timestamp } from '../../protocol/mqtt/envelope.ts';
import type { HealthMessage, LaneHealth } from '../../protocol/mqtt/health.ts';
import type { DeviceTopics } from '../../protocol/mqtt/topics.ts';
import { billedMs } from '../lane/lane-report.ts';
import type { LaneRunner } from '../lane/runner/lane-runner.ts';
import type { LatencySummary } from '../lane/runner/latency.ts';
import { nextTryAt } from '../lane/session/retry-wait.ts';

const EACH_MS = 60_000;

export interface HealthDeps {
  readonly topics: DeviceTopics;
  readonly clock: Clock;
  readonly bootId: string;
  readonly lanes: readonly LaneRunner[];
  /** Absent if there is no machine to measure. */
  readonly vitals?: ReadVitals;
  bus(): Bus | null;
}

/** Publishes `{p}/health` at the first connection, and then once a minute. */
export interface Health {
  /** The figures of this moment. */
  measure(): HealthMessage;
  /** Whether the broker is connected. */
  readonly isConnected: boolean;
  connected(): void;
  close(): void;
}

export function createHealth(deps: HealthDeps): Health {
  const { topics, clock, bootId, lanes, bus } = deps;
  const startedAt = clock.now();
  let connections = 0;
  let cancel = (): void => {};

  const measure = (): HealthMessage => {
    const vitals = deps.vitals?.() ?? null;
    const { depth, dropped } = bus()?.outbox ?? { depth: 0, dropped: 0 };
    return {
      ts: timestamp(clock.wall()),
      boot_id: bootId,
      rss_bytes: vitals?.rssBytes ?? null,
      cpu_seconds: vitals?.cpuSeconds ?? null,
      loop_lag_ms: vitals?.loopLagMs ?? null,
      temperature_c: vitals?.temperatureC ?? null,
      uptime_s: Math.round((clock.now() - startedAt) / 1000),
      outbox: { depth, dropped },
      reconnects: Math.max(0, connections - 1),
      lanes: lanes.map((lane) => laneHealth(lane, clock)),
    };
  };
  const publish = (): void => {
    cancel = clock.at(clock.now() + EACH_MS, publish);
    const live = bus();
    if (live?.connected) live.publish(topics.health, JSON.stringify(measure()), { qos: 0 });
  };

  return {
    measure,
    get isConnected() {
      return bus()?.connected ?? false;
    },
    connected() {
      connections += 1;
      if (connections === 1) publish();
    },
    close: () => cancel(),
  };
}

function laneHealth(lane: LaneRunner, clock: Clock): LaneHealth {
  const { id, state, figures } = lane;
  const { backlog, counts, playout, settings, roomDb } = state;
  const now = clock.now();
  const tryAt = nextTryAt(state);
  const wall = clock.wall();
  return {
    id,
    level_dbfs: roomDb,
    xruns: figures.capture?.xruns ?? 0,
    capture_restarts: Math.max(0, (figures.capture?.starts ?? 0) - 1),
    playback_restarts: Math.max(0, (figures.playback?.starts ?? 0) - 1),
    underruns: (figures.playback?.xruns ?? 0) + playout.gaps,
    rollovers: counts.rollovers,
    speech_lost_ms: Math.round(backlog.accounts.lost * settings.chunkMs),
    billed_s: Math.round(billedMs(state, now) / 1000),
    hold_ms: backlog.chunks.length * settings.chunkMs,
    next_try_at: tryAt === null ? null : timestamp(wall === null ? null : asWall(wall + (tryAt - now))),
    capture_to_wire_ms: quantiles(lane.captureToWire.summary()),
    wire_to_speaker_ms: quantiles(lane.wireToSpeaker.summary()),
  };
}

function quantiles(summary: LatencySummary | null): LaneHealth['capture_to_wire_ms'] {
  return summary === null ? null : { p50: summary.p50, p99: summary.p99 };
}
