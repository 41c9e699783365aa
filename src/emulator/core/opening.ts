import type { ConnectionType, Intent } from '../../protocol/service/session.ts';
import type { Delivery } from './fault.ts';
import type { ProblemReason } from './refusal.ts';

/** A request for a stream, as read at the upgrade. */
export interface OpenRequest {
  readonly secret: string | null;
  readonly intent: Intent;
  /** The transport of the requested address; default: WebSocket. */
  readonly transport?: ConnectionType;
}

/** A fault's changes to a refusal; a missing field is as usual for the reason. */
export interface GivenRefusal {
  readonly status?: number | undefined;
  readonly bare?: boolean | undefined;
  readonly retry_after_s?: number | undefined;
}

/** Outcome of a request for a stream. */
export type Opening =
  | { kind: 'opened'; stream: string }
  | { kind: 'refused'; reason: ProblemReason; delivery: Delivery; bare: boolean; given: GivenRefusal };
