import type { Turn } from './turn.ts';

/** What the service objected to and went on is of no interest any more after so long without another word of it. */
const FORGOTTEN_AFTER_MS = 60_000;
const SLACK_MS = 5000;

/**
 * The service has objected to something, and the session goes on: no problem of the lane's. It stands beside those until
 * the stream has gone on for a minute, or a session ends.
 */
export function noteWarning(
  turn: Turn,
  kind: 'warning' | 'error',
  { code, text }: { code: string | null | undefined; text: string | null | undefined },
): void {
  const message = (text ?? code ?? 'no details').slice(0, 200);
  const name = (code ?? kind).toLowerCase().slice(0, 60);
  turn.set({ warning: { code: `service_${name}`, message, at: turn.now } });
  // A flood of them must not cost a timer each.
  const dueAt = turn.now + FORGOTTEN_AFTER_MS;
  if (dueAt - (turn.state.timers.warning ?? 0) >= SLACK_MS) turn.arm('warning', dueAt, SLACK_MS);
}

export function forgetWarning(turn: Turn): void {
  if (turn.state.warning === null) return;
  turn.disarm('warning');
  turn.set({ warning: null });
}
