/** What whoever runs a kiosk does about what it says. The compiler asks for advice where a new thing can be said. */
import type { ReasonCode } from '../../src/core/lane/status.ts';
import type { Cause } from '../../src/core/retry/recovery.ts';
import type { DeviceStatus } from '../../src/protocol/mqtt/device.ts';
import type { EventKind } from '../../src/protocol/mqtt/event.ts';

const NOTHING = 'nothing';
const DISK = 'the disk: is it full or read-only?';

export const STATUS_ADVICE: Readonly<Record<DeviceStatus, { says: string; todo: string }>> = {
  ready: { says: 'a word spoken now would be heard and answered', todo: NOTHING },
  idle: {
    says: 'deliberately not listening: stopped, muted, or waiting for the command `start`',
    todo: 'nothing; `start` or `unmute` when it should listen',
  },
  degraded: { says: 'it should be ready and is not', todo: 'look at the reasons below' },
  stopping: { says: 'the agent was asked to end and closes its sessions', todo: NOTHING },
  offline: { says: 'the agent has ended by itself', todo: '`systemctl start dragoman`, if it should run' },
  lost: {
    says: "the broker's word: the device has gone without saying so",
    todo: 'power and network of the device; it comes back by itself when these do',
  },
};

export const REASON_ADVICE: Readonly<Record<ReasonCode, string>> = {
  stopped: 'send `start` when it should listen',
  closed: 'nothing; `start` with `until` opens it all the same',
  budget: 'raise `budget.minutesPerDay`, or wait for the next day',
  muted: 'send `unmute` when it should listen',
  no_broker: "the broker's address and login: `dragoman doctor`, check `broker`",
  no_backend: 'whether the backend runs, has its subscription, and may publish to `token/res`',
  no_session: 'wait a minute; then look at `last_error` in `state`',
  failing: 'the cause below',
  parked: 'the cause below; then send `start`, or wait some minutes',
  internal_error: 'nothing at once; report it with the log line beside it',
  speech_lost: 'the cause below: network, backend, service',
  silent_service: "the source language, then the microphone's level; then ask the service's support",
  untranslated: "the target languages and the voice; then ask the service's support",
  capture: 'cable and card: `dragoman devices`; `silent`: a switch or mute; `deaf`: its gain',
  playback: 'cable and card: `dragoman devices`',
  memory: 'restart it; report what `diagnose` says of it',
  broker: 'whether the new broker runs and knows the device: `mqtt` of the configuration, `dragoman doctor`',
  certificate:
    '`dragoman-backend devices renew` ([fleet.md](fleet.md#certificates)); the clock of the device',
  config: '`dragoman check-config` names every problem; it is read again every 5 s',
  identity_conflict:
    'which two devices have the same `device.id` and login: give one of them its own; `dragoman-backend devices add NAME --replace` keeps the one with the old login out',
  not_subscribed: "the broker's rules for this device: `dragoman-backend broker` writes right ones",
  connection_lost: 'power and network of the device',
};

export const CAUSE_ADVICE: Readonly<Record<Cause, string>> = {
  network: 'the way to the service: network, firewall, `service.hosts`; `dragoman doctor`, check `stream`',
  unresponsive: 'nothing the first time; often: the network loses packets or drops idle connections',
  silent_service: 'the source language and the level of the microphone',
  setup_timeout: 'nothing the first time; often: the service is slow, see its status page',
  stream_ended: 'nothing the first time; often: ask the support of the service',
  service_timeout: 'whether the microphone delivers: `dragoman devices --meter`',
  session_revoked: 'nothing, if you revoked it; otherwise find out who did: `dragoman-backend sessions list`',
  max_duration_reached: 'nothing; often: raise `rolloverLead`, the next session takes too long',
  session_already_used: 'nothing the first time; often: two devices share one answer',
  connect_window_expired: 'the clock of the backend; raise `session.expiresInSeconds` of the backend',
  grant_unusable: 'the message names the field: repair the backend',
  session_limit_reached: "the account's plan: streams at one time; or stop other streams",
  service_error: 'nothing; often: see the status page of the service',
  protocol_error: 'report it with the log line; the service has sent what this version cannot read',
  internal_error: 'report it with the log line',
  forbidden: 'whether the backend uses the right account; whether the plan is paid',
  insufficient_balance: 'top up the account; then send `start`',
  account_blocked: 'ask the support of the service',
  intent_mismatch: 'the backend must ask for `s2s`',
  connection_type_mismatch: 'the backend must ask for `ws`',
  task_rejected: 'source, targets and voice: the service does not take this combination',
  token_denied: "the backend's own words: they stand in the event `refused`",
  token_denied_final: "the backend's own words: allow the device there; then send `start`",
};

export const EVENT_ADVICE: Readonly<Record<EventKind, string>> = {
  session_started: NOTHING,
  session_ended: 'nothing; the cause tells why',
  rollover: NOTHING,
  revoked: 'as the cause `session_revoked`',
  max_duration: 'as the cause `max_duration_reached`',
  refused: 'as its cause',
  unreachable: 'the name and the way to `host`; the firewall',
  audio_cut: 'nothing the first time; often: ask the support of the service',
  untranslated: "the target languages and the voice; then ask the service's support",
  times_refused: 'nothing; report it to the support of the service',
  audio_lost: 'cable, card and power: `dragoman devices`; it is tried again by itself',
  audio_back: NOTHING,
  echo_detected: 'in `off`: choose another mode; in `cancel`: turn the loudspeaker down or away',
  echo_fallback:
    'turn the loudspeaker down or away; `cancel` is tried again by itself after 5, 10, 20, 40 and then each 60 minutes, any mode by the command `echo`',
  echo_restored: NOTHING,
  capture_problem:
    '`clipping`: less gain; `silent`: a switch or mute; `deaf`: more gain; `too_fast`, `too_slow`: another `sampleRate`; `dc_offset`: another microphone; `gain_changed`: what else sets the mixer; `noisy_room`: the microphone closer to the visitors, its gain down, or a directional one',
  capture_problem_over: NOTHING,
  speech_lost: 'as its cause; ask the visitors to say it again',
  backend_silent:
    'whether the backend runs and its broker lets it subscribe; `malformed`: repair the `field`',
  backend_back: NOTHING,
  broker_changed: NOTHING,
  broker_returned: 'as the reason `broker`',
  certificate_renewed: NOTHING,
  certificate_problem: '`dragoman-backend devices renew` ([fleet.md](fleet.md#certificates))',
  budget: 'raise `budget.minutesPerDay`, lower `standbyAfter`, or let it end for the day',
  identity_conflict: 'as the reason `identity_conflict`',
  speech_dropped: '`lag`: fewer targets on one loudspeaker; `barge_in`: nothing',
  parked: 'as its cause; then send `start`',
  internal_error: 'report it with the log line beside it',
  standby: NOTHING,
  wake: NOTHING,
};

/** A line of the log: `…` stands for what varies. */
export interface LogLine {
  readonly by: 'agent' | 'backend' | 'both';
  readonly says: string;
  readonly todo: string;
}

const line = (by: LogLine['by'], says: string, todo: string): LogLine => ({ by, says, todo });

/** Lines of the levels info, warn and error, but for those that repeat an event or a cause. */
export const LOG_LINES: readonly LogLine[] = [
  line('both', 'connected to the broker', NOTHING),
  line('both', 'a message too large to be read was ignored', 'who sends it; limit it at the broker'),
  line('agent', 'a message on an unexpected topic was ignored', 'nothing (level debug)'),
  line('agent', 'stopped', NOTHING),
  line('agent', 'lane …: …', 'nothing: the phase that the lane has entered'),
  line('agent', 'asking for a token', NOTHING),
  line('agent', 'event …', 'as the event'),
  line('agent', 'a session did not end in time and was cut', NOTHING),
  line('agent', 'did not close in time', 'nothing; often: the card or the network hangs'),
  line('agent', 'a defect of the program: … threw (…); the agent goes on', 'report it with its stack'),
  line('agent', 'the microphone did not close cleanly', NOTHING),
  line('agent', 'the recording has ended; silence follows', NOTHING),
  line('agent', 'the outage lasts longer than the backlog: what is said is being lost', 'as the cause'),
  line(
    'agent',
    'the voice detector fvad.wasm is not beside the program; speech is told by its loudness instead',
    'install all files of `dist/`',
  ),
  line('agent', 'the backend has given no usable answer for … s', 'as the event `backend_silent`'),
  line('agent', 'the backend answers again', NOTHING),
  line(
    'agent',
    'the backend does not know "probe":"backend"; it is not asked so for a day',
    'nothing; a backend of your own may learn it ([backend.md](backend.md#write-your-own))',
  ),
  line(
    'agent',
    'a message to the owner was given up',
    'the broker was away for long, or does not allow the topic',
  ),
  line('agent', 'another device uses the identity of this one', 'as the reason `identity_conflict`'),
  line('agent', 'no other device uses the identity of this one any more', NOTHING),
  line(
    'agent',
    'the broker does not allow the agent to subscribe to all that it needs',
    "the `topics`: the broker's rules for this device",
  ),
  line('agent', 'the broker allows the agent to subscribe to all that it needs', NOTHING),
  line('agent', 'a command failed', 'report it with its stack'),
  line('agent', 'a command was refused', 'the code: [mqtt.md](mqtt.md#errors)'),
  line('agent', 'command received', NOTHING),
  line('agent', 'a command with a name of more than … characters was ignored', 'who sends it'),
  line('agent', 'a command without a usable id was ignored', 'who sends it: each command needs an `id`'),
  line('agent', 'commands are remembered over a restart again', NOTHING),
  line('agent', 'config/desired was taken', NOTHING),
  line(
    'agent',
    'a new client certificate is asked for',
    '`dragoman-backend devices renew` ([fleet.md](fleet.md#certificates))',
  ),
  line('agent', 'a new client certificate has come, and is tried', NOTHING),
  line('agent', 'the broker has taken the new client certificate', NOTHING),
  line(
    'agent',
    'no connection with the new client certificate; the present one is tried again',
    'nothing at once; whether the broker knows the authority that issued it',
  ),
  line(
    'agent',
    'the broker does not take the new client certificate; the present one stays',
    'whether the broker knows the authority that issued it; a new one is asked for after a day',
  ),
  line('agent', 'a client certificate was not taken', 'who sends it; `why` tells what is wrong with it'),
  line('agent', 'the client certificate ends on … and was not renewed', 'as the event `certificate_problem`'),
  line('agent', 'no new client certificate can be asked for: its key cannot be kept', DISK),
  line('agent', 'the state of the client certificate was not kept', DISK),
  line(
    'agent',
    'the renewed client certificate cannot be read and is forgotten; the configured one is used',
    'the disk; `dragoman doctor` tells when the configured one ends',
  ),
  line('agent', 'the configuration names another broker; it is tried', NOTHING),
  line('agent', 'the new broker has taken the device', NOTHING),
  line(
    'agent',
    'the new broker does not take the device; the one before is used, and the new one tried again',
    'as the event `broker_returned`',
  ),
  line('agent', 'which broker was the last is not kept over a restart', DISK),
  line(
    'agent',
    'a file for the broker cannot be read; what was read last is used',
    'the file that `reason` names',
  ),
  line(
    'agent',
    'the client certificate cannot be renewed: it cannot be read, or there is no STATE_DIRECTORY',
    'as it says',
  ),
  line(
    'agent',
    'config/desired was not taken, and the last good one stays in force: …',
    '`{p}/config/reported` tells the same; publish a document that is right',
  ),
  line('agent', '…; what is desired is not kept over a restart', DISK),
  line('agent', '…; the languages that the service took are not kept over a restart', DISK),
  line('agent', '…; what is used of the budget is not kept over a restart', DISK),
  line('agent', 'the languages that the service took are kept again', NOTHING),
  line(
    'agent',
    'which languages the service took before cannot be read and is forgotten',
    'nothing; often: the disk',
  ),
  line('agent', 'what is used of the budget is kept again', NOTHING),
  line(
    'agent',
    'the time zone of the machine is not known: the days of the budget begin at midnight UTC',
    '`timedatectl set-timezone`, or a `schedule` with its `timeZone`',
  ),
  line(
    'agent',
    'what was used of the budget before cannot be read; it is counted from zero',
    'nothing; often: the disk',
  ),
  line('agent', 'what is desired is kept again', NOTHING),
  line(
    'agent',
    'what was desired before the last start cannot be read and is forgotten',
    'nothing: the broker has it still',
  ),
  line(
    'agent',
    'commands are not remembered over a restart; they are carried out',
    'the disk: full, read-only, or not allowed',
  ),
  line(
    'agent',
    'the record of earlier commands cannot be read; a new one is begun',
    'nothing; often: the disk',
  ),
  line(
    'agent',
    'an answer to a token request was refused: …',
    'who publishes to `token/res`; which keys are configured',
  ),
  line('agent', 'a malformed token answer was ignored', 'repair the backend: the `field` is named'),
  line(
    'agent',
    'no sound comes through although the microphone is there; systemd will end the agent and start it again',
    'nothing; often: report it',
  ),
  line(
    'agent',
    'the agent needs more memory than it ever should; restart it, and report what it did (command diagnose)',
    'as it says',
  ),
  line(
    'agent',
    'the clock is not set: messages carry no time, and encrypted connections wait until it is',
    'nothing, unless it stays so: a time server, or `dragoman-clock.path`',
  ),
  line('agent', 'a server has told the time', 'nothing'),
  line('agent', 'the clock is set', 'nothing'),
  line(
    'agent',
    'the clock is wrong and nobody sets it: let the machine reach a time server, or enable dragoman-clock.path (see docs/operate.md)',
    'as it says',
  ),
  line('agent', 'the machine’s clock could not be asked to be set', 'space and rights of `/run/dragoman`'),
  line(
    'agent',
    'the configuration cannot be used and nothing runs; repair it: it is read again every 5 s',
    '`dragoman check-config`',
  ),
  line('agent', 'the configuration can be used again', NOTHING),
  line('agent', 'the volume could not be set', 'the card has no such control: `alsamixer`'),
  line(
    'agent',
    'more than … s of sound wait for the loudspeaker; what comes on top is dropped',
    'whether the card plays',
  ),
  line('agent', '… has grown too large and is started again', NOTHING),
  line('agent', 'the … device works again', NOTHING),
  line(
    'agent',
    'the sound device does not recover: running the command for it',
    'nothing: `audio.unfixable` is run',
  ),
  line('agent', 'the command for a lost sound device cannot be run; fix audio.unfixable', 'as it says'),
  line('agent', 'the command for a lost sound device failed', 'what it prints when you run it'),
  line(
    'agent',
    'systemd cannot be told how the service is; is systemd-notify installed, and NotifyAccess=all in the unit?',
    'as it says',
  ),
  line('backend', 'issuing tokens', NOTHING),
  line('backend', 'listening for token requests', NOTHING),
  line('both', 'asked to end', NOTHING),
  line('backend', 'session granted', NOTHING),
  line('backend', 'denied', 'the code: limits, or what the service said'),
  line('backend', 'revoked an unused session', NOTHING),
  line('backend', 'revoked a replaced session', NOTHING),
  line('backend', 'an answer could not be signed, and was not sent', 'the signing key file'),
  line('backend', 'unexpected failure', 'report it'),
  line(
    'backend',
    'a device floods us with requests; it gets no answers',
    'the device: a fault, or somebody else',
  ),
  line('backend', 'a message that is no token request was ignored', 'who sends it'),
  line('backend', 'a response topic outside token/res was ignored', 'who sends it'),
  line(
    'backend',
    'no request comes through the shared subscription; trying a plain one',
    'nothing: the broker has no shared subscriptions',
  ),
  line(
    'backend',
    'cannot tell whether requests are heard: …',
    'let the backend publish and subscribe its own topic',
  ),
  line(
    'backend',
    'this broker knows no shared subscriptions: every backend hears every request. Run one backend only, or a broker that shares.',
    'as it says',
  ),
];
