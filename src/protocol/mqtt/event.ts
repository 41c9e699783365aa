import { z } from 'zod';
import { timestampSchema } from './envelope.ts';
import { tokenReasonSchema } from './token.ts';

const lane = z.string().describe('the lane it happened to');
const noLane = z.null().describe('null: it is about the whole device');
const message = z.string().describe('what happened, a sentence for people');
const cause = z.string().describe('a cause of [lane.md](lane.md#what-follows-from-each-failure)');
const session = z.string().describe('the session, shortened');
const retryMs = z.number().describe('how long the lane waits before the next try, milliseconds');
const errorCode = z.number().optional().describe("the service's own number for it");
const device = z.enum(['capture', 'playback']).describe('the microphone or the loudspeaker');
const finding = z
  .enum([
    'incomplete',
    'too_fast',
    'too_slow',
    'silent',
    'deaf',
    'clipping',
    'dc_offset',
    'gain_changed',
    'noisy_room',
  ])
  .describe('what is wrong with the sound of the microphone');
const keptFile = z
  .enum(['commands', 'desired', 'tasks', 'budget', 'broker'])
  .describe('what: the file whose name begins so, in the state directory');
const ms = (says: string) => z.number().describe(`${says}, milliseconds`);
const moment = (says: string) => timestampSchema.describe(says);

/** What every event tells beside its own. */
const common = {
  ts: timestampSchema.describe(
    'when it happened, also where it is told later; null while the clock is not set',
  ),
  repeated: z
    .int()
    .optional()
    .describe('how often it happened in the last minute, where it was counted instead of told each time'),
};
const event = <T extends z.ZodRawShape>(says: string, fields: T) =>
  z.strictObject({ ...common, ...fields }).describe(says);
const ending = { lane, cause, message, error_code: errorCode, retry_ms: retryMs };

/** `{p}/event/{kind}`: what each event tells. docs/mqtt.md is made of it. */
export const EVENT_SCHEMAS = {
  session_started: event('A stream takes what is said.', {
    lane,
    session,
    stream_host: z.string().describe('where what is said goes'),
    reason: tokenReasonSchema.describe('why its token was asked for'),
  }),
  session_ended: event('A stream that took what was said has ended.', {
    lane,
    session,
    cause: z.string().describe('`stopped`, `rollover`, `standby`, or a cause of a failure'),
    live_ms: ms('how long it lived'),
  }),
  rollover: event('The next session took over from one that had reached its limit or was about to.', {
    lane,
    session: session.describe('the new session, shortened'),
  }),
  revoked: event('The session was revoked by its owner; the lane asks for another.', ending),
  max_duration: event('The session reached its longest duration before the next one was ready.', ending),
  refused: event('The backend or the service said no, and why.', {
    ...ending,
    retry_ms: retryMs.optional(),
    source: z.string().optional().describe('the language that was refused, where languages were'),
    targets: z
      .array(z.string())
      .readonly()
      .optional()
      .describe('the languages that were refused, where languages were'),
    voice: z.string().nullable().optional().describe('the voice that was refused with them'),
  }),
  unreachable: event('Three tries did not reach the service; the backend is asked for another address.', {
    lane,
    host: z.string().describe('where no way led to'),
    tries: z.int().describe('tries in a row'),
    message,
  }),
  messages_unreadable: event(
    'The service sends messages that cannot be read; what they say is lost. Told once in a session.',
    { lane, session, message },
  ),
  audio_lost: event(
    'A microphone or loudspeaker has failed, or fails for another reason than before; it is tried again and again.',
    {
      lane,
      device,
      code: z.string().describe('`not_found`, `busy`, `lost`, `failed`, ...'),
      message,
    },
  ),
  audio_back: event('The microphone or loudspeaker works again.', { lane, device }),
  echo_detected: event('What the loudspeaker played was recognised in the microphone.', {
    lane,
    mode: z.string().describe('the echo mode in force'),
    delay_ms: ms('from the loudspeaker to the microphone'),
    gain_db: z.number().describe('how loud it comes back, dB'),
    confidence: z.number().describe('0 to 1'),
    heard_in: z
      .enum(['microphone', 'cancelled'])
      .describe('in the microphone itself, or in what the canceller left'),
  }),
  echo_fallback: event('The wanted echo mode does not hold here; the lane is half-duplex from now on.', {
    lane,
    reason: z.enum(['loop', 'canceller']).describe('it heard itself, or the canceller failed'),
    from: z.string().describe('the mode that did not hold'),
    mode: z.literal('half-duplex').describe('the mode in force now'),
    message,
  }),
  echo_restored: event('Cancelling holds again after a fallback: a visitor may speak over the translation.', {
    lane,
    mode: z.literal('cancel').describe('the mode in force now'),
  }),
  capture_problem: event('A microphone that delivers does so badly.', { lane, finding, message }),
  capture_problem_over: event('What was wrong with the microphone is over.', { lane, finding, message }),
  speech_lost: event('Speech was lost that never reached a working service.', {
    lane,
    lost_ms: ms('speech lost, pauses not counted'),
    cause: z
      .string()
      .describe(
        'the cause of the outage; `silent_service`: a stream took the speech and never reacted; `stopped`: the lane was stopped first',
      ),
    ongoing: z
      .literal(true)
      .optional()
      .describe('the outage goes on; the event at its end counts this speech again'),
    from: moment('beginning of the first lost speech'),
    to: moment('end of the last lost speech so far'),
  }),
  backend_silent: event('The backend has given no usable answer for 20 s.', {
    lane: noLane,
    since: moment('since when'),
    reason: z
      .enum(['no_answer', 'malformed', 'not_allowed'])
      .describe('nothing came, nothing that can be used came, or the broker does not let the device ask'),
    field: z.string().optional().describe('the first field that is wrong in what came'),
  }),
  backend_back: event('The backend answers again.', {
    lane: noLane,
    since: moment('when it fell silent'),
    silent_ms: ms('how long it was silent'),
  }),
  broker_changed: event('The broker that the configuration names has taken the device; told there.', {
    lane: noLane,
    from: z.string().describe('the broker before'),
    to: z.string().describe('the broker now'),
  }),
  broker_returned: event(
    'The broker that the configuration names does not take the device; told at the one before.',
    {
      lane: noLane,
      from: z.string().describe('the broker of the configuration, which is tried again'),
      to: z.string().describe('the broker before it, which is used meanwhile'),
      message,
    },
  ),
  certificate_renewed: event(
    'The broker has taken the new client certificate; the old one is not used any more.',
    {
      lane: noLane,
      valid_to: moment('when the new one ends'),
    },
  ),
  certificate_problem: event('The client certificate ends soon, or its renewal did not come about.', {
    lane: noLane,
    valid_to: moment('when the present one ends'),
    message,
  }),
  config_problem: event(
    'The configuration was read again and is refused, or a file that it names cannot be read any more: what was read before stays in force, and the next start would fail.',
    {
      lane: noLane,
      problems: z
        .array(z.string())
        .readonly()
        .describe('at most ten; each with its place, the key and what to do, 300 characters at most'),
      more: z.int().describe('how many problems there are beside these'),
    },
  ),
  config_problem_over: event(
    'The configuration was read again and is in force, or all its files can be read again.',
    { lane: noLane },
  ),
  disk_problem: event('Something that outlives a restart cannot be written; it is tried again each minute.', {
    lane: noLane,
    what: keptFile,
    message,
  }),
  disk_problem_over: event('It is written again, with all that has changed meanwhile.', {
    lane: noLane,
    what: keptFile,
  }),
  budget: event(
    'Most of the minutes of `budget.minutesPerDay` are used; at all of them no session is begun.',
    {
      lane: noLane,
      used_minutes: z.number().describe('minutes of open streams on this local day, of all lanes together'),
      minutes_per_day: z.number().describe('the limit'),
      percent: z.number().describe('of the limit'),
    },
  ),
  identity_conflict: event('Another device connects under the name of this one; both back off.', {
    lane: noLane,
    message,
    other_boot_id: z.string().optional().describe('the `boot_id` of the other one, where it was seen'),
  }),
  unspoken: event(
    'The service took speech and did not speak all of it. Published when a session ends, or every 10 minutes.',
    {
      lane,
      language: z.string().describe('the target language in which it is missing'),
      unspoken_ms: ms('length of the speech that is missing'),
      sentences: z.int().describe('number of sentences that are missing, whole or in part'),
    },
  ),
  speech_dropped: event('Translated speech was not played.', {
    lane,
    why: z
      .enum(['lag', 'barge_in', 'no_loudspeaker', 'stop'])
      .describe(
        'it lagged too far behind, a visitor spoke over it, there was no loudspeaker, or the lane was ended before it was heard',
      ),
    sentences: z.int().describe('how many, whole or in part; with `repeated`: of all these events together'),
    dropped_ms: ms('how long they were, as far as they had come; with `repeated`: of all'),
    waiting_ms: ms('what still waits to be heard'),
    ongoing: z
      .literal(true)
      .optional()
      .describe('the loudspeaker is still away; the event at its return counts this speech again'),
  }),
  parked: event('Refused for a reason that somebody has to remove; the lane asks again every few minutes.', {
    lane,
    cause,
    message,
    retry_ms: retryMs,
  }),
  internal_error: event('A defect of the program; the lane starts again.', {
    lane,
    message,
    retry_ms: retryMs
      .nullable()
      .describe('how long the lane waits before it starts again, milliseconds; null: it does not'),
    cause: cause.optional(),
    error_code: errorCode,
    lost_ms: ms('speech lost with it').optional(),
  }),
  defect: event(
    'Something threw where nothing may: a defect of the program. The agent goes on without what was to be done.',
    {
      lane: noLane,
      where: z.string().describe('what threw, such as `state file.write`: each is told by itself'),
      message,
    },
  ),
  standby: event('Nobody spoke for a while; the stream was given up and costs nothing.', { lane }),
  wake: event('Somebody speaks again, or `start` came; the lane asks for a token.', { lane }),
} as const;

export type EventKind = keyof typeof EVENT_SCHEMAS;
export const EVENT_KINDS = Object.keys(EVENT_SCHEMAS) as readonly EventKind[];

/** Told as moments of the program's own clock; they become timestamps on their way out. */
type MomentsOf<K extends EventKind> = K extends 'speech_lost'
  ? 'from' | 'to'
  : K extends 'backend_silent' | 'backend_back'
    ? 'since'
    : never;
/** What whoever raises an event has to tell; lane, moments and count are added on the way out. */
export type EventDetail<K extends EventKind> = Omit<
  z.input<(typeof EVENT_SCHEMAS)[K]>,
  'ts' | 'lane' | 'repeated' | MomentsOf<K>
>;
