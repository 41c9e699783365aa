/** The agent's metrics at /metrics: the figures of `status`, `state` and `health`, never the text of speech. */
import type { Family, Sample } from '../../adapters/watch/open-metrics.ts';
import type { LaneReport } from '../../protocol/mqtt/device.ts';
import type { HealthMessage, LaneHealth } from '../../protocol/mqtt/health.ts';
import { codeOf } from '../../protocol/mqtt/reasons.ts';
import { DEVICE_STATUSES, type DeviceStatus } from '../../protocol/mqtt/statuses.ts';
import { PHASE_NAMES } from '../../protocol/phases.ts';

export interface Measured {
  readonly version: string;
  readonly status: DeviceStatus;
  readonly reasons: readonly string[];
  readonly isConnected: boolean;
  readonly health: HealthMessage;
  readonly lanes: readonly LaneReport[];
}

export function agentFamilies({ version, status, reasons, isConnected, health, lanes }: Measured): Family[] {
  const ofLanes = (value: (lane: LaneReport) => number | null): Sample[] =>
    samplesOf(lanes.map((lane) => ({ labels: { lane: lane.id }, value: value(lane) })));
  const ofHealth = (value: (lane: LaneHealth) => number | null): Sample[] =>
    samplesOf(health.lanes.map((lane) => ({ labels: { lane: lane.id }, value: value(lane) })));
  const delays = (of: (lane: LaneHealth) => LaneHealth['wire_to_speaker_ms']): Sample[] =>
    health.lanes.flatMap((lane) => quantiles(of(lane), { lane: lane.id }));
  const codes = [...new Set(reasons.map(codeOf))];
  return [
    {
      name: 'dragoman_agent',
      type: 'info',
      help: 'This program.',
      samples: [{ labels: { version }, value: 1 }],
    },
    gauge(
      'dragoman_agent_status',
      'Whether this is the status of the device.',
      DEVICE_STATUSES.map((one) => ({ labels: { status: one }, value: Number(one === status) })),
    ),
    gauge(
      'dragoman_agent_reason',
      'Why the device is not ready.',
      codes.map((reason) => ({ labels: { reason }, value: 1 })),
    ),
    gauge('dragoman_agent_broker_connected', 'Whether the broker is connected.', [
      { value: Number(isConnected) },
    ]),
    counter('dragoman_agent_broker_reconnects', 'Reconnections to the broker.', [
      { value: health.reconnects },
    ]),
    gauge('dragoman_agent_outbox_depth', 'Messages that are not acknowledged yet.', [
      { value: health.outbox.depth },
    ]),
    counter('dragoman_agent_outbox_dropped', 'Dropped messages.', [{ value: health.outbox.dropped }]),
    seconds('dragoman_agent_uptime_seconds', 'gauge', 'Time since the start.', [{ value: health.uptime_s }]),
    seconds('dragoman_agent_cpu_seconds', 'counter', 'CPU time.', samplesOf([{ value: health.cpu_seconds }])),
    {
      ...gauge(
        'dragoman_agent_memory_bytes',
        'Resident memory with all child processes.',
        samplesOf([{ value: health.rss_bytes }]),
      ),
      unit: 'bytes',
    },
    seconds(
      'dragoman_agent_loop_lag_seconds',
      'gauge',
      'Delay of the event loop.',
      quantiles(health.loop_lag_ms),
    ),
    {
      ...gauge(
        'dragoman_agent_temperature_celsius',
        'Temperature of the board.',
        samplesOf([{ value: health.temperature_c }]),
      ),
      unit: 'celsius',
    },
    gauge(
      'dragoman_lane_phase',
      'Whether this is the phase of the lane.',
      lanes.flatMap(({ id, phase }) =>
        PHASE_NAMES.map((one) => ({ labels: { lane: id, phase: one }, value: Number(one === phase) })),
      ),
    ),
    gauge(
      'dragoman_lane_muted',
      'Whether the lane is muted.',
      ofLanes(({ muted }) => Number(muted)),
    ),
    seconds(
      'dragoman_lane_billed_seconds',
      'counter',
      'Time with an open stream.',
      ofHealth(({ billed_s }) => billed_s),
    ),
    seconds(
      'dragoman_lane_speech_lost_seconds',
      'counter',
      'Speech that never reached a working service.',
      ofLanes(({ speech_lost_ms }) => speech_lost_ms / 1000),
    ),
    seconds(
      'dragoman_lane_unspoken_seconds',
      'counter',
      'Speech that the service received but did not speak.',
      ofLanes(({ unspoken_ms }) => unspoken_ms / 1000),
    ),
    seconds(
      'dragoman_lane_speech_dropped_seconds',
      'counter',
      'Translated speech that was not played.',
      ofLanes(({ speech_dropped_ms }) => speech_dropped_ms / 1000),
    ),
    counter(
      'dragoman_lane_rollovers',
      'Sessions that replaced another one.',
      ofHealth(({ rollovers }) => rollovers),
    ),
    counter(
      'dragoman_lane_xruns',
      'Capture overruns.',
      ofHealth(({ xruns }) => xruns),
    ),
    counter(
      'dragoman_lane_underruns',
      'Playback underruns during speech.',
      ofHealth(({ underruns }) => underruns),
    ),
    counter(
      'dragoman_lane_capture_restarts',
      'Restarts of the microphone.',
      ofHealth(({ capture_restarts }) => capture_restarts),
    ),
    counter(
      'dragoman_lane_playback_restarts',
      'Restarts of the loudspeaker.',
      ofHealth(({ playback_restarts }) => playback_restarts),
    ),
    seconds(
      'dragoman_lane_held_seconds',
      'gauge',
      'Captured audio that is not sent yet.',
      ofHealth(({ hold_ms }) => hold_ms / 1000),
    ),
    seconds(
      'dragoman_lane_capture_to_wire_seconds',
      'gauge',
      'From the end of a chunk at the microphone to its sending.',
      delays(({ capture_to_wire_ms }) => capture_to_wire_ms),
    ),
    seconds(
      'dragoman_lane_wire_to_speaker_seconds',
      'gauge',
      'From the arrival of audio to its playback.',
      delays(({ wire_to_speaker_ms }) => wire_to_speaker_ms),
    ),
  ];
}

/** Unknown values are left out. */
function samplesOf(values: readonly { labels?: Sample['labels']; value: number | null }[]): Sample[] {
  return values.flatMap(({ labels, value }) =>
    value === null ? [] : [{ ...(labels && { labels }), value }],
  );
}

function quantiles(measured: HealthMessage['loop_lag_ms'], labels: Sample['labels'] = {}): Sample[] {
  if (measured === null) return [];
  return [
    { labels: { ...labels, quantile: '0.5' }, value: measured.p50 / 1000 },
    { labels: { ...labels, quantile: '0.99' }, value: measured.p99 / 1000 },
  ];
}

function gauge(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, type: 'gauge', help, samples };
}
function counter(name: string, help: string, samples: readonly Sample[]): Family {
  return { name, type: 'counter', help, samples };
}
function seconds(name: string, type: 'gauge' | 'counter', help: string, samples: readonly Sample[]): Family {
  return { name, type, unit: 'seconds', help, samples };
}
