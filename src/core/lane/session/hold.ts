import type { Hold } from '../event.ts';
import { begin, closeDrained, stop } from '../lifecycle.ts';
import { isListening } from '../phases.ts';
import type { StepContext } from '../step-context.ts';
import { closeSetup } from './close.ts';
import { isHeardOut, isSpokenOut } from './saying.ts';

/** Somebody who goes on without a pause is heard for this long. */
const HEARD_FOR_MS = 10_000;
/** A sentence that is not spoken to its end by then is cut. */
export const CLOSING_MS = 20_000;

/** No session may be begun any more, or again (null). What is wanted of the lane stays. */
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
    // Where it may go on after all, the next session is begun at once.
    context.arm('roll', context.now + context.state.settings.pollMs);
  }
  context.set({ closing: { since: context.now, isDeaf: false } });
  hearOut(context);
}

export function onClosingTimer(context: StepContext): void {
  hearOut(context);
}

/** Hears the sentence out, lets it be spoken, and then stops the lane. */
function hearOut(context: StepContext): void {
  const { closing, settings } = context.state;
  if (closing === null) return;
  const tookMs = context.now - closing.since;
  const isDeaf = closing.isDeaf || tookMs >= HEARD_FOR_MS || isHeardOut(context.state);
  if (tookMs >= CLOSING_MS || (isDeaf && isSpokenOut(context.state, context.now))) return stop(context);
  context.set({ closing: { ...closing, isDeaf } });
  context.arm('closing', context.now + settings.chunkMs);
}
