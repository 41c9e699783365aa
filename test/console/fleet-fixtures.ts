import type { DeviceDetail, DeviceEvent, DeviceLane } from '../../src/protocol/console-device.ts';
import type { FleetRow, FleetStatus } from '../../src/protocol/console-fleet.ts';

const LANE: DeviceLane = {
  id: 'main',
  phase: 'live',
  source: 'en',
  targets: ['es'],
  muted: false,
  volume: 80,
  capture: 'plughw:CARD=Mic',
  playback: 'plughw:CARD=Speaker',
  captureFindings: [],
  echo: 'half-duplex',
  session: '3f0c…',
  streamHost: 'streams.example',
  nextTryAt: null,
  closedUntil: null,
  inConversation: true,
  speechLostMs: 0,
  unspokenMs: 0,
  speechDroppedMs: 1200,
  lastError: null,
  lastWarning: null,
  levelDbfs: -52,
  captureToWireMs: 41,
  wireToSpeakerMs: 130,
};

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
    row,
    topic: `dragoman/v1/${row.device}`,
    heardAt: '2026-11-27T08:20:00.000Z',
    lanes: [
      LANE,
      { ...LANE, id: 'clerk', source: 'es', targets: ['en', 'de'], muted: true, inConversation: false },
    ],
    budget: { usedMinutes: 84, minutesPerDay: 240 },
    health: {
      at: '2026-11-27T08:19:30.000Z',
      rssBytes: 92_000_000,
      temperatureC: 51,
      uptimeS: 86_000,
      loopLagMs: 4,
      reconnects: 1,
      outboxDropped: 0,
    },
    events: EVENTS,
    logUntil: null,
    ...more,
  };
}
