import type { StepContext } from '../state/step-context.ts';

/** How long a warning is shown (ms), unless another one replaces it. */
const FORGOTTEN_AFTER_MS = 60_000;
const SLACK_MS = 5000;

/**
 * The service has objected to something, and the session goes on. The report shows the warning for a minute, or until the
 * session ends.
 */
export function noteWarning(
  context: StepContext,
  kind: 'warning' | 'error',
  { code, text }: { code: string | null | undefined; text: string | null | undefined },
): void {
  const message = (text ?? code ?? 'no details').slice(0, 200);
  const name = (code ?? kind).toLowerCase().slice(0, 60);
  context.set({ warning: { code: `service_${name}`, message, at: context.now } });
  // In a flood of warnings, the timer is not armed again for each.
  const dueAt = context.now + FORGOTTEN_AFTER_MS;
  if (dueAt - (context.state.timers.warning ?? 0) >= SLACK_MS) context.arm('warning', dueAt, SLACK_MS);
}

export function forgetWarning(context: StepContext): void {
  if (context.state.warning === null) return;
  context.disarm('warning');
  context.set({ warning: null });
}
