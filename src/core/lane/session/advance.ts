import type { StepContext } from '../step-context.ts';
import { isStreaming, type Setup } from './session.ts';

/** Goes on with the setup. Without a live session beside it, the lane's phase is the setup's stage. */
export function advanceSetup(context: StepContext, setup: Setup): void {
  const { session } = context.state;
  if (isStreaming(session)) context.become({ kind: 'rolling', stream: session.stream, setup });
  else context.become({ kind: 'setup', setup });
}
