import type { ServiceEvent, UnreadableWhat } from '../../../ports/stream.ts';
import type { LaneState } from '../state.ts';
import type { StepContext } from '../step-context.ts';
import type { Stream } from './session.ts';
import { isText } from './silence.ts';

/**
 * A service can say all that it should in a way that nobody can read: it looks alive, and nothing is heard of it. What it was
 * is told once in a session, and the status tells for how long. What an unknown message means is not asked: those are ignored.
 */

/** A single one between others that can be read makes no difference to anybody. */
const AT_LEAST_MS = 2000;
/** What was this long ago says nothing of the service of now. */
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
  // Of what is no message at all it is not known whether it was to be heard: only where an answer is owed it may be that.
  if (what === 'frame' && stream.silence.since === null) return;
  const { now } = context;
  const known = context.state.unreadable;
  const isOld = known === null || now - known.at >= FORGOTTEN_MS;
  context.set({ unreadable: { since: isOld ? now : known.since, at: now } });
}

/** Looks at what the service says: a text or sound ends the trouble. */
export function noteReadable(context: StepContext, said: ServiceEvent): void {
  if (context.state.unreadable === null) return;
  const isSound = said.type === 'spoke' && said.pcm.byteLength > 0;
  if (isSound || isText(said)) context.set({ unreadable: null });
}

type Known = Pick<LaneState, 'unreadable'>;

/** From when until when what it says cannot be read, as far as is known now; null: it can. */
function troubleOf({ unreadable }: Known): { readonly from: number; readonly until: number } | null {
  if (unreadable === null) return null;
  return { from: unreadable.since + AT_LEAST_MS, until: unreadable.at + FORGOTTEN_MS };
}

export function isUnreadable(state: Known, now: number): boolean {
  const trouble = troubleOf(state);
  return trouble !== null && now >= trouble.from && now < trouble.until;
}

/** When that changes though nothing happens. */
export function unreadableMoments(state: Known): readonly number[] {
  const trouble = troubleOf(state);
  return trouble === null ? [] : [trouble.from, trouble.until];
}

/** What a session that has come to nothing is told of, where it has sent what cannot be read; null: it has not. */
export function describeUnreadable({ firstUnreadable }: Stream): string | null {
  return firstUnreadable === null ? null : `what the service sent cannot be read: ${firstUnreadable}`;
}
