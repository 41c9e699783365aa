import type { Seed } from '../../core/random.ts';
import { beginReconnect, noteDown, noteUp, noteUrgency, tryMs } from '../../core/retry/reconnect.ts';
import type { BusListener, BusOptions } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { limitsOf } from './allowances.ts';
import type { Ending } from './end-reasons.ts';
import { brokerName, type MqttConnection } from './endpoint.ts';
import type { Link, openLink } from './link.ts';
import { closeLink, createRefusals, createStarter, endHungTry } from './link-starter.ts';
import type { Outbox } from './outbox.ts';
import { createVersionMemories } from './protocol-version.ts';
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
  /** Opens one connection. Tests replace the network with it. */
  readonly openLink?: typeof openLink;
}

/** Opens one link after another until it is closed. */
export function keepConnected(
  connectionOf: () => MqttConnection,
  { clock, seed, tooEarly, other, openLink: open_ }: ConnectionDeps,
  outbox: Outbox,
  options: BusOptions,
  listener: BusListener,
) {
  let connection = connectionOf();
  let reconnect = beginReconnect(seed);
  const memories = createVersionMemories();
  let link: Link | null = null;
  /** Set when the present link ended during a trial, which may be the reason. */
  let stranded: (() => void) | null = null;
  let up = false;
  /** Connections that the broker closed without a word, since the last stable one. */
  let closes = 0;
  let left = false;
  /** Closed cleanly, to be opened again at once. */
  let leaving = false;
  let retryAt: number | null = null;
  let cancelRetry = (): void => {};
  let openedAt = 0;
  let cancelLimit = (): void => {};
  let watcher = (): void => {};
  const name = (): string => brokerName(connection);
  const sender = createSender(
    outbox,
    clock,
    name,
    () => reconnect.urgent,
    () => watcher(),
  );
  const starter = createStarter(clock, memories, options, listener, (one) => !left && one === link, open_);
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
      ready(opened, refused) {
        if (!left && opened === link) present(opened, refused);
      },
      ended(opened, ending) {
        if (opened === link) afterEnd(ending);
      },
    });
    limitTry();
  };

  /** The connection is up, over this link. */
  const present = (opened: Link, refused: readonly string[]): void => {
    up = true;
    cancelLimit();
    refusals.note(opened, refused);
    reconnect = noteUp(reconnect, clock.now());
    listener.limited?.(limitsOf(opened.allowed));
    listener.up(starter.connections, opened.version);
    sender.attach(opened);
  };

  const afterEnd = (ending: Ending): void => {
    cancelLimit();
    refusals.cancel();
    const wasUp = up;
    link = null;
    up = false;
    const unanswered = outbox.unansweredTopic();
    sender.detach(ending);
    if (left) return watcher();
    const isAwaited = leaving || ending.lacks5 === true || ending.asksForLess === true;
    leaving = false;
    if (isAwaited) return open();
    // Both addresses may lead to one broker, which accepts only one client with our name.
    if (wasUp && trial.isUnderWay) stranded = () => afterLoss(ending, unanswered);
    else afterLoss(ending, unanswered);
  };

  const afterLoss = (ending: Ending, unanswered: string | null): void => {
    const wasUp = reconnect.upSince !== null;
    const next = noteDown(reconnect, ending, clock.now());
    reconnect = next.state;
    retry(clock.now() + next.waitMs);
    if (reconnect.failures === 1) closes = 0;
    const isClose = wasUp && ending.silent === true;
    if (isClose) closes += 1;
    const hint = isClose && closes >= HINT_AFTER ? hintOf(connection.clientId, unanswered) : '';
    listener.down(ending.problem, ending.message + hint, ending.code);
    if (ending.tooEarly) tooEarly?.();
  };

  /** Closes the present link, if there is one, and uses the new one. */
  const changeOver: TrialParts['changeOver'] = (to, opened, finale) => {
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
    reconnect = { ...beginReconnect(reconnect.seed), urgent: reconnect.urgent };
    if (last !== null) closeLink(last, clock, finale);
  };

  const trial = createTrial({
    clock,
    start: starter.start,
    changeOver,
    present,
    tryMs: () => tryMs(reconnect),
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
    pump: sender.pump,
    fleeting: sender.fleeting,
    urgent(isUrgent: boolean): void {
      if (isUrgent === reconnect.urgent) return;
      const next = noteUrgency(reconnect, isUrgent, retryAt, clock.now());
      reconnect = next.state;
      if (next.dueAt !== null && next.dueAt !== retryAt) retry(next.dueAt);
      if (link !== null && !up) limitTry();
      trial.rush();
      sender.rush();
      refusals.urgent(isUrgent);
    },
    disputed(isDisputed: boolean): void {
      reconnect = { ...reconnect, isDisputed };
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

/** Closes after which the log has a guess about their reason. It changes nothing else. */
const HINT_AFTER = 3;

/** Possible reasons why a broker closes each connection without a word. */
function hintOf(clientId: string, unanswered: string | null): string {
  const topic = unanswered === null ? '' : ` does it allow "${unanswered}"?`;
  return ` again;${topic} does another client use the identifier "${clientId}"?`;
}
