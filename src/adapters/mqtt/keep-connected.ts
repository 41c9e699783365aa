import type { Seed } from '../../core/random.ts';
import {
  beginReconnect,
  noteDown,
  noteOther,
  noteUp,
  noteUrgency,
  type ReconnectState,
  SUSPICIOUS_QUICK_CLOSES,
  tryMs,
} from '../../core/retry/reconnect.ts';
import type { BusListener, BusOptions } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { type Ending, explainRefusedMessage } from './end-reasons.ts';
import { brokerName, type MqttConnection } from './endpoint.ts';
import type { Link, SessionFacts } from './link.ts';
import { closeLink, createRefusals, createStarter, endHungTry } from './link-starter.ts';
import type { Outbox } from './outbox.ts';
import { createVersionMemories, type ProtocolVersion } from './protocol-version.ts';
import { createSender } from './sender.ts';
import { createTrial, type TrialParts } from './trial.ts';

export interface ConnectionDeps {
  readonly clock: Clock;
  /** Seed of the reconnect jitter: different on each device. */
  readonly seed: Seed;
  /** How to reach the broker that `attempt` tries. It must not throw. Absent: there is no other broker. */
  readonly other?: () => MqttConnection;
  /** The broker's certificate is not valid yet: the clock may be slow. */
  readonly tooEarly?: () => void;
}

/** Opens one link after another until it is closed. */
export function keepConnected(
  connectionOf: () => MqttConnection,
  { clock, seed, tooEarly, other }: ConnectionDeps,
  outbox: Outbox,
  options: BusOptions,
  listener: BusListener,
) {
  let connection = connectionOf();
  // Other clients (backends, people) use a new name for each run: quick closes alone never make them wait.
  const isNamed = options.keptForS !== undefined;
  let reconnect = beginReconnect(seed);
  const memories = createVersionMemories();
  let link: Link | null = null;
  /** Set when the present link ended during a trial, which may be the reason. */
  let stranded: (() => void) | null = null;
  let up = false;
  let session: SessionFacts = { isPresent: false, keptForS: 0 };
  /** The broker should have our session until then. */
  let keptUntil = Number.NEGATIVE_INFINITY;
  let left = false;
  /** Closed cleanly, to be opened again at once. */
  let leaving = false;
  let retryAt: number | null = null;
  let cancelRetry = (): void => {};
  let openedAt = 0;
  let cancelLimit = (): void => {};
  let watcher = (): void => {};
  const name = (): string => brokerName(connection);
  const sender = createSender(outbox, clock, name, () => watcher());
  const starter = createStarter(clock, memories, options, listener, (one) => !left && one === link);
  const refusals = createRefusals(clock, options, listener);

  /** Gives up a connection attempt that hangs: sooner when it is urgent. */
  const limitTry = (): void => {
    cancelLimit();
    cancelLimit = clock.at(Math.max(clock.now(), openedAt + tryMs(reconnect)), () => endHungTry(link));
  };

  const retry = (at: number): void => {
    cancelRetry();
    retryAt = at;
    cancelRetry = clock.at(at, open);
  };

  const open = (): void => {
    retryAt = null;
    openedAt = clock.now();
    connection = connectionOf();
    link = starter.start(connection, {
      accepted(facts) {
        session = facts;
        cancelLimit();
      },
      ready(opened, refused) {
        if (!left && opened === link) present(opened, refused);
      },
      ended(opened, ending) {
        if (opened === link) afterEnd(ending, opened.version);
      },
    });
    limitTry();
  };

  /** The connection is up, over this link. */
  const present = (opened: Link, refused: readonly string[]): void => {
    up = true;
    refusals.note(opened, refused);
    reconnect = noteUp(reconnect, clock.now(), clock.now() < keptUntil && !session.isPresent);
    listener.up(starter.connections, opened.version);
    sender.attach(opened);
  };

  const afterEnd = (seen: Ending, version: ProtocolVersion): void => {
    cancelLimit();
    refusals.cancel();
    if (up) keptUntil = clock.now() + session.keptForS * 1000;
    link = null;
    up = false;
    const topic = sender.detach(seen, isMistakable(reconnect, seen, isNamed ? version : 5, clock.now()));
    const ending = topic === null ? seen : explainRefusedMessage(name(), topic);
    memories.note(connection, version, ending.finding, clock.now());
    if (left) return watcher();
    const isAwaited = leaving || ending.finding === 'unsupported';
    leaving = false;
    if (isAwaited) return open();
    // Both addresses may lead to one broker, which accepts only one client with our name.
    if (trial.isUnderWay) stranded = () => afterLoss(ending, version);
    else afterLoss(ending, version);
  };

  const afterLoss = (ending: Ending, version: ProtocolVersion): void => {
    const next = noteDown(reconnect, lossOf(ending, isNamed ? version : 5), clock.now());
    reconnect = next.state;
    retry(clock.now() + next.waitMs);
    listener.down(next.problem, ending.message + hintOf(reconnect, ending, connection.clientId));
    if (ending.tooEarly) tooEarly?.();
  };

  /** Closes the present link, if there is one, and uses the new one. */
  const changeOver: TrialParts['changeOver'] = (to, opened, facts, finale) => {
    const last = link;
    cancelRetry();
    cancelLimit();
    refusals.cancel();
    sender.detach();
    retryAt = null;
    stranded = null;
    leaving = false;
    link = opened;
    connection = to;
    session = facts;
    keptUntil = Number.NEGATIVE_INFINITY;
    reconnect = { ...beginReconnect(reconnect.seed), urgent: reconnect.urgent };
    if (last !== null) closeLink(last, clock, finale);
  };

  const trial = createTrial({
    ...{ clock, memories, start: starter.start, changeOver, present },
    other: other ?? null,
    isPresent: (one) => one === link,
    ended: afterEnd,
    failed() {
      stranded?.();
      stranded = null;
    },
  });
  open();
  return {
    attempt: trial.attempt,
    link: () => link,
    /** Connected and subscribed, and not being closed. */
    up: () => up,
    ...{ pump: sender.pump, fleeting: sender.fleeting },
    urgent(isUrgent: boolean): void {
      if (isUrgent === reconnect.urgent) return;
      const next = noteUrgency(reconnect, isUrgent, retryAt, clock.now());
      reconnect = next.state;
      if (next.dueAt !== null && next.dueAt !== retryAt) retry(next.dueAt);
      if (link?.accepted === false) limitTry();
    },
    disputed(): void {
      sender.otherSeen();
      reconnect = noteOther(reconnect);
    },
    tryNow: () => retryAt !== null && retry(clock.now()),
    /** Says DISCONNECT, so that the will is not published, and opens the next link; opens it at once when there is no link. */
    reconnect(): void {
      if (leaving) return;
      if (link === null) return retry(clock.now());
      leaving = true;
      sender.detach();
      closeLink(link, clock, null);
    },
    /** Opens no further link and reports no more to the listener. */
    close(): void {
      left = true;
      cancelRetry();
      cancelLimit();
      refusals.cancel();
      trial.close();
    },
    drain(allowed: boolean): void {
      if (allowed && link !== null) sender.attach(link);
      else sender.detach();
    },
    watch(callback: () => void): void {
      watcher = callback;
    },
  };
}

/** The facts on which the next attempt depends. */
function lossOf({ problem, early, silent, reset }: Ending, protocol: ProtocolVersion) {
  const wordless = (silent ?? reset) && { silent: true as const };
  return { problem, protocol, ...(early && { early }), ...wordless };
}

/** Whether only the way in which it ended suggests another client. */
function isMistakable(
  state: ReconnectState,
  ending: Ending,
  protocol: ProtocolVersion,
  now: number,
): boolean {
  return (
    ending.problem !== 'taken_over' && noteDown(state, lossOf(ending, protocol), now).problem === 'taken_over'
  );
}

/** A hint for a connection that was closed without a reason again. */
function hintOf({ problem, quickCloses }: ReconnectState, ending: Ending, clientId: string): string {
  if (problem !== ending.problem) return ` again: another client uses the identifier "${clientId}"`;
  if (quickCloses < SUSPICIOUS_QUICK_CLOSES) return '';
  return ` again; does another client use the identifier "${clientId}"?`;
}
