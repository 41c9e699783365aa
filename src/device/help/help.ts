import type { Clock } from '../../ports/clock.ts';
import type { EventKind } from '../../protocol/mqtt/event.ts';
import type { ScreenHelp } from '../../protocol/screen.ts';
import { CommandError } from '../commands/command-request.ts';
import type { CommandHandlers } from '../commands/command-table.ts';
import {
  answerCall,
  beginCall,
  endCall,
  type HelpCall,
  type HelpState,
  isOpen,
  mayCallAt,
  NO_CALL,
  noteDelivery,
  passTime,
} from './help-rules.ts';

export interface HelpDeps {
  readonly clock: Clock;
  /** Null: visitors cannot call staff. */
  answerWithinS(): number | null;
  isConnected(): boolean;
  /** Publishes an event. @param ended called once: whether the broker has acknowledged it */
  deliver(
    kind: EventKind,
    detail: Readonly<Record<string, unknown>>,
    ended: (isDelivered: boolean) => void,
  ): void;
  /** The call in the published state has changed. */
  changed(): void;
}

/** The call of a visitor for a member of staff. */
export interface Help {
  readonly command: CommandHandlers['help'];
  /** Null: none. */
  readonly call: HelpCall | null;
  /** For the screen; null: visitors cannot call staff. */
  shown(): ScreenHelp | null;
  /** The visitors at these lanes have ended their conversation. */
  leave(lanes: readonly string[]): void;
  /** Calls back after each change of the call, until the returned function is called. */
  watch(listener: () => void): () => void;
  close(): void;
}

export function createHelp(deps: HelpDeps): Help {
  const { clock } = deps;
  const listeners = new Set<() => void>();
  let help = NO_CALL;
  let cancel = (): void => {};

  const set = (next: HelpState): void => {
    if (next === help) return;
    help = next;
    cancel();
    cancel =
      next.call === null ? () => {} : clock.at(next.call.until, () => set(passTime(help, clock.now())));
    deps.changed();
    for (const listener of listeners) listener();
  };
  const answerWithinMs = (): number => {
    const seconds = deps.answerWithinS();
    if (seconds === null)
      throw new CommandError('unsupported', 'visitors cannot call staff here: set "help.answerWithin"');
    return seconds * 1000;
  };
  const call = (lane: string | null): void => {
    const answeredWithinMs = answerWithinMs();
    if (isOpen(help)) return;
    const now = clock.now();
    if (now < mayCallAt(help)) throw new CommandError('busy', 'staff were called within the last 30 s');
    const isConnected = deps.isConnected();
    set(beginCall(help, lane, isConnected, now));
    if (!isConnected) return;
    const { calls: number } = help;
    deps.deliver('help_called', { lane }, (isDelivered) =>
      set(noteDelivery(help, number, isDelivered, answeredWithinMs, clock.now())),
    );
  };
  const answer = (by: string | null): void => {
    if (help.call === null) throw new CommandError('not_called', 'there is no call to answer');
    const { state, by: other, lane } = help.call;
    if (state === 'answered')
      throw new CommandError('answered', `${other ?? 'a member of staff'} has answered already`);
    set(answerCall(help, by, clock.now()));
    deps.deliver('help_answered', { lane, ...(by !== null && { by }) }, () => {});
  };

  return {
    command({ lane = null, do: what, by = null }) {
      if (what === 'call') call(lane);
      else answer(by);
      const { state = 'unreached', by: who = null } = help.call ?? {};
      return { state, by: who };
    },
    get call() {
      return help.call;
    },
    shown() {
      if (deps.answerWithinS() === null) return null;
      const mayCall = deps.isConnected() && !isOpen(help) && clock.now() >= mayCallAt(help);
      return { state: help.call?.state ?? 'none', by: help.call?.by ?? null, mayCall };
    },
    leave(lanes) {
      const { call: present } = help;
      if (present === null) return;
      if (present.lane === null || lanes.includes(present.lane)) set(endCall(help));
    },
    watch(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    close: () => cancel(),
  };
}
