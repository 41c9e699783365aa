import type { Refusal } from '../../ports/stream.ts';
import type { EventKind } from '../../protocol/mqtt/event.ts';
import type { TokenReason } from '../../protocol/mqtt/token.ts';
import type { BackoffPolicy } from './backoff.ts';

/** Every cause that can end a stream, or an attempt to open one: a refusal of the service, or a failure on the way. */
export type Cause =
  | Refusal
  | 'network'
  | 'unresponsive'
  | 'silent_service'
  | 'setup_timeout'
  | 'stream_ended'
  | 'protocol_error'
  | 'flooded'
  | 'internal_error'
  | 'task_rejected'
  | 'grant_unusable'
  | 'token_denied'
  | 'token_denied_final';

/** How soon the next try comes. */
export type Patience = 'prompt' | 'patient' | 'parked';

/** Consequences of a cause: one row of the recovery table. */
export interface Recovery {
  /** Reason given in the next token request. */
  readonly tokenReason: TokenReason;
  readonly patience: Patience;
  /** After a cause, this many tries in a row are prompt: the refusal may concern only one token or message. */
  readonly promptTries?: number;
  /** The event to publish, beyond `session_ended`. */
  readonly event: Extract<EventKind, 'revoked' | 'max_duration' | 'refused' | 'internal_error'> | null;
  /** Explanation for the operator. */
  readonly meaning: string;
}

/** Waits for each patience. A parked lane asks again about every five minutes, and reports that. */
export const PATIENCE: Readonly<Record<Patience, BackoffPolicy>> = {
  prompt: { baseMs: 1000, capMs: 60_000, floorMs: 0 },
  patient: { baseMs: 5000, capMs: 120_000, floorMs: 1000 },
  parked: { baseMs: 360_000, capMs: 360_000, floorMs: 240_000 },
};

/** The recovery table: what is retried, how soon, and what waits until a person fixes it. */
export const RECOVERY: Readonly<Record<Cause, Recovery>> = {
  network: {
    tokenReason: 'network',
    patience: 'prompt',
    event: null,
    meaning: 'the connection to the service failed or broke',
  },
  unresponsive: {
    tokenReason: 'network',
    patience: 'prompt',
    event: null,
    meaning: 'the service stopped answering pings',
  },
  silent_service: {
    tokenReason: 'network',
    patience: 'prompt',
    event: null,
    meaning: 'the service received speech and sent no result',
  },
  setup_timeout: {
    tokenReason: 'network',
    patience: 'prompt',
    event: null,
    meaning: 'the service did not get the task running in time',
  },
  stream_ended: {
    tokenReason: 'network',
    patience: 'prompt',
    event: null,
    meaning: 'the service ended the stream without a reason',
  },
  service_timeout: {
    tokenReason: 'network',
    patience: 'prompt',
    event: null,
    meaning: 'the service heard no audio and gave up',
  },
  session_revoked: {
    tokenReason: 'revoked',
    patience: 'prompt',
    event: 'revoked',
    meaning: 'the session was revoked by its owner',
  },
  max_duration_reached: {
    tokenReason: 'max_duration',
    patience: 'prompt',
    event: 'max_duration',
    meaning: 'the session reached its longest duration',
  },
  session_already_used: {
    tokenReason: 'refused',
    patience: 'prompt',
    event: 'refused',
    meaning: 'the token was already used',
  },
  connect_window_expired: {
    tokenReason: 'refused',
    patience: 'prompt',
    event: 'refused',
    meaning: 'the token was used after its connect window',
  },
  grant_unusable: {
    tokenReason: 'refused',
    patience: 'patient',
    event: 'refused',
    meaning: 'the backend answered with a session that cannot be used here',
  },
  session_limit_reached: {
    tokenReason: 'refused',
    patience: 'patient',
    event: 'refused',
    meaning: "the account's limit of streams at one time is reached",
  },
  service_error: {
    tokenReason: 'network',
    patience: 'patient',
    event: null,
    meaning: 'the service reported an error of its own',
  },
  protocol_error: {
    tokenReason: 'network',
    patience: 'patient',
    event: null,
    meaning: 'the service sent an unreadable message; the agent ended the stream',
  },
  flooded: {
    tokenReason: 'network',
    patience: 'patient',
    event: null,
    meaning: 'the service sent far too many messages; the agent ended the stream',
  },
  internal_error: {
    tokenReason: 'network',
    patience: 'patient',
    event: 'internal_error',
    meaning: 'a defect of the program ended the stream; see its log',
  },
  forbidden: {
    tokenReason: 'refused',
    patience: 'parked',
    promptTries: 1,
    event: 'refused',
    meaning: 'the service refused the token without a reason',
  },
  insufficient_balance: {
    tokenReason: 'refused',
    patience: 'parked',
    event: 'refused',
    meaning: 'the account is out of balance',
  },
  account_blocked: {
    tokenReason: 'refused',
    patience: 'parked',
    event: 'refused',
    meaning: 'the account is blocked',
  },
  intent_mismatch: {
    tokenReason: 'refused',
    patience: 'parked',
    promptTries: 1,
    event: 'refused',
    meaning: 'the backend issues tokens for another product',
  },
  connection_type_mismatch: {
    tokenReason: 'refused',
    patience: 'parked',
    promptTries: 1,
    event: 'refused',
    meaning: 'the backend issues tokens for another transport',
  },
  task_rejected: {
    tokenReason: 'refused',
    patience: 'parked',
    promptTries: 1,
    event: 'refused',
    meaning: 'the service does not accept these languages or audio settings',
  },
  token_denied: {
    tokenReason: 'refused',
    patience: 'patient',
    event: 'refused',
    meaning: 'the backend has no token at the moment',
  },
  token_denied_final: {
    tokenReason: 'refused',
    patience: 'parked',
    event: 'refused',
    meaning: 'the backend refuses this device',
  },
};
