import type { Account } from './account.ts';
import type { Choices } from './choices.ts';
import type { Credential } from './credentials.ts';
import type { OpenRequest } from './opening.ts';
import type { ProblemReason } from './refusal.ts';
import { objectTo } from './sessions.ts';

/** The state of the service that decides about a request for a stream. */
export interface AdmissionFacts {
  readonly choices: Choices;
  readonly account: Account;
  readonly runningStreams: number;
  /** Milliseconds since 1970 on the service's clock. */
  readonly clockMs: number;
  readonly now: number;
}

/** Why a request for a stream is refused; null: it opens a stream. */
export function objectToRequest(
  { intent, transport = 'ws' }: Omit<OpenRequest, 'secret'>,
  who: Credential,
  { choices, account, runningStreams, clockMs, now }: AdmissionFacts,
): ProblemReason | null {
  if (who.kind === 'none') return transport === 'webrtc' ? 'not_emulated' : 'unauthorized';
  if (who.kind === 'unknown' || who.kind === 'jwt') return 'forbidden';
  const objection = who.kind === 'session' ? objectTo(who.session, intent, transport, clockMs) : null;
  if (objection !== null) return objection;
  const trouble = account.trouble(now);
  if (trouble !== null) return trouble;
  if (intent !== 's2s' || transport === 'webrtc') return 'not_emulated';
  return runningStreams >= choices.concurrent ? 'session_limit_reached' : null;
}
