/** One example of each MQTT message. A test checks them against the schemas. */

import type { z } from 'zod';
import type { reportedSchema } from '../../src/protocol/config-reported.ts';
import type { laneAccountSchema } from '../../src/protocol/mqtt/account.ts';
import type { certificateRequestSchema } from '../../src/protocol/mqtt/certificate.ts';
import type { commandRequestSchema, commandResponseSchema } from '../../src/protocol/mqtt/command.ts';
import type { statusAnswerSchema } from '../../src/protocol/mqtt/commands/device-commands.ts';
import type { stateSchema, statusSchema } from '../../src/protocol/mqtt/device.ts';
import type { diagnosisSchema } from '../../src/protocol/mqtt/diagnose.ts';
import type { EVENT_SCHEMAS, EventKind } from '../../src/protocol/mqtt/event.ts';
import type { healthSchema } from '../../src/protocol/mqtt/health.ts';
import type {
  endsRecordedSchema,
  legacyTokenGrantSchema,
  tokenDenialSchema,
  tokenGrantSchema,
  tokenProbeAnswerSchema,
  tokenRequestSchema,
} from '../../src/protocol/mqtt/token.ts';

const ts = '2026-05-04T09:30:00.000Z';
const lane = 'main';
const session = '5e1f2a3b...';

export const EVENT_EXAMPLES: { readonly [K in EventKind]: z.input<(typeof EVENT_SCHEMAS)[K]> } = {
  session_started: { ts, lane, session, stream_host: 'stream.example', reason: 'start' },
  session_ended: { ts, lane, session, cause: 'rollover', live_ms: 1_778_000 },
  rollover: { ts, lane, session },
  revoked: {
    ts,
    lane,
    cause: 'session_revoked',
    message: 'the session was revoked by its owner',
    retry_ms: 340,
  },
  max_duration: {
    ts,
    lane,
    cause: 'max_duration_reached',
    message: 'the session reached its longest duration',
    error_code: 202102,
    retry_ms: 0,
  },
  refused: {
    ts,
    lane,
    cause: 'insufficient_balance',
    message: 'Insufficient balance',
    error_code: 100050,
    retry_ms: 412_000,
  },
  unreachable: {
    ts,
    lane,
    host: 'stream.example',
    tries: 3,
    message: 'the service does not accept connections',
  },
  unspoken: { ts, lane, language: 'es', unspoken_ms: 5200, sentences: 2 },
  messages_unreadable: {
    ts,
    lane,
    session,
    message: 'the service sends output_audio_data without a usable data',
  },
  audio_lost: {
    ts,
    lane,
    device: 'capture',
    code: 'lost',
    message: 'the microphone plughw:CARD=Mic was unplugged',
  },
  audio_back: { ts, lane, device: 'capture' },
  echo_detected: {
    ts,
    lane,
    mode: 'off',
    delay_ms: 142,
    gain_db: -12.5,
    confidence: 0.93,
    heard_in: 'microphone',
  },
  echo_fallback: {
    ts,
    lane,
    reason: 'loop',
    from: 'off',
    mode: 'half-duplex',
    message: 'the lane hears its own loudspeaker',
  },
  echo_restored: { ts, lane, mode: 'cancel' },
  two_way_fallback: {
    ts,
    lane,
    from: 'auto',
    mode: 'button',
    message: 'the service says: unknown language "auto"; a key says who speaks from now on',
  },
  capture_problem: { ts, lane, finding: 'clipping', message: '2.1 % of the samples are at full scale' },
  capture_problem_over: { ts, lane, finding: 'clipping', message: 'the microphone does not clip any more' },
  speech_lost: {
    ts,
    lane,
    lost_ms: 18_240,
    cause: 'network',
    from: '2026-05-04T09:28:10.120Z',
    to: '2026-05-04T09:28:41.480Z',
  },
  identity_conflict: {
    ts,
    lane: null,
    message: 'another device uses this identity, and the two keep disconnecting each other',
    other_boot_id: 'Zk3nQ0vTr8Yw',
  },
  backend_silent: { ts, lane: null, since: '2026-05-04T09:29:40.000Z', reason: 'no_answer' },
  backend_back: { ts, lane: null, since: '2026-05-04T09:29:40.000Z', silent_ms: 20_000 },
  broker_changed: {
    ts,
    lane: null,
    from: 'mqtts://old.example:8883',
    to: 'mqtts://broker.example:8883',
  },
  broker_returned: {
    ts,
    lane: null,
    from: 'mqtts://broker.example:8883',
    to: 'mqtts://old.example:8883',
    message: 'cannot reach mqtts://broker.example:8883: nothing listens there',
  },
  certificate_renewed: { ts, lane: null, valid_to: '2027-05-04T09:29:58.000Z' },
  certificate_problem: {
    ts,
    lane: null,
    valid_to: '2026-05-14T09:30:00.000Z',
    message: 'the client certificate expires on 2026-05-14 and was not renewed',
  },
  config_problem: {
    ts,
    lane: null,
    more: 0,
    problems: [
      '/etc/dragoman/config.json:9:15: lanes[0].echo: is "of"; must be "half-duplex", "cancel" or "off"; did you mean "off"?',
    ],
  },
  config_problem_over: { ts, lane: null },
  disk_problem: {
    ts,
    lane: null,
    what: 'commands',
    message: 'the file /var/lib/dragoman/commands.museum.kiosk-01.json cannot be written: the disk is full',
  },
  commands_dropped: { ts, lane: null, commands: 9800 },
  disk_problem_over: { ts, lane: null, what: 'commands' },
  update: {
    ts,
    lane: null,
    state: 'rolled_back',
    from: '1.2.0',
    to: '1.3.0',
    reason: 'version 1.3.0 was rolled back: it does not hear a microphone that worked before (lost)',
  },
  budget: { ts, lane: null, used_minutes: 96, minutes_per_day: 120, percent: 80 },
  speech_dropped: { ts, lane, why: 'lag', sentences: 2, dropped_ms: 7400, waiting_ms: 12_100 },
  parked: { ts, lane, cause: 'insufficient_balance', message: 'Insufficient balance', retry_ms: 412_000 },
  internal_error: { ts, lane, message: 'a defect of the program (TypeError)', retry_ms: 1200, lost_ms: 640 },
  defect: {
    ts,
    lane: null,
    where: 'playback.flush',
    message: 'a defect of the program: playback.flush threw (TypeError); the agent goes on',
    repeated: 17,
  },
  help_called: { ts, lane },
  help_answered: { ts, lane, by: 'Ann' },
  conversation_started: { ts, lane, by: 'key' },
  conversation_ended: {
    ts,
    lane,
    duration_s: 312.4,
    languages: ['es', 'en'],
    sentences: 41,
    delay_ms: 2840,
    billed_s: 312.4,
  },
  standby: { ts, lane },
  wake: { ts, lane },
};

const lanes = [
  {
    id: 'main',
    phase: 'live',
    muted: false,
    volume: 80,
    echo: 'half-duplex',
    source: 'en',
    targets: ['es'],
  },
];

const account: z.input<typeof laneAccountSchema> = {
  id: 'main',
  captured: 270_000,
  sent: 269_990,
  silenced: 0,
  trimmed: 10,
  dropped: 0,
  lost: 0,
  held: 0,
  sessions: 24,
  rollovers: 23,
  splits: 0,
  revocations: 0,
  max_durations: 0,
  failures: 1,
  taken_back: 12,
  said_again: 0,
  unspoken_ms: 0,
  speech_dropped_ms: 0,
  standbys: 0,
  stream_ms: 86_390_000,
  fillers: 40,
  defects: 0,
  ignored: 0,
  lost_ms: 0,
  played_ms: 31_200_000,
  shed_sentences: 0,
  shed_ms: 0,
  playout_gaps: 0,
  capture_to_wire_ms: { p50: 4.1, p99: 9.8, max: 31, count: 4096 },
  wire_to_speaker_ms: { p50: 2.2, p99: 6.4, max: 12, count: 4096 },
};
const report = {
  id: 'main',
  phase: 'live',
  source: 'en',
  targets: ['es'],
  refused_task: null,
  conversation: { since: ts, notice: 'es' },
  muted: false,
  volume: 80,
  capture: 'plughw:CARD=Mic',
  playback: 'plughw:CARD=Speaker',
  capture_findings: [],
  echo: {
    wanted: 'half-duplex',
    mode: 'half-duplex',
    fallback: null,
    tail_ms: 420,
    delay_ms: 142,
    gain_db: -12,
  },
  room_dbfs: -51,
  vain_wakes: 0,
  session,
  stream_host: 'stream.example',
  speech_lost_ms: 0,
  unspoken_ms: 0,
  speech_dropped_ms: 0,
  deaf_since: null,
  next_try_at: null,
  closed_until: null,
  last_error: null,
  last_warning: null,
};

const status = { status: 'ready' as const, reasons: [], version: '0.1.0', boot_id: 'q7J2mXp0aBcD' };

/** The compiler requires an example of each new field. */
interface Messages {
  readonly status: z.input<typeof statusSchema>;
  readonly state: z.input<typeof stateSchema>;
  readonly health: z.input<typeof healthSchema>;
  readonly reported: z.input<typeof reportedSchema>;
  readonly command: z.input<typeof commandRequestSchema>;
  readonly accepted: z.input<typeof commandResponseSchema>;
  readonly ok: z.input<typeof commandResponseSchema>;
  readonly error: z.input<typeof commandResponseSchema>;
  readonly request: z.input<typeof tokenRequestSchema>;
  readonly grant: z.input<typeof tokenGrantSchema>;
  readonly legacy: z.input<typeof legacyTokenGrantSchema>;
  readonly denial: z.input<typeof tokenDenialSchema>;
  readonly probed: z.input<typeof tokenProbeAnswerSchema>;
  readonly recorded: z.input<typeof endsRecordedSchema>;
  readonly statusAnswer: z.input<typeof statusAnswerSchema>;
  readonly diagnosis: z.input<typeof diagnosisSchema>;
  readonly certificateRequest: z.input<typeof certificateRequestSchema>;
}

/** Examples of all other messages. */
export const MESSAGE_EXAMPLES: Messages = {
  status: {
    ts,
    status: 'degraded',
    boot_id: 'q7J2mXp0aBcD',
    conn_seq: 3,
    version: '0.1.0',
    reasons: ['capture:lost'],
  },
  state: {
    ts,
    boot_id: 'q7J2mXp0aBcD',
    outbox: { depth: 0, dropped: 0 },
    budget: { used_minutes: 96, minutes_per_day: 240 },
    help: { state: 'called', since: ts, by: null },
    update: { state: 'done', from: '1.2.0', to: '1.3.0', reason: null, progress: null },
    lanes: [report],
  },
  health: {
    ts,
    boot_id: 'q7J2mXp0aBcD',
    rss_bytes: 91_234_304,
    cpu_seconds: 412.3,
    loop_lag_ms: { p50: 0.4, p99: 3.1 },
    temperature_c: 52.1,
    uptime_s: 86_400,
    outbox: { depth: 0, dropped: 0 },
    reconnects: 1,
    lanes: [
      {
        id: 'main',
        level_dbfs: -54,
        xruns: 0,
        capture_restarts: 0,
        playback_restarts: 1,
        underruns: 2,
        rollovers: 11,
        speech_lost_ms: 0,
        billed_s: 8123,
        hold_ms: 0,
        next_try_at: null,
        capture_to_wire_ms: { p50: 0.6, p99: 4.2 },
        wire_to_speaker_ms: { p50: 61.2, p99: 64 },
      },
    ],
  },
  reported: {
    ts,
    version: { 'group:lobby': 4, device: 12 },
    hash: 'a8b1f6c0d6b2d9a3c8a0d5a4b1f2e3c4d5e6f708192a3b4c5d6e7f8091a2b3c4',
    effective: {
      lanes: [
        {
          id: 'main',
          source: 'en',
          targets: ['es', 'fr'],
          voice: null,
          echo: 'half-duplex',
          start: 'voice',
          standbyAfter: 120,
          volume: 80,
        },
      ],
      schedule: {
        timeZone: 'Europe/Berlin',
        open: [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '09:00', to: '18:00' }],
        closed: ['2026-12-25'],
      },
      budget: { minutesPerDay: 120 },
      help: { answerWithin: 120 },
      update: { window: { from: '02:00', to: '05:00' } },
      log: { level: 'info' },
      screen: { operator: 'Museum of the City' },
    },
    errors: [
      { from: 'device', key: 'lanes[0].echo', message: 'must be one of "half-duplex", "cancel", "off"' },
    ],
  },
  command: { id: 'a1', args: { targets: ['de'] }, not_after: '2026-05-04T09:31:00Z' },
  accepted: { ts, id: 'a1', status: 'accepted' },
  ok: { ts, id: 'a1', status: 'ok', data: { lanes } },
  error: {
    ts,
    id: 'a1',
    status: 'error',
    error: { code: 'unknown_lane', message: 'there is no lane "left"; there are main' },
  },
  request: {
    ts,
    id: 'xJ3vT0yR9q2LmN4b',
    lane: 'main',
    intent: 's2s',
    connection_type: 'ws',
    reason: 'start',
    attempt: 1,
    ended: [{ lane: 'main', session, live_ms: 1_778_000 }],
  },
  grant: {
    id: 'xJ3vT0yR9q2LmN4b',
    ok: true,
    session: {
      id: '5e1f2a3b-...',
      token: '...',
      intent: 's2s',
      connection_type: 'ws',
      single_use: true,
      status: 'pending',
      created_at: ts,
      connect_by: '2026-05-04T09:31:00.000Z',
      max_session_duration_seconds: 1800,
    },
    stream_url: 'wss://stream.example/streaming-api/{random_hash}/v1/speech-to-speech/stream',
  },
  legacy: {
    id: 'xJ3vT0yR9q2LmN4b',
    ok: true,
    session: { id: '5e1f2a3b-...', publisher: '...', ws_url: 'wss://stream.example/room/7' },
  },
  denial: {
    id: 'xJ3vT0yR9q2LmN4b',
    ok: false,
    error: {
      code: 'device_not_allowed',
      title: 'Unknown device',
      detail: 'the owner has not allowed this device',
      final: true,
      retry_after_s: 240,
    },
  },
  probed: {
    id: 'xJ3vT0yR9q2LmN4b',
    ok: true,
    probe: { session: 'none' },
    stream_url: 'wss://stream.example/streaming-api/{random_hash}/v1/speech-to-speech/stream',
  },
  recorded: { ts, id: 'xJ3vT0yR9q2LmN4b', recorded: [session] },
  certificateRequest: {
    ts,
    id: 'mB7kQ2xW9vR4tY8p',
    valid_to: '2027-01-04T09:30:00.000Z',
    csr: '-----BEGIN CERTIFICATE REQUEST-----\n...',
  },
  statusAnswer: {
    ...status,
    uptime_s: 86_400,
    refused_answers: {},
    lanes: [report],
    audio: [account],
  },
  diagnosis: {
    version: '0.1.0',
    verdict: 'problem',
    checks: [
      {
        check: 'capture',
        lane: 'main',
        verdict: 'problem',
        finding: 'the microphone hears nothing but zeros',
        fix: 'look for a switch at the microphone, and for a mute in alsamixer',
        data: { level_dbfs: null },
      },
    ],
  },
};
