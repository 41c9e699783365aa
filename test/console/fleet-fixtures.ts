import { detailOf } from '../../src/backend/fleet/device-detail.ts';
import { createDevice, EMPTY } from '../../src/backend/fleet/fleet-device.ts';
import type { DeviceDetail, DeviceEvent } from '../../src/protocol/console-device.ts';
import type { FleetRow, FleetStatus } from '../../src/protocol/console-fleet.ts';

const LANE = {
  id: 'main',
  phase: 'live',
  source: 'en',
  targets: ['es'],
  volume: 80,
  capture: 'plughw:CARD=Mic',
  playback: 'plughw:CARD=Speaker',
  echo: { mode: 'half-duplex' },
  session: '3f0c…',
  stream_host: 'streams.example',
  conversation: {},
  speech_dropped_ms: 1200,
};
const CLERK = { ...LANE, id: 'clerk', source: 'es', targets: ['en', 'de'], muted: true, conversation: null };
const STATE = { lanes: [LANE, CLERK], budget: { used_minutes: 84, minutes_per_day: 240 } };
const MEASURED = { level_dbfs: -52, capture_to_wire_ms: { p99: 41 }, wire_to_speaker_ms: { p99: 130 } };
const HEALTH = {
  ts: '2026-11-27T08:19:30.000Z',
  rss_bytes: 92_000_000,
  temperature_c: 51,
  uptime_s: 86_000,
  loop_lag_ms: { p99: 4 },
  reconnects: 1,
  outbox: { dropped: 0 },
  lanes: [
    { id: 'main', ...MEASURED },
    { id: 'clerk', ...MEASURED },
  ],
};

/** What the backend makes of these messages of a device, so that a new field needs no line here. */
const DETAIL = detailOf(
  {
    ...createDevice('museum/kiosk'),
    heardAt: Date.parse('2026-11-27T08:20:00.000Z'),
    texts: { ...EMPTY, state: JSON.stringify(STATE), health: JSON.stringify(HEALTH) },
  },
  'dragoman/v1',
);

const STATUSES: readonly FleetStatus[] = [
  'ready',
  'ready',
  'ready',
  'ready',
  'idle',
  'ready',
  'degraded',
  'lost',
];
const REASONS: Partial<Record<FleetStatus, readonly string[]>> = {
  idle: ['closed'],
  degraded: ['capture:silent', 'speech_lost:network'],
  lost: ['connection_lost'],
};
const SITES = ['Old town', 'Harbour', 'Central station'];

export function rowFor(number: number, more: Partial<FleetRow> = {}): FleetRow {
  const status = STATUSES[(number * 7) % STATUSES.length] ?? 'ready';
  const second = String(number % 60).padStart(2, '0');
  return {
    device: `museum/kiosk-${String(number).padStart(5, '0')}`,
    status,
    reasons: REASONS[status] ?? [],
    isProblem: status === 'degraded' || status === 'lost',
    since: `2026-11-27T08:15:${second}.000Z`,
    groups: number % 2 === 0 ? ['lobby'] : ['counter'],
    site: SITES[number % SITES.length] ?? null,
    version: number % 5 === 0 ? '0.9.0' : '1.0.0',
    lanes: [{ id: 'main', phase: 'live', source: 'en', targets: ['es'], muted: false, volume: 80 }],
    call: null,
    isOffDesired: number % 9 === 0,
    ...more,
  };
}

export const rowsFor = (count: number): FleetRow[] =>
  Array.from({ length: count }, (_, at) => rowFor(at + 1));

export const EVENTS: readonly DeviceEvent[] = [
  {
    number: 1,
    at: '2026-11-27T08:00:01.000Z',
    kind: 'session_started',
    lane: 'main',
    message: null,
    fields: { session: '3f0c…', stream_host: 'streams.example', reason: 'start' },
  },
  {
    number: 2,
    at: '2026-11-27T08:14:00.000Z',
    kind: 'audio_lost',
    lane: 'main',
    message: 'The microphone plughw:CARD=Mic is not there.',
    fields: { device: 'capture', code: 'not_found' },
  },
];

export function detailFor(row: FleetRow, more: Partial<DeviceDetail> = {}): DeviceDetail {
  return {
    ...DETAIL,
    row,
    topic: `dragoman/v1/${row.device}`,
    events: EVENTS,
    ...more,
  };
}
