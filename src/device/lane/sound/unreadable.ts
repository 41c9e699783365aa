import type { ServiceEvent, UnreadableWhat } from '../../../ports/stream.ts';
import type { LaneState } from '../state/lane-state.ts';
import type { Stream } from '../state/session-state.ts';
import { isText } from '../state/silence-watch.ts';
import type { StepContext } from '../state/step-context.ts';

/**
 * A service can send everything in an unreadable form: it looks alive, but no translation is heard. An event reports the first
 * such message of a session, and the status shows the problem while it lasts. Unknown types of messages do not count.
 */

/** How long a problem must last before it is shown (ms): a single unreadable message does not matter. */
const AT_LEAST_MS = 2000;
/** Time after the last unreadable message (ms) at which the problem counts as over. */
const FORGOTTEN_MS = 60_000;

export function onUnreadable(
  context: StepContext,
  stream: Stream,
  { what, description }: { readonly what: UnreadableWhat; readonly description: string },
): void {
  if (stream.firstUnreadable === null) {
    context.patch(stream, { firstUnreadable: description });
    const { session } = stream.lease.grant;
    context.notify('messages_unreadable', { session, message: `the service sends ${description}` });
  }
  // A frame that is not a message may be unimportant: it counts only while a result is due.
  if (what === 'frame' && stream.silence.since === null) return;
  const { now } = context;
  const known = context.state.unreadable;
  const isOld = known === null || now - known.at >= FORGOTTEN_MS;
  const isSound = what === 'sound' || (!isOld && known.isSound);
  context.set({ unreadable: { since: isOld ? now : known.since, at: now, isSound } });
}

/** A readable text ends the problem, unless sound was unreadable. */
export function noteReadable(context: StepContext, said: ServiceEvent): void {
  const { unreadable } = context.state;
  if (unreadable !== null && !unreadable.isSound && isText(said)) context.set({ unreadable: null });
}

/** Sound that can be played ends the problem. */
export function notePlayable(context: StepContext): void {
  if (context.state.unreadable !== null) context.set({ unreadable: null });
}

type Known = Pick<LaneState, 'unreadable'>;

/** Beginning and end of the problem, as known now; null: none. */
function troubleOf({ unreadable }: Known): { readonly from: number; readonly until: number } | null {
  if (unreadable === null) return null;
  return { from: unreadable.since + AT_LEAST_MS, until: unreadable.at + FORGOTTEN_MS };
}

export function isUnreadable(state: Known, now: number): boolean {
  const trouble = troubleOf(state);
  return trouble !== null && now >= trouble.from && now < trouble.until;
}

/** When the status changes without any event. */
export function unreadableMoments(state: Known): readonly number[] {
  const trouble = troubleOf(state);
  return trouble === null ? [] : [trouble.from, trouble.until];
}

/** Explains the failure of a session by its unreadable messages; null: it has sent none. */
export function describeUnreadable({ firstUnreadable }: Stream): string | null {
  return firstUnreadable === null ? null : `the service sent unreadable messages: ${firstUnreadable}`;
}
