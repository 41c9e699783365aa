import * as z from 'zod';
import { updateReportSchema } from '../common/update.ts';
import { count, measure, milliseconds, seconds, sentence, wholeCount, word } from './bounds.ts';
import { timestampSchema } from './envelope.ts';
import { tokenReasonSchema } from './token.ts';

const lane = word.describe('lane');
const noLane = z.null().describe('null: concerns the whole device');
const message = sentence.describe('description, a sentence for people');
const cause = word.describe('cause, see [lane.md](lane.md#what-follows-from-each-failure)');
const session = word.describe('session id, shortened');
const retryMs = milliseconds.describe('delay before the next attempt, milliseconds');
const errorCode = measure.optional().describe('error number of the service');
const device = z
  .enum(['capture', 'playback', 'headset', 'also'])
  .describe(
    'microphone, loudspeaker (or the headset in its place), the plug of the headset, or the second device beside the loudspeaker',
  );
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
  .describe('problem of the microphone');
const keptFile = z
  .enum(['commands', 'desired', 'tasks', 'budget'])
  .describe('file in the state directory whose name begins with this word');
const ms = (says: string) => milliseconds.describe(`${says}, milliseconds`);
const moment = (says: string) => timestampSchema.describe(says);

/** Fields of every event. */
const common = {
  ts: timestampSchema.describe(
    'time of the occurrence, which may be earlier than the publication; null while the clock is not set',
  ),
  repeated: wholeCount
    .optional()
    .describe('number of occurrences in the last minute, if this event stands for several'),
};
/** What an owner does about an event. */
const advice = z.registry<{ readonly todo: string }>();
const event = <T extends z.ZodRawShape>(means: string, todo: string, fields: T) =>
  z
    .strictObject({ ...common, ...fields })
    .describe(means)
    .register(advice, { todo });
const ending = { lane, cause, message, error_code: errorCode, retry_ms: retryMs };

/** `{p}/event/{kind}`: the fields of each event. docs/mqtt.md is generated from it. */
export const EVENT_SCHEMAS = {
  session_started: event('A stream is live and receives speech.', 'Nothing.', {
    lane,
    session,
    stream_host: word.describe('host that receives the speech'),
    reason: tokenReasonSchema.describe('reason for the token request'),
  }),
  session_ended: event('A live stream has ended.', 'Nothing; the cause says why.', {
    lane,
    session,
    cause: word.describe('`stopped`, `rollover`, `standby`, or the cause of the failure'),
    live_ms: ms('how long it was live'),
  }),
  rollover: event(
    'The next session took over, because the previous one reached or approached its limit.',
    'Nothing.',
    {
      lane,
      session: session.describe('id of the new session, shortened'),
    },
  ),
  revoked: event(
    'The owner revoked the session; the lane requests another one.',
    'See the cause `session_revoked`.',
    ending,
  ),
  max_duration: event(
    'The session reached its maximum duration before the next one was ready.',
    'See the cause `max_duration_reached`.',
    ending,
  ),
  refused: event(
    'The backend or the service refused a session or a task; the message says why.',
    'See its cause.',
    {
      ...ending,
      retry_ms: retryMs.optional(),
      source: word.optional().describe('refused source language, if any'),
      targets: z.array(word).max(64).readonly().optional().describe('refused target languages, if any'),
      voice: word.nullable().optional().describe('refused voice, if any'),
    },
  ),
  unreachable: event(
    'Three attempts did not reach the service; the lane asks the backend for another address.',
    'Check name resolution and network to `host`, and the firewall.',
    {
      lane,
      host: word.describe('host that was not reachable'),
      tries: wholeCount.describe('failed attempts in a row'),
      message,
    },
  ),
  messages_unreadable: event(
    'The service sends invalid messages; their content is lost. Published once per session.',
    'Report its message to the support of the service.',
    { lane, session, message },
  ),
  audio_lost: event(
    'A microphone or loudspeaker has failed, or its error has changed; the agent keeps retrying.',
    'Check cable, card and power: `dragoman devices`.',
    {
      lane,
      device,
      code: word.describe('`not_found`, `busy`, `lost`, `failed`, ...'),
      message,
    },
  ),
  audio_back: event('The microphone or loudspeaker works again.', 'Nothing.', { lane, device }),
  echo_detected: event(
    'The microphone picked up the sound of the loudspeaker.',
    'In `off`: choose another mode. In `cancel`: turn the loudspeaker down or away.',
    {
      lane,
      mode: word.describe('echo mode in force'),
      delay_ms: measure.describe('from the loudspeaker to the microphone, milliseconds'),
      gain_db: measure.describe('level of the echo relative to the played sound, dB'),
      confidence: z.number().min(0).max(1).describe('0 to 1'),
      heard_in: z.enum(['microphone', 'cancelled']).describe('before or after the canceller'),
    },
  ),
  echo_fallback: event(
    'The wanted echo mode does not work here; the lane changes to half-duplex.',
    'Turn the loudspeaker down or away. The agent retries `cancel` after 5, 10, 20, 40 and then every 60 minutes, and any mode after the command `echo`.',
    {
      lane,
      reason: z.enum(['loop', 'canceller']).describe('the lane heard itself, or the canceller failed'),
      from: word.describe('mode before the fallback'),
      mode: z.literal('half-duplex').describe('mode in force now'),
      message,
    },
  ),
  echo_restored: event(
    'The canceller works again after a fallback: a visitor may speak over the translation.',
    'Nothing.',
    {
      lane,
      mode: z.literal('cancel').describe('mode in force now'),
    },
  ),
  two_way_fallback: event(
    'The service refuses to detect which of two people speaks; from now on a key says who speaks.',
    'Bind keys to `turn` ([desk.md](desk.md#both-ways-on-one-microphone)), or ask the service for `auto`. The agent tries `auto` again after a change of `twoWay` or of the languages, and after a restart.',
    {
      lane,
      from: z.literal('auto').describe('`twoWay` as configured'),
      mode: z.literal('button').describe('mode in force now'),
      message,
    },
  ),
  capture_problem: event(
    'A microphone works, but its sound has a problem.',
    '`incomplete`: use another USB port or card, or a less busy machine. `clipping`: lower the gain. `silent`: look for a switch or mute. `deaf`: raise the gain. `too_fast`, `too_slow`: set another `sampleRate`. `dc_offset`: use another microphone. `gain_changed`: find out what else sets the mixer. `noisy_room`: move the microphone closer to the visitors, lower its gain, or use a directional microphone.',
    { lane, finding, message },
  ),
  capture_problem_over: event('The problem of the microphone is over.', 'Nothing.', {
    lane,
    finding,
    message,
  }),
  speech_lost: event(
    'Speech was lost that never reached a working service.',
    'See its cause. Ask the visitors to repeat what they said.',
    {
      lane,
      lost_ms: ms('speech lost, pauses not counted'),
      cause: word.describe(
        'the cause of the outage; `silent_service`: a stream received the speech and never reacted; `stopped`: the lane was stopped first',
      ),
      ongoing: z
        .literal(true)
        .optional()
        .describe('the outage continues; the event at the end of the outage counts this speech again'),
      from: moment('beginning of the first lost speech'),
      to: moment('end of the last lost speech so far'),
    },
  ),
  backend_silent: event(
    'The backend has given no usable answer for 20 s.',
    "Check that the backend runs and may subscribe at its broker. `malformed`: repair the `field`. `not_allowed`: correct the broker's rules for this device.",
    {
      lane: noLane,
      since: moment('start of the silence'),
      reason: z
        .enum(['no_answer', 'malformed', 'not_allowed'])
        .describe('no answer, no valid answer, or the broker does not allow the request'),
      field: word.optional().describe('first invalid field of the answer'),
    },
  ),
  backend_back: event('The backend answers again.', 'Nothing.', {
    lane: noLane,
    since: moment('start of the silence'),
    silent_ms: ms('length of the silence'),
  }),
  broker_changed: event('The configured broker has accepted the device. Published there.', 'Nothing.', {
    lane: noLane,
    from: word.describe('previous broker'),
    to: word.describe('current broker'),
  }),
  broker_returned: event(
    'The configured broker does not accept the device. Published on the previous broker.',
    'See the reason `broker`.',
    {
      lane: noLane,
      from: word.describe('configured broker, which the device keeps trying'),
      to: word.describe('previous broker, which the device uses meanwhile'),
      message,
    },
  ),
  certificate_renewed: event(
    'The broker has accepted the new client certificate; the old one is no longer used.',
    'Nothing.',
    {
      lane: noLane,
      valid_to: moment('expiry of the new certificate'),
    },
  ),
  certificate_problem: event(
    'The client certificate expires soon, or its renewal has failed.',
    'Run `dragoman-backend devices renew` ([fleet-security.md](fleet-security.md#certificates)).',
    {
      lane: noLane,
      valid_to: moment('expiry of the current certificate'),
      message,
    },
  ),
  config_problem: event(
    'A reload of the configuration failed, or a file that it names is no longer readable. The previous configuration stays in force, but the next start would fail.',
    'See the reason `config_problem`.',
    {
      lane: noLane,
      problems: z
        .array(sentence)
        .readonly()
        .describe('at most ten; each names the place, the key and the fix in at most 300 characters'),
      more: wholeCount.describe('number of further problems'),
    },
  ),
  config_problem_over: event(
    'A reload of the configuration succeeded, or all its files are readable again.',
    'Nothing.',
    { lane: noLane },
  ),
  commands_dropped: event(
    'More commands came in a minute than the device answers.',
    'Find out who sends that many commands: a person with a login at the broker, or a script in a loop.',
    {
      lane: noLane,
      commands: wholeCount.describe('number of commands that were not carried out and got no answer'),
    },
  ),
  disk_problem: event(
    'A file that keeps state across restarts cannot be written; the agent retries every minute.',
    'See the reason `disk_problem`.',
    {
      lane: noLane,
      what: keptFile,
      message,
    },
  ),
  disk_problem_over: event('The file is writable again and up to date.', 'Nothing.', {
    lane: noLane,
    what: keptFile,
  }),
  budget: event(
    'Most of `budget.minutesPerDay` is used; at 100 % no new session starts.',
    'Raise `budget.minutesPerDay`, lower `standbyAfter`, or accept the end of service for the day.',
    {
      lane: noLane,
      used_minutes: count.describe('minutes of open streams on this local day, all lanes together'),
      minutes_per_day: count.describe('limit'),
      percent: count.describe('used part of the limit'),
    },
  ),
  identity_conflict: event(
    'Another device connects with the identity of this one; both back off.',
    'See the reason `identity_conflict`.',
    {
      lane: noLane,
      message,
      other_boot_id: word.optional().describe('`boot_id` of the other device, if known'),
    },
  ),
  unspoken: event(
    'The service received speech but did not speak all of it. Published when a session ends, or every 10 minutes.',
    "Nothing for a few seconds. For more: check the target languages and the voice, then ask the service's support.",
    {
      lane,
      language: word.describe('target language in which the translation is missing'),
      unspoken_ms: ms('length of the missing speech'),
      sentences: wholeCount.describe('number of sentences missing, whole or in part'),
    },
  ),
  speech_dropped: event(
    'Translated speech was not played.',
    '`lag`: use fewer targets on one loudspeaker. `barge_in`, `stop`, `headset`: nothing. `no_loudspeaker`: check its cable, card and power, and ask the visitors to repeat what they said.',
    {
      lane,
      why: z
        .enum(['lag', 'barge_in', 'no_loudspeaker', 'stop', 'headset'])
        .describe(
          'it lagged too far behind, a visitor spoke over it, there was no loudspeaker, the lane was ended before it was heard, or a headset was plugged in or out meanwhile',
        ),
      sentences: wholeCount.describe(
        'number of sentences, whole or in part; with `repeated`: for all these events together',
      ),
      dropped_ms: ms('length of their received parts; with `repeated`: for all these events together'),
      waiting_ms: ms('length of the speech that still waits to be played'),
      ongoing: z
        .literal(true)
        .optional()
        .describe('the loudspeaker is still away; the event at its return counts this speech again'),
    },
  ),
  parked: event(
    'Refused; needs manual action. The lane retries every few minutes.',
    'See its cause, then send `start`.',
    {
      lane,
      cause,
      message,
      retry_ms: retryMs,
    },
  ),
  internal_error: event(
    'A program defect; the lane restarts.',
    'Report it with the log line of the same time.',
    {
      lane,
      message,
      retry_ms: retryMs
        .nullable()
        .describe('delay before the restart of the lane, milliseconds; null: no restart'),
      cause: cause.optional(),
      error_code: errorCode,
      lost_ms: ms('speech lost by the defect').optional(),
    },
  ),
  defect: event(
    'A program defect: unexpected exception. The agent continues without the failed action.',
    'Report it with the log line of the same text, and its stack.',
    {
      lane: noLane,
      where: word.describe(
        'place of the exception, such as `state file.write`; each place has its own event',
      ),
      message,
    },
  ),
  update: event(
    'An update of the agent has reached another state, or an operator has ordered a roll-back.',
    'See its `reason`. After `rolled_back` or `failed`, order a version again ([updates.md](updates.md)).',
    {
      lane: noLane,
      state: updateReportSchema.shape.state,
      from: updateReportSchema.shape.from,
      to: updateReportSchema.shape.to,
      reason: updateReportSchema.shape.reason,
    },
  ),
  conversation_started: event('A conversation has begun at a desk.', 'Nothing.', {
    lane: lane.describe('lane at which it began'),
    by: z
      .enum(['voice', 'key', 'touch', 'command'])
      .describe('speech that the service understood, a key, the screen, or a command'),
  }),
  conversation_ended: event(
    'A conversation has ended. Nothing that was said is in it.',
    'For a long `delay_ms`: check the network, then the service. Without sentences: a key or a command began it, and no speech followed.',
    {
      lane: lane.describe('lane at which it began'),
      duration_s: seconds.describe('length of the conversation, seconds'),
      languages: z
        .array(word)
        .max(64)
        .readonly()
        .describe('languages that were spoken and heard, in the order of their first use'),
      sentences: wholeCount.describe('number of sentences that the service understood'),
      delay_ms: milliseconds
        .nullable()
        .describe(
          'median from the end of a sentence to the beginning of its translation, milliseconds; null: there was none',
        ),
      billed_s: seconds.describe(
        'total time with an open stream during the conversation, all lanes of the desk, seconds',
      ),
    },
  ),
  help_called: event(
    'A visitor has called a member of staff.',
    'Go to the kiosk, and answer in the console or with `help {do:"answer"}`.',
    { lane: lane.nullable().describe('lane at which the visitor called; null: not named') },
  ),
  help_answered: event('A member of staff has answered the call of a visitor.', 'Nothing.', {
    lane: lane.nullable().describe('lane at which the visitor called; null: not named'),
    by: word.optional().describe('who comes'),
  }),
  standby: event('There was no speech for a while; the lane closed the stream to save cost.', 'Nothing.', {
    lane,
  }),
  wake: event('Speech or the command `start` woke the lane; it requests a token.', 'Nothing.', { lane }),
} as const;

export type EventKind = keyof typeof EVENT_SCHEMAS;
export const EVENT_KINDS = Object.keys(EVENT_SCHEMAS) as readonly EventKind[];
export const eventTodo = (kind: EventKind): string => advice.get(EVENT_SCHEMAS[kind])?.todo ?? '';

/** Fields that are raised as moments of the monotonic clock; the publisher converts them to timestamps. */
type MomentsOf<K extends EventKind> = K extends 'speech_lost'
  ? 'from' | 'to'
  : K extends 'backend_silent' | 'backend_back'
    ? 'since'
    : never;
/** Fields that the source of an event supplies; the publisher adds lane, moments and count. */
export type EventDetail<K extends EventKind> = Omit<
  z.input<(typeof EVENT_SCHEMAS)[K]>,
  'ts' | 'lane' | 'repeated' | MomentsOf<K>
>;
