import type { BackoffPolicy } from '../../../core/retry/backoff.ts';
import type { Cause } from '../../../protocol/mqtt/causes.ts';
import type { EventKind } from '../../../protocol/mqtt/event.ts';
import type { TokenReason } from '../../../protocol/mqtt/token.ts';

/** How soon the next try comes. */
export type Patience = 'prompt' | 'patient' | 'parked';

/** Consequences of a cause: one row of the recovery table. */
export interface Recovery {
  /** Reason given in the next token request. */
  readonly tokenReason: TokenReason;
  readonly patience: Patience;
  /** This many consecutive tries after the cause are prompt: the refusal may concern only one token or message. */
  readonly promptTries?: number;
  /** The event to publish, beyond `session_ended`. */
  readonly event: Extract<EventKind, 'revoked' | 'max_duration' | 'refused' | 'internal_error'> | null;
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
  },
  unresponsive: {
    tokenReason: 'network',
    patience: 'prompt',
    event: null,
  },
  silent_service: {
    tokenReason: 'network',
    patience: 'prompt',
    event: null,
  },
  setup_timeout: {
    tokenReason: 'network',
    patience: 'prompt',
    event: null,
  },
  stream_ended: {
    tokenReason: 'network',
    patience: 'prompt',
    event: null,
  },
  service_timeout: {
    tokenReason: 'network',
    patience: 'prompt',
    event: null,
  },
  session_revoked: {
    tokenReason: 'revoked',
    patience: 'prompt',
    event: 'revoked',
  },
  max_duration_reached: {
    tokenReason: 'max_duration',
    patience: 'prompt',
    event: 'max_duration',
  },
  session_already_used: {
    tokenReason: 'refused',
    patience: 'prompt',
    event: 'refused',
  },
  connect_window_expired: {
    tokenReason: 'refused',
    patience: 'prompt',
    event: 'refused',
  },
  grant_unusable: {
    tokenReason: 'refused',
    patience: 'patient',
    event: 'refused',
  },
  session_limit_reached: {
    tokenReason: 'refused',
    patience: 'patient',
    event: 'refused',
  },
  service_error: {
    tokenReason: 'network',
    patience: 'patient',
    event: null,
  },
  protocol_error: {
    tokenReason: 'network',
    patience: 'patient',
    event: null,
  },
  flooded: {
    tokenReason: 'network',
    patience: 'patient',
    event: null,
  },
  internal_error: {
    tokenReason: 'network',
    patience: 'patient',
    event: 'internal_error',
  },
  forbidden: {
    tokenReason: 'refused',
    patience: 'parked',
    promptTries: 1,
    event: 'refused',
  },
  insufficient_balance: {
    tokenReason: 'refused',
    patience: 'parked',
    event: 'refused',
  },
  account_blocked: {
    tokenReason: 'refused',
    patience: 'parked',
    event: 'refused',
  },
  intent_mismatch: {
    tokenReason: 'refused',
    patience: 'parked',
    promptTries: 1,
    event: 'refused',
  },
  connection_type_mismatch: {
    tokenReason: 'refused',
    patience: 'parked',
    promptTries: 1,
    event: 'refused',
  },
  task_rejected: {
    tokenReason: 'refused',
    patience: 'parked',
    promptTries: 1,
    event: 'refused',
  },
  token_denied: {
    tokenReason: 'refused',
    patience: 'patient',
    event: 'refused',
  },
  token_denied_final: {
    tokenReason: 'refused',
    patience: 'parked',
    event: 'refused',
  },
};
