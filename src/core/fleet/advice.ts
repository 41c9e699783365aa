/** Advice for operators: what to do about each status, cause and event. The compiler requires advice for a new one. */

import type { DeviceStatus } from '../../protocol/mqtt/device.ts';
import type { EventKind } from '../../protocol/mqtt/event.ts';
import type { LOSS_CAUSES } from '../losses/loss-cause.ts';
import type { Cause } from '../retry/recovery.ts';

const NOTHING = 'nothing';

export const STATUS_ADVICE: Readonly<Record<DeviceStatus, { says: string; todo: string }>> = {
  ready: { says: 'a word spoken now would be heard and answered', todo: NOTHING },
  idle: {
    says: 'deliberately not listening: stopped, muted, or waiting for the command `start`',
    todo: 'nothing; `start` or `unmute` when it should listen',
  },
  degraded: { says: 'it should be ready and is not', todo: 'look at the reasons below' },
  stopping: { says: 'the agent was asked to end and closes its sessions', todo: NOTHING },
  offline: { says: 'the agent has shut down', todo: '`systemctl start dragoman` if it should run' },
  lost: {
    says: 'published by the broker: the device disappeared without a clean shutdown. Console, metrics, webhook and `ctl watch` also show it after 3 minutes without any message, whatever status the broker has kept',
    todo: 'check power and network of the device; it reconnects by itself',
  },
};

export const LOSS_ADVICE: Readonly<Record<keyof typeof LOSS_CAUSES, string>> = {
  no_broker: 'the network to the broker; `dragoman doctor`, check `broker`',
  no_backend: 'whether the backend runs, and on which broker',
  no_session: '`last_error` in `state`; how long session setup takes',
  congested: 'the bandwidth to the service',
  stopped: 'nothing if the stop was intended; a stop in the middle of a conversation cuts it off',
  catching_up: 'the preceding outage; the event before this one names its cause',
};

export const CAUSE_ADVICE: Readonly<Record<Cause, string>> = {
  network: 'network, firewall, `service.hosts`; `dragoman doctor`, check `stream`',
  unresponsive: 'nothing the first time; often: the network loses packets or drops idle connections',
  silent_service:
    'the source language and the microphone level; if the message says that something cannot be read: the support of the service',
  setup_timeout: 'nothing the first time; often: the service is slow, see its status page',
  stream_ended: 'nothing the first time; often: ask the support of the service',
  service_timeout: 'whether the microphone delivers: `dragoman devices --meter`',
  session_revoked: 'nothing if you revoked it; otherwise find out who did: `dragoman-backend sessions list`',
  max_duration_reached:
    'nothing; often: raise `rolloverLead`, because the next session takes too long to set up',
  session_already_used: 'nothing the first time; often: two devices use the same answer',
  connect_window_expired: 'the clock of the backend; raise `session.expiresInSeconds` of the backend',
  grant_unusable: 'the message names the field; repair the backend',
  session_limit_reached: "the account's limit of concurrent streams; or stop other streams",
  service_error: 'nothing; often: see the status page of the service',
  protocol_error: 'report it with the log line; this version cannot read what the service sent',
  flooded: 'the support of the service; whether its address is that of such a service',
  internal_error: 'report it with the log line',
  forbidden: 'whether the backend uses the right account; whether the plan is paid',
  insufficient_balance: 'top up the account; then send `start`',
  account_blocked: 'ask the support of the service',
  intent_mismatch: 'the backend must ask for `s2s`',
  connection_type_mismatch: 'the backend must ask for `ws`',
  task_rejected: 'source, targets and voice: the service does not take this combination',
  token_denied: "the backend's explanation in the event `refused`",
  token_denied_final:
    "the backend's explanation in the event `refused`; allow the device there, then send `start`",
};

export const EVENT_ADVICE: Readonly<Record<EventKind, string>> = {
  session_started: NOTHING,
  session_ended: 'nothing; the cause says why',
  rollover: NOTHING,
  revoked: 'as the cause `session_revoked`',
  max_duration: 'as the cause `max_duration_reached`',
  refused: 'as its cause',
  unreachable: 'name resolution and network to `host`; the firewall',
  unspoken:
    "nothing for a few seconds; for more: the target languages and the voice, then the service's support",
  messages_unreadable: 'report its message to the support of the service',
  audio_lost: 'cable, card and power: `dragoman devices`; the agent keeps trying',
  audio_back: NOTHING,
  echo_detected: 'in `off`: choose another mode; in `cancel`: turn the loudspeaker down or away',
  echo_fallback:
    'turn the loudspeaker down or away; the agent retries `cancel` after 5, 10, 20, 40 and then every 60 minutes, and any mode with the command `echo`',
  echo_restored: NOTHING,
  two_way_fallback:
    'bind keys to `turn` ([desk.md](desk.md#both-ways-on-one-microphone)), or ask the service for `auto`; the agent asks again after a change of `twoWay` or of the languages, and after a restart',
  capture_problem:
    '`incomplete`: another USB port or card, or a less busy machine; `clipping`: less gain; `silent`: a switch or mute; `deaf`: more gain; `too_fast`, `too_slow`: another `sampleRate`; `dc_offset`: another microphone; `gain_changed`: what else sets the mixer; `noisy_room`: the microphone closer to the visitors, its gain down, or a directional one',
  capture_problem_over: NOTHING,
  speech_lost: 'as its cause; ask the visitors to repeat it',
  backend_silent:
    "whether the backend runs and its broker lets it subscribe; `malformed`: repair the `field`; `not_allowed`: the broker's rules for this device",
  backend_back: NOTHING,
  broker_changed: NOTHING,
  broker_returned: 'as the reason `broker`',
  certificate_renewed: NOTHING,
  certificate_problem:
    '`dragoman-backend devices renew` ([fleet-security.md](fleet-security.md#certificates))',
  config_problem: 'as the reason `config_problem`',
  config_problem_over: NOTHING,
  commands_dropped: 'who sends so many commands: people with a login at the broker, or a script in a loop',
  disk_problem: 'as the reason `disk_problem`',
  disk_problem_over: NOTHING,
  budget: 'raise `budget.minutesPerDay`, lower `standbyAfter`, or let it end for the day',
  identity_conflict: 'as the reason `identity_conflict`',
  speech_dropped:
    '`lag`: fewer targets on one loudspeaker; `barge_in`, `stop`: nothing; `no_loudspeaker`: its cable, card and power; ask the visitors to repeat it',
  parked: 'as its cause; then send `start`',
  internal_error: 'report it with the log line of the same time',
  defect: 'report it with the log line of the same text, and its stack',
  conversation_started: NOTHING,
  update:
    'as its `reason`; after `rolled_back` or `failed`, order a version again ([updates.md](updates.md))',
  conversation_ended:
    'a long `delay_ms`: the network, then the service; no sentences: a key or a command began it, and no speech followed',
  standby: NOTHING,
  wake: NOTHING,
};
