/** The call of a visitor for a member of staff: one per device. It reaches the owner when the broker has acknowledged its event. */
import type { HelpCallState } from '../../protocol/mqtt/commands/desk-commands.ts';

export interface HelpCall {
  readonly state: HelpCallState;
  /** Sequence number of the call since the start of the agent. */
  readonly number: number;
  /** Lane at which the visitor called; null: not named. */
  readonly lane: string | null;
  readonly calledAt: number;
  /** Who has answered; null: not answered, or without a name. */
  readonly by: string | null;
  /** When time alone ends this state. */
  readonly until: number;
}

export interface HelpState {
  readonly call: HelpCall | null;
  readonly calls: number;
  /** When the last event was published; null: never. */
  readonly publishedAt: number | null;
}

export const NO_CALL: HelpState = { call: null, calls: 0, publishedAt: null };

/** Shortest time between two events (ms): a visitor may hammer the button. */
export const CALL_EACH_MS = 30_000;
/** Longest wait for the broker's acknowledgement (ms). */
export const ACKNOWLEDGED_WITHIN_MS = 10_000;
/** How long the visitor can read the end of a call (ms). */
export const SHOWN_MS = 120_000;

const OPEN: readonly HelpCallState[] = ['calling', 'called'];

/** Whether the visitor waits for an answer. */
export const isOpen = ({ call }: HelpState): boolean => call !== null && OPEN.includes(call.state);

/** When the next call may begin. */
export const mayCallAt = ({ publishedAt }: HelpState): number =>
  publishedAt === null ? Number.NEGATIVE_INFINITY : publishedAt + CALL_EACH_MS;

/** Begins a call. Without a connection it ends at once, and nothing is queued: an hour later the visitor is gone. */
export function beginCall(
  { calls, publishedAt }: HelpState,
  lane: string | null,
  isConnected: boolean,
  now: number,
): HelpState {
  const number = calls + 1;
  const common = { number, lane, calledAt: now, by: null };
  if (!isConnected)
    return { calls: number, publishedAt, call: { ...common, state: 'unreached', until: now + SHOWN_MS } };
  const until = now + ACKNOWLEDGED_WITHIN_MS;
  return { calls: number, publishedAt: now, call: { ...common, state: 'calling', until } };
}

/** The broker has acknowledged the event of a call, perhaps late, or the event was dropped. */
export function noteDelivery(
  help: HelpState,
  number: number,
  isDelivered: boolean,
  answerWithinMs: number,
  now: number,
): HelpState {
  const { call } = help;
  if (call === null || call.number !== number) return help;
  if (call.state !== 'calling' && call.state !== 'unreached') return help;
  if (!isDelivered) return { ...help, call: { ...call, state: 'unreached', until: now + SHOWN_MS } };
  return { ...help, call: { ...call, state: 'called', until: now + answerWithinMs } };
}

export function answerCall(help: HelpState, by: string | null, now: number): HelpState {
  const { call } = help;
  return call === null ? help : { ...help, call: { ...call, state: 'answered', by, until: now + SHOWN_MS } };
}

export const endCall = (help: HelpState): HelpState => ({ ...help, call: null });

/** What time alone has changed. */
export function passTime(help: HelpState, now: number): HelpState {
  const { call } = help;
  if (call === null || now < call.until) return help;
  const until = now + SHOWN_MS;
  if (call.state === 'calling') return { ...help, call: { ...call, state: 'unreached', until } };
  if (call.state === 'called') return { ...help, call: { ...call, state: 'unanswered', until } };
  return endCall(help);
}
