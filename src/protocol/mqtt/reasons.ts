/**
 * Why a device is not ready: each reason once, with its English texts for owners. Console, doctor, boot report and metrics
 * read these rows, and the table in docs/operate.md is generated from them.
 */

/** What cannot work while a reason applies. */
export type Block =
  | 'configuration'
  | 'broker_rules'
  | 'broker'
  | 'backend'
  | 'service'
  | 'microphone'
  | 'loudspeaker';

interface ReasonRow {
  readonly status: 'idle' | 'degraded' | 'lost';
  /** Null: nothing is blocked; the kiosk interprets, or is deliberately idle. */
  readonly blocks: Block | null;
  readonly means: string;
  readonly todo: string;
}

const BROKER_RULES = 'Correct the broker’s rules for this device: `dragoman-backend broker` writes them.';

export const REASONS = {
  stopped: {
    status: 'idle',
    blocks: null,
    means: 'The lane was stopped, or it waits for the command `start`.',
    todo: 'Send `start` when it should listen.',
  },
  closed: {
    status: 'idle',
    blocks: null,
    means: 'Outside the opening hours of `schedule`. `closed_until` in `state` is the time of opening.',
    todo: 'Nothing. The command `start` with `until` opens it anyway.',
  },
  budget: {
    status: 'degraded',
    blocks: 'service',
    means:
      'The minutes of `budget.minutesPerDay` are used up. No session starts before the next day (`closed_until` in `state`).',
    todo: 'Raise `budget.minutesPerDay`, or wait for the next day.',
  },
  muted: {
    status: 'idle',
    blocks: null,
    means: 'The microphone is muted by command or by a key.',
    todo: 'Send `unmute` when it should listen.',
  },
  no_broker: {
    status: 'degraded',
    blocks: 'broker',
    means: 'The device has no connection to the broker, so it cannot request a token.',
    todo: 'Check the broker’s address and login on the device: `dragoman doctor`, check `broker`.',
  },
  no_backend: {
    status: 'degraded',
    blocks: 'backend',
    means: 'The backend gave no usable answer to a token request for 20 s (event `backend_silent`).',
    todo: 'If the reason `not_published` is present too, solve it first. Then check that the backend runs and may publish to `token/res`: `dragoman-backend doctor`.',
  },
  no_session: {
    status: 'degraded',
    blocks: 'service',
    means: 'The set-up of a session takes longer than 20 s. The detail is the phase.',
    todo: 'Wait a minute, then look at the last error of the lane (`last_error` in `state`).',
  },
  failing: {
    status: 'degraded',
    blocks: 'service',
    means:
      'Three attempts at a session failed, or 20 s passed without a session after a failure. The detail is the last cause.',
    todo: 'See the cause. The device keeps trying.',
  },
  parked: {
    status: 'degraded',
    blocks: 'service',
    means: 'The service or the backend refuses the session, and a person must act. The detail is the cause.',
    todo: 'Remove the cause, then send `start`, or wait up to 10 minutes.',
  },
  internal_error: {
    status: 'degraded',
    blocks: 'service',
    means: 'A defect of the program. The lane restarts by itself (event `internal_error`).',
    todo: 'No immediate action. Report it with the log line of the same time.',
  },
  speech_lost: {
    status: 'degraded',
    blocks: 'service',
    means: 'Speech is being lost, because an outage lasts longer than the backlog. The detail is the cause.',
    todo: 'See the cause: network, backend or service.',
  },
  silent_service: {
    status: 'degraded',
    blocks: 'service',
    means:
      'Two sessions in a row received speech and sent no result. The reason clears with the next result, or after an hour.',
    todo: 'Check the source language, then the level of the microphone. Then ask the service’s support.',
  },
  unreadable: {
    status: 'degraded',
    blocks: 'service',
    means:
      'All texts or all sound of the service in the last minute were unreadable (event `messages_unreadable`).',
    todo: 'Check that the address is that of the translation service, then send the event’s message to its support.',
  },
  unspoken: {
    status: 'degraded',
    blocks: 'service',
    means: 'No translated sound came in the language of the detail for 20 s of speech (event `unspoken`).',
    todo: 'Look at the kiosk’s screen: another language may come instead. Check that the service has a voice for this language, then ask its support.',
  },
  capture: {
    status: 'degraded',
    blocks: 'microphone',
    means: 'The microphone is `lost`, `silent` or `deaf`, or its sound is `incomplete`.',
    todo: 'Check cable and card: `dragoman devices`. `silent`: a switch or mute; `deaf`: the gain; `incomplete`: another USB port or card, or a less busy machine.',
  },
  playback: {
    status: 'degraded',
    blocks: 'loudspeaker',
    means: 'The loudspeaker is `lost`.',
    todo: 'Check cable and card: `dragoman devices`.',
  },
  memory: {
    status: 'degraded',
    blocks: null,
    means: 'The agent and its child processes use too much memory (`MemoryMax` of the unit).',
    todo: 'Send `restart`, and report the output of `diagnose`.',
  },
  broker: {
    status: 'degraded',
    blocks: 'broker_rules',
    means:
      'The configured broker does not accept the device, so the previous one is in use. The detail is the configured one.',
    todo: 'Check that the new broker runs and knows the device: `mqtt` of the configuration, `dragoman doctor`.',
  },
  broker_limits: {
    status: 'degraded',
    blocks: null,
    means:
      'The broker does not allow something, and the device continues without it. `retain`: clients that connect later see no status, and `config/desired` is not kept. `qos`: messages can be lost.',
    todo: 'Check the limits in the configuration of the broker. mosquitto: `retain_available`, `max_qos`.',
  },
  certificate: {
    status: 'degraded',
    blocks: null,
    means:
      'The client certificate expires within 14 days and was not renewed. The detail is the expiry date.',
    todo: 'Run `dragoman-backend devices renew`, and check the clock of the device.',
  },
  config: {
    status: 'degraded',
    blocks: 'configuration',
    means:
      'The configuration is invalid, and nothing runs until it is fixed. The detail is the first wrong key, or the file and line.',
    todo: 'Run `dragoman check-config` on the device: it names every problem. The agent reads the file again every 5 s.',
  },
  config_problem: {
    status: 'degraded',
    blocks: null,
    means:
      'A reload of the configuration failed, or a file that it names is no longer readable. The previous configuration stays in force, but the next start would fail. The detail is the first wrong key, or the file and line (event `config_problem`).',
    todo: 'Run `dragoman check-config` on the device, then reload the agent.',
  },
  restart_needed: {
    status: 'degraded',
    blocks: null,
    means: 'A reload has read changes that only a restart puts in force. The detail is the changed key.',
    todo: 'Send `restart`, or `systemctl restart dragoman` on the device.',
  },
  disk_problem: {
    status: 'degraded',
    blocks: null,
    means:
      'A file that keeps state across restarts cannot be written. The detail names the file (event `disk_problem`).',
    todo: 'Check whether the disk is full or read-only: `dragoman doctor`, check `disk`.',
  },
  identity_conflict: {
    status: 'degraded',
    blocks: 'broker_rules',
    means:
      'Another device connects under the same name. Both wait minutes between attempts, or seconds while a person speaks (event `identity_conflict`).',
    todo: 'Give one of the two devices its own `device.id` and login. `dragoman-backend devices add NAME --replace` locks out the device with the old login.',
  },
  not_subscribed: {
    status: 'degraded',
    blocks: 'broker_rules',
    means: 'The broker does not allow a subscription that the device needs. The detail names it.',
    todo: BROKER_RULES,
  },
  not_published: {
    status: 'degraded',
    blocks: 'broker_rules',
    means: 'The broker does not allow a publication that the device needs. The detail names it.',
    todo: `${BROKER_RULES} The reason clears within ten minutes after that. With MQTT 3.1.1 brokers do not report a refusal, and some hang up: the log then names the topic.`,
  },
  screen: {
    status: 'degraded',
    blocks: null,
    means: 'The page for the screen cannot be served. The detail says why. The kiosk interprets without it.',
    todo: '`EADDRINUSE`: find the program that uses the port of `screen.port`. Otherwise see the log line of the same time.',
  },
  keys: {
    status: 'degraded',
    blocks: null,
    means:
      'An input device of `keys` cannot be read. The detail names it, and the log says why. The kiosk interprets without it.',
    todo: 'Check its cable, its path in the configuration (`dragoman devices --keys`), and the group `input`.',
  },
  headset: {
    status: 'degraded',
    blocks: null,
    means:
      'The plug of the headset cannot be read (event `audio_lost`), so speech is heard from the loudspeaker. The detail is the lane, if there are several.',
    todo: 'Check `headset.detect` and the card of the headset: `dragoman doctor`, check `mixer`.',
  },
  also: {
    status: 'degraded',
    blocks: null,
    means:
      'The second device beside the loudspeaker, such as a hearing loop, has failed (event `audio_lost`). The loudspeaker goes on. The detail is the lane, if there are several.',
    todo: 'Check its cable and card, and `playback.also`: `dragoman devices`.',
  },
  connection_lost: {
    status: 'lost',
    blocks: null,
    means: 'The device disappeared without a clean shutdown. The broker published it.',
    todo: 'Check power and network of the device.',
  },
} as const satisfies Record<string, ReasonRow>;

export type ReasonCode = keyof typeof REASONS;

/** The code of `code` or `code:detail`, as a status publishes it. */
export const codeOf = (reason: string): string => reason.split(':')[0] ?? '';

/** @returns null for a reason of a newer agent, which this program does not know */
export function reasonRow(reason: string): ReasonRow | null {
  const code = codeOf(reason);
  return Object.hasOwn(REASONS, code) ? REASONS[code as ReasonCode] : null;
}
