import fc from 'fast-check';
import type { Hold, TimerName } from '../../../src/core/lane/event.ts';
import type { StreamMessage } from '../../../src/ports/stream.ts';
import { REFUSAL_REASONS } from '../../../src/protocol/service/error.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

/** Which stream an event is about: by its part, or one that is gone. */
type Role = 'newest' | 'hearing' | 'oldSession' | 'gone';

/** Something that happens to a lane, whether or not it makes sense at that moment. */
export type Act =
  | { readonly act: 'pass' | 'stall'; readonly ms: number }
  | { readonly act: 'speak' | 'hush'; readonly chunks: number }
  | { readonly act: 'burst'; readonly chunks: number; readonly voiced: boolean }
  | { readonly act: 'start' | 'stop' | 'say' | 'shutdown' | 'languages' | 'voice' | 'defect' }
  | { readonly act: 'broke'; readonly who: Role; readonly fault: 'service' | 'agent' }
  | { readonly act: 'opened' | 'pong' | 'congested' | 'drained'; readonly who: Role }
  | { readonly act: 'standby'; readonly ms: number }
  | { readonly act: 'hold'; readonly hold: Hold | null }
  | { readonly act: 'understood'; readonly sentence: number | null; readonly who: Role }
  | { readonly act: 'mute' | 'line' | 'pongs'; readonly on: boolean }
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
        fault: fc.constantFrom('service' as const, 'agent' as const),
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
  { weight: 1, arbitrary: fc.record({ act: fc.constantFrom('mute', 'line', 'pongs'), on: fc.boolean() }) },
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

function streamOf(lane: LaneHarness, who: Role): number {
  const { oldSession, nextStream } = lane.state;
  if (who === 'hearing') return lane.hearing?.id ?? nextStream - 1;
  if (who === 'oldSession') return oldSession?.stream.id ?? nextStream - 1;
  return nextStream - (who === 'newest' ? 1 : 3);
}

function requestOf(lane: LaneHarness, which: number): string {
  return lane.all('request_token').at(-1 - which)?.id ?? 'unheard-of';
}

/** Makes it happen. */
export function perform(lane: LaneHarness, act: Act): void {
  switch (act.act) {
    case 'pass':
      return lane.pass(act.ms);
    case 'stall':
      return lane.stall(act.ms);
    case 'speak':
      return lane.speak(act.chunks);
    case 'hush':
      return lane.hush(act.chunks);
    case 'burst':
      for (let i = act.chunks - 1; i >= 0; i--) lane.capture(act.voiced, lane.now - i * CHUNK_MS);
      return;
    case 'start':
      return lane.start();
    case 'stop':
      return lane.stop();
    case 'say':
      return lane.say();
    case 'shutdown':
      return lane.shutdown();
    case 'defect':
      return lane.crash(lane.phase === 'idle' ? { type: 'start' } : undefined);
    case 'broke':
      lane.step({
        ...{ type: 'broke', stream: streamOf(lane, act.who) },
        ...{ fault: act.fault, message: 'it broke' },
      });
      return;
    case 'languages':
      return lane.options({ targets: [lane.state.options.targets[0] === 'es' ? 'fr' : 'es'] });
    case 'opened':
      lane.step({ type: 'opened', stream: streamOf(lane, act.who) });
      return;
    case 'pong':
    case 'congested':
    case 'drained':
      lane.step({ type: act.act, stream: streamOf(lane, act.who) });
      return;
    case 'voice':
      return lane.options({ start: lane.state.options.start === 'boot' ? 'voice' : 'boot' });
    case 'standby':
      return lane.options({ standbyAfterMs: act.ms });
    case 'hold':
      return lane.hold(act.hold);
    case 'understood':
      return lane.understands(act.sentence === null ? null : `${act.sentence}`, streamOf(lane, act.who));
    case 'mute':
      return lane.options({ muted: act.on });
    case 'line':
      return lane.line(act.on);
    case 'pongs':
      lane.pongs = act.on;
      return;
    case 'grant': {
      const fit =
        act.fit === 'intent' ? { intent: 'tts' } : act.fit === 'type' ? { connectionType: 'webrtc' } : {};
      const grant = lane.grantFor(requestOf(lane, act.which), {
        windowMs: act.windowMs,
        maxDurationMs: act.maxMs,
        ...fit,
      });
      lane.step({ type: 'granted', grant });
      return;
    }
    case 'unusable':
      lane.step({ type: 'unusable', id: requestOf(lane, act.which), message: 'no' });
      return;
    case 'deny': {
      const denial = { code: 'no', message: 'no', final: act.final, retryAfterMs: act.retryAfterMs };
      lane.step({ type: 'denied', id: requestOf(lane, act.which), denial });
      return;
    }
    case 'refused': {
      const { status, reason, retryAfterMs } = act;
      const refusal = { status, errorCode: null, texts: [reason], detail: null, retryAfterMs };
      lane.step({ type: 'refused', stream: streamOf(lane, act.who), refusal });
      return;
    }
    case 'unreached':
      lane.step({
        type: 'unreached',
        stream: streamOf(lane, act.who),
        spent: act.spent,
        message: 'no way',
      });
      return;
    case 'ended':
      lane.step({ type: 'ended', stream: streamOf(lane, act.who), code: act.code, reason: act.reason });
      return;
    case 'message':
      return lane.says(act.message, streamOf(lane, act.who));
    case 'hear':
      return lane.hear(
        act.sentence === null ? null : `${act.sentence}`,
        act.ms,
        act.last,
        streamOf(lane, act.who),
      );
    case 'fault':
      return lane.fault(act.device);
    case 'timer':
      lane.step({ type: 'timer', timer: act.timer });
  }
}
