/** The line to the owner over MQTT (port `Bus`): keeps connecting, keeps what must arrive, and never throws. */
import type { Seed } from '../../core/random.ts';
import {
  beginReconnect,
  noteDown,
  noteOther,
  noteUp,
  noteUrgency,
  tryMs,
} from '../../core/retry/reconnect.ts';
import type { Bus, BusListener, BusOptions, OpenBus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import { disconnectGracefully } from './disconnect.ts';
import { type Ending, explainRefusedMessage } from './ending.ts';
import { brokerName, clientOptions, type MqttConnection } from './endpoint.ts';
import { type Link, openLink, type SessionFacts } from './link.ts';
import { createOutbox, type Outbox, type OutboxCounts, type OutboxLimits } from './outbox.ts';
import { createSender } from './sender.ts';
import { subscriptionsOf } from './subscribe.ts';
import { chooseVersion, noteFinding, type ProtocolVersion, UNKNOWN_BROKER } from './version.ts';

export type { MqttConnection } from './endpoint.ts';

export interface MqttBusDeps {
  readonly clock: Clock;
  /** Start of the reconnect jitter: another number on each device. */
  readonly seed: Seed;
  readonly outbox?: OutboxLimits;
  /** The broker's certificate is not valid yet: the clock may be behind. */
  readonly tooEarly?: () => void;
}

/** The port, and what an operator wants to know of the queue. */
export interface MqttBus extends Bus {
  readonly outbox: OutboxCounts;
}

const OUTBOX_LIMITS: OutboxLimits = { messages: 500, bytes: 1_048_576 };
/** Far more than a device's lanes can ask for at once. */
const TOKEN_LIMITS: OutboxLimits = { messages: 64, bytes: 131_072 };
const LONGEST_TOPIC_BYTES = 65_535;
/** A subscription that was refused is asked for again after this long: somebody may have allowed it. */
const SUBSCRIBE_AGAIN_MS = 300_000;
/** For DISCONNECT, before the socket is cut. */
const LEAVE_WITHIN_MS = 1000;

/**
 * Makes the opener of the port for one broker.
 * @param given a function is asked at each connection: certificates change. It must not throw.
 */
export function createMqttBus(
  given: MqttConnection | (() => MqttConnection),
  deps: MqttBusDeps,
): (...args: Parameters<OpenBus>) => MqttBus {
  return (options, listener) => {
    const limits = deps.outbox ?? OUTBOX_LIMITS;
    const outbox = createOutbox({ general: limits, answers: limits, tokens: TOKEN_LIMITS }, (lost) =>
      listener.lost?.(lost),
    );
    const connection = typeof given === 'function' ? given : () => given;
    const line = keepConnected(connection, deps, outbox, options, listener);
    let closed: Promise<void> | null = null;
    return {
      get connected() {
        return line.up() && closed === null;
      },
      get outbox() {
        return outbox.counts;
      },
      publish(topic, payload, { qos = 1, retain = false, properties = {}, share = 'general', ended } = {}) {
        if (closed !== null || !isTopic(topic)) return void ended?.(false);
        if (qos === 1) {
          outbox.add(topic, payload, { retain, properties, share, ended }, deps.clock.now());
          line.pump();
          return;
        }
        const link = line.up() ? line.link() : null;
        if (link !== null && !link.congested) {
          link.publish({ topic, payload, qos, retain, properties }, () => {});
        }
      },
      urgent(isUrgent) {
        if (closed === null) line.urgent(isUrgent);
      },
      disputed: () => line.disputed(),
      reconnect() {
        if (closed === null) line.reconnect();
      },
      close(finale) {
        if (closed === null) {
          line.leave();
          closed = disconnectGracefully({ ...line, unsent: () => outbox.size }, deps.clock, finale);
        }
        return closed;
      },
    };
  };
}

/** Opens one link after another until it is left. */
function keepConnected(
  connectionOf: () => MqttConnection,
  { clock, seed, tooEarly }: MqttBusDeps,
  outbox: Outbox,
  options: BusOptions,
  listener: BusListener,
) {
  let connection = connectionOf();
  const broker = brokerName(connection);
  let reconnect = beginReconnect(seed);
  let memory = UNKNOWN_BROKER;
  let connections = 0;
  let link: Link | null = null;
  let up = false;
  let session: SessionFacts = { isPresent: false, keptForS: 0 };
  /** Until then the broker should have our session. */
  let keptUntil = Number.NEGATIVE_INFINITY;
  let left = false;
  /** Left in order, to be opened again at once. */
  let leaving = false;
  let retryAt: number | null = null;
  let cancelRetry = (): void => {};
  let openedAt = 0;
  let cancelLimit = (): void => {};
  let cancelSubscribing = (): void => {};
  const subscriptions = subscriptionsOf(options);
  let watcher = (): void => {};
  const sender = createSender(outbox, clock, broker, () => watcher());

  /** A try that hangs is given up, the sooner the more urgent it is. */
  const limitTry = (): void => {
    cancelLimit();
    cancelLimit = clock.at(Math.max(clock.now(), openedAt + tryMs(reconnect)), () => {
      if (link?.accepted === false) link.destroy(`cannot reach ${broker}: no answer`);
    });
  };

  const retry = (at: number): void => {
    cancelRetry();
    retryAt = at;
    cancelRetry = clock.at(at, open);
  };

  /** Tells what is refused, and asks for it again in a while. */
  const noteRefused = (opened: Link, refused: readonly string[]): void => {
    listener.refused?.(refused);
    if (refused.length === 0) return;
    cancelSubscribing = clock.at(clock.now() + SUBSCRIBE_AGAIN_MS, () => {
      const again = subscriptions.filter(({ filter }) => refused.includes(filter));
      opened.subscribe(again, (still) => noteRefused(opened, still));
    });
  };

  const open = (): void => {
    retryAt = null;
    openedAt = clock.now();
    connection = connectionOf();
    const version = chooseVersion(memory, clock.now());
    const target = {
      broker,
      version,
      subscriptions,
      options: () =>
        clientOptions(connection, version, options.will?.(connections + 1) ?? null, options.keptForS),
    };
    const opened = openLink(target, clock, {
      accepted(facts) {
        session = facts;
        cancelLimit();
        connections += 1;
        memory = noteFinding(memory, version, 'accepted', clock.now());
      },
      ready(refused) {
        if (left) return;
        up = true;
        noteRefused(opened, refused);
        reconnect = noteUp(reconnect, clock.now(), clock.now() < keptUntil && !session.isPresent);
        listener.up(connections, version);
        sender.attach(opened);
      },
      message(message) {
        if (!left) listener.message(message);
        // Nobody takes it any more: what the broker keeps for us comes again at the next start.
        else message.hold?.();
      },
      oversized(topic, bytes) {
        if (!left) listener.oversized?.(topic, bytes);
      },
      ended: (ending) => afterEnd(ending, version),
    });
    link = opened;
    limitTry();
  };

  const afterEnd = (seen: Ending, version: ProtocolVersion): void => {
    cancelLimit();
    cancelSubscribing();
    if (up) keptUntil = clock.now() + session.keptForS * 1000;
    link = null;
    up = false;
    const topic = sender.detach(seen);
    const ending = topic === null ? seen : explainRefusedMessage(broker, topic);
    memory = noteFinding(memory, version, ending.finding, clock.now());
    if (left) return watcher();
    if (leaving) {
      leaving = false;
      return open();
    }
    if (ending.finding === 'unsupported') return open();
    const { problem, early, silent, reset } = ending;
    const wordless = (silent ?? reset) && { silent: true as const };
    const told = { problem, protocol: version, ...(early && { early }), ...wordless };
    const next = noteDown(reconnect, told, clock.now());
    reconnect = next.state;
    retry(clock.now() + next.waitMs);
    const isSeenThrough = next.problem !== ending.problem;
    const hint = isSeenThrough ? ` again: another client uses the identifier "${connection.clientId}"` : '';
    listener.down(next.problem, ending.message + hint);
    if (ending.tooEarly) tooEarly?.();
  };

  open();
  return {
    link: () => link,
    /** Connected, subscribed and not left. */
    up: () => up,
    pump: () => sender.pump(),
    urgent(isUrgent: boolean): void {
      if (isUrgent === reconnect.urgent) return;
      const next = noteUrgency(reconnect, isUrgent, retryAt, clock.now());
      reconnect = next.state;
      if (next.dueAt !== null && next.dueAt !== retryAt) retry(next.dueAt);
      if (link?.accepted === false) limitTry();
    },
    disputed(): void {
      reconnect = noteOther(reconnect);
    },
    /** Says DISCONNECT, so that the will is not published, and opens the next link; at once where there is none. */
    reconnect(): void {
      if (leaving) return;
      if (link === null) return retry(clock.now());
      const last = link;
      leaving = true;
      if (!last.accepted) return last.destroy();
      sender.detach();
      last.end();
      clock.at(clock.now() + LEAVE_WITHIN_MS, () => last.destroy());
    },
    /** Opens no further link and tells the listener no more. */
    leave(): void {
      left = true;
      cancelRetry();
      cancelLimit();
      cancelSubscribing();
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

/** A topic that may be published to; any other would cost the connection, again and again. */
function isTopic(topic: string): boolean {
  return topic !== '' && !/[+#\0]/.test(topic) && Buffer.byteLength(topic) <= LONGEST_TOPIC_BYTES;
}
