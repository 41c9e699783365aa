import { type Cause, RECOVERY } from '../retry/recovery.ts';

/** Causes of lost speech that are not the failure of a try at a stream, and what they mean. */
export const LOSS_CAUSES = {
  no_broker: 'no connection to the broker, so no token could be requested',
  no_backend: 'the backend did not answer the token requests',
  no_session: 'setting up a session took longer than the backlog lasts',
  congested: 'the connection is slower than speech',
  stopped: 'the lane was stopped (command, signal or opening hours) before the service had spoken it',
  catching_up: 'an earlier outage has filled the backlog, and people speak without a pause',
} as const;
export type LossCause = Cause | keyof typeof LOSS_CAUSES;

export function isCause(code: string): code is Cause {
  return Object.hasOwn(RECOVERY, code);
}
