import { type Cause, RECOVERY } from '../retry/recovery.ts';

/** Causes of lost speech for which no try at a stream has ended, and what they mean. */
export const LOSS_CAUSES = {
  no_broker: 'no token can be asked for: there is no connection to the broker',
  no_backend: 'no token has come: the backend does not answer',
  no_session: 'a session was on its way for longer than the backlog lasts',
  congested: 'the connection is slower than speech',
  left_out:
    'the service has left out what was said: it gave neither a whole text nor sound of it, and went on with what was said behind it',
  stopped:
    'the lane was stopped, by a command, a signal or its opening hours, before the service had spoken it',
  catching_up: 'an earlier outage has left the backlog full, and somebody speaks without a pause',
} as const;
export type LossCause = Cause | keyof typeof LOSS_CAUSES;

export function isCause(code: string): code is Cause {
  return Object.hasOwn(RECOVERY, code);
}
