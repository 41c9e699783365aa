import type { Phase } from '../../../protocol/phases.ts';
import type { StepContext } from '../state/step-context.ts';

/** Phases on the way to a session. The backlog holds speech meanwhile. */
const ON_THE_WAY: readonly Phase[] = ['acquiring', 'connecting', 'configuring', 'waiting', 'parked'];

/** Records when the lane began to establish a session. */
export function trackSession(context: StepContext): void {
  const { noSessionSince } = context.state;
  const isOnTheWay = ON_THE_WAY.includes(context.phase);
  if (isOnTheWay === (noSessionSince !== null)) return;
  context.set({ noSessionSince: isOnTheWay ? context.now : null });
}
