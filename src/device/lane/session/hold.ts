import { isListening } from '../../../protocol/phases.ts';
import type { Hold } from '../state/lane-event.ts';
import type { StepContext } from '../state/step-context.ts';
import { closeSetup } from './close.ts';
import { begin, closeDrained, stop } from './lifecycle.ts';
import { isHeardOut, isSpokenOut } from './operator-text.ts';

/** How long a speaker is still heard after the hold (ms), if no pause comes. */
const HEARD_FOR_MS = 10_000;
/** Time after the hold (ms) at which the lane stops, even in the middle of a translation. */
export const CLOSING_MS = 20_000;

/** Forbids sessions, or allows them again (null). Whether the lane is wanted does not change. */
export function setHold(context: StepContext, hold: Hold | null): void {
  const { hold: before, wanted } = context.state;
  context.set({ hold });
  if ((before === null) === (hold === null) || !wanted) return;
  if (hold === null) reopen(context);
  else beginClosing(context);
}

function reopen(context: StepContext): void {
  context.disarm('closing');
  context.set({ closing: null });
  const { session } = context.state;
  if (session.kind === 'draining') closeDrained(context, session);
  else if (context.phase === 'idle') begin(context);
}

function beginClosing(context: StepContext): void {
  const { session } = context.state;
  if (session.kind === 'setup' || !isListening(context.phase)) return stop(context);
  if (session.kind === 'rolling') {
    closeSetup(context, session.setup);
    context.become({ kind: 'live', stream: session.stream, lease: null });
    // If the hold ends in time, the next session begins at once.
    context.arm('roll', context.now + context.state.settings.pollMs);
  }
  context.set({ closing: { since: context.now, isDeaf: false } });
  hearOut(context);
}

export function onClosingTimer(context: StepContext): void {
  hearOut(context);
}

/** Waits until the sentence has ended and its translation is played; then stops the lane. */
function hearOut(context: StepContext): void {
  const { closing, settings } = context.state;
  if (closing === null) return;
  const tookMs = context.now - closing.since;
  const isDeaf = closing.isDeaf || tookMs >= HEARD_FOR_MS || isHeardOut(context.state);
  if (tookMs >= CLOSING_MS || (isDeaf && isSpokenOut(context.state, context.now))) return stop(context);
  context.set({ closing: { ...closing, isDeaf } });
  context.arm('closing', context.now + settings.chunkMs);
}
