import type { Hold, TimerName } from '../../../src/device/lane/state/lane-event.ts';
import { REFUSALS, type Refusal, type ServiceEvent, type StreamFault } from '../../../src/ports/stream.ts';
import { fc } from '../../properties.ts';
import { finished, heard, limit, pushed, ready, refused, rejected, warned } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';

/** The stream that an event is about: by its role, or one that is gone. */
export type Role = 'newest' | 'hearing' | 'oldSession' | 'gone';

/** Something that happens to a lane, whether or not it makes sense at that moment. */
export type Act =
  | { readonly act: 'pass' | 'stall'; readonly ms: number }
  | { readonly act: 'speak' | 'hush'; readonly chunks: number }
  | { readonly act: 'burst'; readonly chunks: number; readonly voiced: boolean }
  | {
      readonly act:
        | 'start'
        | 'stop'
        | 'say'
        | 'shutdown'
        | 'languages'
        | 'voice'
        | 'defect'
        | 'talk'
        | 'repeat';
    }
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
      readonly reason: Refusal;
      readonly retryAfterMs: number | null;
    }
  | { readonly act: 'unreached'; readonly who: Role; readonly spent: boolean }
  | {
      readonly act: 'ended';
      readonly who: Role;
      readonly how: 'closed' | 'cut';
      readonly reason: Refusal | null;
    }
  | { readonly act: 'service'; readonly said: ServiceEvent; readonly who: Role }
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

const SAYINGS: readonly ServiceEvent[] = [
  ready(),
  ready(),
  ready('paused'),
  pushed('running'),
  pushed('unclear'),
  limit('max_duration'),
  limit('revoked'),
  finished(),
  finished(),
  ready('none'),
  refused('service_timeout'),
  rejected(),
  warned('error', { code: 'RATE_LIMIT_EXCEEDED', text: 'slower' }),
  refused('session_already_used', { errorCode: 202100 }),
  refused('insufficient_balance'),
  warned('error'),
  warned('warning', { code: 'AUDIO_STREAM_TOO_SLOW' }),
  heard({ id: 't', text: 'hello' }),
  pushed('unclear'),
  pushed('unclear'),
];

const retryAfterMs = fc.option(fc.integer({ min: 0, max: 60_000 }));
const which = fc.nat(2);
const who = fc.constantFrom<Role>('newest', 'newest', 'hearing', 'oldSession', 'gone');
const plain = <A extends string>(...acts: readonly A[]) => fc.constantFrom(...acts).map((act) => ({ act }));

/** Any act. Those that advance a lane are more frequent; otherwise few sequences would get far. */
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
  { weight: 1, arbitrary: plain('talk', 'repeat', 'repeat') },
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
      reason: fc.constantFrom(...REFUSALS),
      retryAfterMs,
    }),
  },
  { weight: 1, arbitrary: fc.record({ act: fc.constant('unreached' as const), who, spent: fc.boolean() }) },
  {
    weight: 1,
    arbitrary: fc.record({
      act: fc.constant('ended' as const),
      who,
      how: fc.constantFrom('closed', 'cut', 'cut', 'cut'),
      reason: fc.constantFrom(null, null, ...REFUSALS),
    }),
  },
  {
    weight: 5,
    arbitrary: fc.record({
      act: fc.constant('service' as const),
      said: fc.oneof(fc.constant<ServiceEvent>(ready()), fc.constantFrom(...SAYINGS)),
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
