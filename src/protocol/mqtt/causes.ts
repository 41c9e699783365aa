/**
 * Why a stream ended, or why speech was lost: each cause once, with its English text for owners. The tables in
 * docs/operate.md and docs/lane.md are generated from this list. `RECOVERY` in the core defines the reaction to each cause.
 */

interface CauseRow {
  readonly means: string;
  readonly todo: string;
}

/** Every cause that can end a stream, or an attempt to open one: a refusal of the service, or a failure on the way. */
export const CAUSES = {
  network: {
    means: 'the connection to the service failed or broke',
    todo: 'Check network, firewall and `service.hosts`: `dragoman doctor`, check `stream`.',
  },
  unresponsive: {
    means: 'the service stopped answering pings',
    todo: 'Nothing the first time. If it persists: the network loses packets or drops idle connections.',
  },
  silent_service: {
    means: 'the service received speech and sent no result',
    todo: 'Check the source language and the level of the microphone. If the message says that something cannot be read: ask the support of the service.',
  },
  setup_timeout: {
    means: 'the service did not get the task running in time',
    todo: 'Nothing the first time. If it persists: see the status page of the service.',
  },
  stream_ended: {
    means: 'the service ended the stream without a reason',
    todo: 'Nothing the first time. If it persists: ask the support of the service.',
  },
  service_timeout: {
    means: 'the service heard no audio and gave up',
    todo: 'Check that the microphone delivers sound: `dragoman devices --meter`.',
  },
  session_revoked: {
    means: 'the session was revoked by its owner',
    todo: 'Nothing if you revoked it. Otherwise find out who did: `dragoman-backend sessions list`.',
  },
  max_duration_reached: {
    means: 'the session reached its longest duration',
    todo: 'Nothing the first time. If it persists: raise `rolloverLead`, because the next session takes too long to set up.',
  },
  session_already_used: {
    means: 'the token was already used',
    todo: 'Nothing the first time. If it persists: two devices use the same answer.',
  },
  connect_window_expired: {
    means: 'the token was used after its connect window',
    todo: 'Check the clock of the backend, or raise its `session.expiresInSeconds`.',
  },
  grant_unusable: {
    means: 'the backend answered with a session that cannot be used here',
    todo: 'Repair the backend. The message names the field.',
  },
  session_limit_reached: {
    means: "the account's limit of concurrent streams is reached",
    todo: "Raise the account's limit of concurrent streams, or stop other streams.",
  },
  service_error: {
    means: 'the service reported an error of its own',
    todo: 'Nothing the first time. If it persists: see the status page of the service.',
  },
  protocol_error: {
    means: 'the service sent an unreadable message; the agent ended the stream',
    todo: 'Report it with the log line. This version cannot read what the service sent.',
  },
  flooded: {
    means: 'the service sent far too many messages; the agent ended the stream',
    todo: 'Check that the address is that of the translation service, then ask its support.',
  },
  internal_error: {
    means: 'a defect of the program ended the stream; see its log',
    todo: 'Report it with the log line.',
  },
  forbidden: {
    means: 'the service refused the token without a reason',
    todo: 'Check that the backend uses the right account, and that its plan is paid.',
  },
  insufficient_balance: {
    means: 'the account has no balance left',
    todo: 'Top up the account, then send `start`.',
  },
  account_blocked: {
    means: 'the account is blocked',
    todo: 'Ask the support of the service.',
  },
  intent_mismatch: {
    means: 'the backend issues tokens for another product',
    todo: 'Repair the backend: it must ask for `s2s`.',
  },
  connection_type_mismatch: {
    means: 'the backend issues tokens for another transport',
    todo: 'Repair the backend: it must ask for `ws`.',
  },
  task_rejected: {
    means: 'the service does not accept these languages or audio settings',
    todo: 'Change source, targets or voice: the service does not take this combination.',
  },
  token_denied: {
    means: 'the backend has no token at the moment',
    todo: "See the backend's explanation in the event `refused`.",
  },
  token_denied_final: {
    means: 'the backend refuses this device',
    todo: "See the backend's explanation in the event `refused`. Allow the device there, then send `start`.",
  },
} as const satisfies Record<string, CauseRow>;
export type Cause = keyof typeof CAUSES;

/** Causes of lost speech other than a failed stream. */
export const LOSS_CAUSES = {
  no_broker: {
    means: 'no connection to the broker, so no token could be requested',
    todo: 'Check the network to the broker: `dragoman doctor`, check `broker`.',
  },
  no_backend: {
    means: 'the backend did not answer the token requests',
    todo: 'Check that the backend runs, and on which broker.',
  },
  no_session: {
    means: 'setting up a session took longer than the backlog lasts',
    todo: 'See `last_error` in `state`, and how long the set-up of a session takes.',
  },
  congested: {
    means: 'the connection is slower than speech',
    todo: 'Check the bandwidth to the service.',
  },
  stopped: {
    means: 'the lane was stopped (command, signal or opening hours) before the service had spoken the speech',
    todo: 'Nothing if the stop was intended. A stop in the middle of a conversation cuts it off.',
  },
  catching_up: {
    means: 'an earlier outage has filled the backlog, and people speak without a pause',
    todo: 'See the event before this one: it names the cause of the outage.',
  },
} as const satisfies Record<string, CauseRow>;
export type LossCause = Cause | keyof typeof LOSS_CAUSES;

export const isCause = (code: string): code is Cause => Object.hasOwn(CAUSES, code);
