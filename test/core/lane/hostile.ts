import type { Hold, TimerName } from '../../../src/core/lane/event.ts';
import type { StreamFault, StreamMessage } from '../../../src/ports/stream.ts';
import { REFUSAL_REASONS } from '../../../src/protocol/service/error.ts';
import { fc } from '../../properties.ts';
import { LaneHarness } from './lane-harness.ts';

/** Which stream an event is about: by its part, or one that is gone. */
export type Role = 'newest' | 'hearing' | 'oldSession' | 'gone';

/** Something that happens to a lane, whether or not it makes sense at that moment. */
export type Act =
  | { readonly act: 'pass' | 'stall'; readonly ms: number }
  | { readonly act: 'speak' | 'hush'; readonly chunks: number }
  | { readonly act: 'burst'; readonly chunks: number; readonly voiced: boolean }
  | { readonly act: 'start' | 'stop' | 'say' | 'shutdown' | 'languages' | 'voice' | 'defect' }
  | { readonly act: 'broke'; readonly who: Role; readonly fault: StreamFault }
  | { readonly act: 'opened' | 'pong' | 'congested' | 'drained'; readonly who: Role }
  | { readonly act: 'standby'; readonly ms: number }
  | { readonly act: 'hold'; readonly hold: Hold | null }
  | { readonly act: 'understood'; readonly sentence: number | null; readonly who: Role }
  | { readonly act: 'mute' | 'broker' | 'pongs'; readonly on: boolean }
  | {
      readonly act: 'grant';
      readonly which: number;
      readonly windowMs: number;
      readonly maxMs: number | null;
      readonly fit: string;
    }
  | { readonly act: 'unusable'; readonly which: number }
  | {
      readonly act: 'deny';
      readonly which: number;
      readonly final: boolean;
      readonly retryAfterMs: number | null;
    }
  | {
      readonly act: 'refused';
      readonly who: Role;
      readonly status: number;
      readonly reason: string;
      readonly retryAfterMs: number | null;
    }
  | { readonly act: 'unreached'; readonly who: Role; readonly spent: boolean }
  | { readonly act: 'ended'; readonly who: Role; readonly code: number; readonly reason: string }
  | { readonly act: 'message'; readonly message: StreamMessage; readonly who: Role }
  | {
      readonly act: 'hear';
      readonly who: Role;
      readonly sentence: number | null;
      readonly ms: number;
      readonly last: boolean;
    }
  | { readonly act: 'fault'; readonly device: 'capture' | 'playback' }
  | { readonly act: 'timer'; readonly timer: TimerName };

const TIMERS = Object.keys(new LaneHarness().state.timers) as readonly TimerName[];

const TRANSCRIPT = { transcription: { language: 'en', text: 'hello', transcription_id: 't' } };
const MESSAGES: readonly StreamMessage[] = [
  { message_type: 'current_task', data: { task_status: 'running' } },
  { message_type: 'current_task', data: {} },
  { message_type: 'current_task', data: { task_status: 'paused' } },
  { message_type: 'task_status', data: { task_status: 'running' } },
  { message_type: 'task_status', data: {} },
  { message_type: 'max_duration_reached', data: {} },
  { message_type: 'session_revoked', data: {} },
  { message_type: 'eos', data: {} },
  { message_type: 'end_of_stream', data: {} },
  { message_type: 'error', data: { code: 'NOT_FOUND' } },
  { message_type: 'error', data: { code: 'SERVICE_TIMEOUT' } },
  { message_type: 'error', data: { code: 'VALIDATION_ERROR' } },
  { message_type: 'error', data: { code: 'RATE_LIMIT_EXCEEDED', desc: 'slower' } },
  { message_type: 'error', data: { error_code: 202100 } },
  { message_type: 'error', data: { reason: 'insufficient_balance' } },
  { message_type: 'error', data: {} },
  { message_type: 'warning', data: { code: 'AUDIO_STREAM_TOO_SLOW' } },
  { message_type: 'partial_transcription', data: TRANSCRIPT },
  { message_type: 'pipeline_timings', data: {} },
  { message_type: 'tts_buffer_stats', data: {} },
];

const retryAfterMs = fc.option(fc.integer({ min: 0, max: 60_000 }));
const which = fc.nat(2);
const who = fc.constantFrom<Role>('newest', 'newest', 'hearing', 'oldSession', 'gone');
const plain = <A extends string>(...acts: readonly A[]) => fc.constantFrom(...acts).map((act) => ({ act }));

/** Any act; the ones that move a lane along come more often, or nothing would ever get far. */
export const anyAct: fc.Arbitrary<Act> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({ act: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 5000 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constantFrom('pass', 'stall'),
      ms: fc.oneof(fc.nat(90_000), fc.constant(400_000)),
    }),
  },
  {
    weight: 4,
    arbitrary: fc.record({ act: fc.constantFrom('speak', 'hush'), chunks: fc.integer({ min: 1, max: 12 }) }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('burst' as const),
      chunks: fc.integer({ min: 1, max: 110 }),
      voiced: fc.boolean(),
    }),
  },
  { weight: 2, arbitrary: plain('start') },
  {
    weight: 1,
    arbitrary: fc.oneof(
      plain('defect'),
      fc.record({
        act: fc.constant('broke' as const),
        who,
        fault: fc.constantFrom<StreamFault>('service', 'flood', 'agent'),
      }),
    ),
  },
  {
    weight: 3,
    arbitrary: fc.record({ act: fc.constantFrom('opened', 'opened', 'pong', 'congested', 'drained'), who }),
  },
  {
    weight: 2,
    arbitrary: plain(
      'stop',
      'stop',
      'say',
      'say',
      'languages',
      'languages',
      'languages',
      'voice',
      'shutdown',
    ),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('standby' as const),
      ms: fc.constantFrom(0, 2000, 5000, 20_000),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('hold' as const),
      hold: fc.constantFrom<Hold | null>('closed', 'budget', null, null, null),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      act: fc.constant('understood' as const),
      sentence: fc.constantFrom(null, 0, 1, 2),
      who,
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('mute', 'broker', 'pongs'), on: fc.boolean() }) },
  {
    weight: 4,
    arbitrary: fc.record({
      act: fc.constant('grant' as const),
      which: fc.constantFrom(0, 0, 0, 1, 2),
      windowMs: fc.constantFrom(60_000, 3_600_000, 60_000, 2000, 10_000),
      maxMs: fc.constantFrom(null, 60_000, 60_000, 30_000, 12_000, 3000),
      fit: fc.constantFrom('', '', '', '', 'intent', 'type'),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ act: fc.constant('deny' as const), which, final: fc.boolean(), retryAfterMs }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('unusable' as const), which }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('refused' as const),
      who,
      status: fc.constantFrom(400, 401, 403, 404, 409, 410, 429, 500, 503),
      reason: fc.constantFrom('', ...REFUSAL_REASONS),
      retryAfterMs,
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('unreached' as const), who, spent: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('ended' as const),
      who,
      code: fc.constantFrom(1000, 1001, 1006, 1008, 1011, 4001),
      reason: fc.constantFrom('', 'bye', ...REFUSAL_REASONS),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('message' as const),
      message: fc.oneof(
        fc.constant<StreamMessage>({ message_type: 'current_task', data: { task_status: 'running' } }),
        fc.constantFrom(...MESSAGES),
      ),
      who,
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      act: fc.constant('hear' as const),
      who,
      sentence: fc.constantFrom(null, 0, 1, 2, 3),
      ms: fc.constantFrom(0, 20, 200, 1000, 1000, 20_000),
      last: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('fault' as const),
      device: fc.constantFrom('capture', 'playback'),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({ act: fc.constant('timer' as const), timer: fc.constantFrom(...TIMERS) }),
  },
);
