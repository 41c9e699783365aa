/** A broker in virtual time. The shipped MQTT bus of agents and backends opens its links to it instead of a network. */
import { ALL_ALLOWED } from '../../../src/adapters/mqtt/allowances.ts';
import { explainClose } from '../../../src/adapters/mqtt/end-reasons.ts';
import type { Link, LinkSink, LinkTarget, Outgoing } from '../../../src/adapters/mqtt/link.ts';
import type { Clock } from '../../../src/ports/clock.ts';

/** One way between a client and the broker (ms). */
const FASTEST_MS = 5;
const SLOWEST_MS = 60;
/** TLS, CONNECT and SUBSCRIBE cost the broker so much: 400 connections a second, as measured with mosquitto. */
const ACCEPT_MS = 2.5;
/** So many wait to be accepted, as mosquitto asks of the kernel. The kernel of a client beyond them knocks again after 1, 2, 4 and 8 s. */
const BACKLOG = 100;
const FIRST_KNOCK_AGAIN_MS = 1000;
const MOST_IN_FLIGHT = 16;
const SHARED = '$share/';

interface Client {
  readonly sink: LinkSink;
  readonly filters: readonly string[];
  up: boolean;
  over: boolean;
}

export interface VirtualBroker {
  openLink(target: LinkTarget, clock: Clock, sink: LinkSink): Link;
  /** Ends every connection, and accepts none for a while. */
  restart(downMs: number): void;
  /** Clients that are connected. */
  readonly connected: number;
  /** Moments (ms) of all attempts to connect, and of all messages that arrived. */
  readonly attempts: number[];
  readonly messages: number[];
}

export function createVirtualBroker(clock: Clock, random: () => number): VirtualBroker {
  const clients = new Set<Client>();
  /** By the filter without a wildcard, and those with one. */
  const exact = new Map<string, Set<Client>>();
  const wild = new Map<string, Client[]>();
  const attempts: number[] = [];
  const messages: number[] = [];
  let downUntil = 0;
  let acceptedUntil = 0;
  let turn = 0;
  const travelMs = (): number => FASTEST_MS + random() * (SLOWEST_MS - FASTEST_MS);
  const after = (ms: number, act: () => void): void => void clock.at(clock.now() + ms, act);

  const subscribe = (client: Client): void => {
    for (const filter of client.filters) {
      if (!/[+#]/.test(filter)) exact.set(filter, (exact.get(filter) ?? new Set()).add(client));
      else if (filter.startsWith(SHARED)) wild.set(filter, [...(wild.get(filter) ?? []), client]);
    }
  };
  const forget = (client: Client): void => {
    client.up = false;
    if (!clients.delete(client)) return;
    for (const filter of client.filters) {
      const ones = exact.get(filter);
      ones?.delete(client);
      if (ones?.size === 0) exact.delete(filter);
      const shared = wild.get(filter);
      if (shared !== undefined)
        wild.set(
          filter,
          shared.filter((one) => one !== client),
        );
    }
  };
  const end = (client: Client): void => {
    const accepted = client.up;
    forget(client);
    if (client.over) return;
    client.over = true;
    client.sink.ended(explainClose('mqtts://broker.sim', accepted));
  };
  const give = (client: Client, { topic, payload, properties }: Outgoing): void =>
    after(travelMs(), () => {
      if (client.up) client.sink.message({ topic, payload, retain: false, properties });
    });
  const route = (message: Outgoing): void => {
    messages.push(clock.now());
    for (const client of exact.get(message.topic) ?? []) give(client, message);
    for (const [filter, members] of wild) {
      if (!matches(filter, message.topic)) continue;
      turn += 1;
      const member = members[turn % members.length];
      if (member !== undefined) give(member, message);
    }
  };

  return {
    attempts,
    messages,
    get connected() {
      return clients.size;
    },
    restart(downMs) {
      downUntil = clock.now() + downMs;
      acceptedUntil = downUntil;
      for (const client of [...clients]) end(client);
    },
    openLink(target, _clock, sink) {
      const filters = target.subscriptions.map(({ filter }) => filter);
      const client: Client = { sink, filters, up: false, over: false };
      attempts.push(clock.now());
      let isAccepted = false;
      const knock = (againMs: number): void => {
        if (client.over) return;
        if (clock.now() < downUntil) return after(travelMs(), () => end(client));
        if (acceptedUntil - clock.now() >= BACKLOG * ACCEPT_MS)
          return after(againMs, () => knock(2 * againMs));
        acceptedUntil = Math.max(acceptedUntil, clock.now()) + ACCEPT_MS;
        after(acceptedUntil - clock.now() + travelMs(), () => {
          if (client.over) return;
          if (clock.now() < downUntil) return end(client);
          isAccepted = true;
          sink.accepted();
          client.up = true;
          clients.add(client);
          subscribe(client);
          sink.ready([]);
        });
      };
      after(travelMs(), () => knock(FIRST_KNOCK_AGAIN_MS));
      return {
        broker: target.broker,
        version: target.version,
        window: MOST_IN_FLIGHT,
        congested: false,
        allowed: ALL_ALLOWED,
        largestPacketBytes: Number.POSITIVE_INFINITY,
        get accepted() {
          return isAccepted;
        },
        publish(message, done) {
          after(travelMs(), () => {
            if (!client.up) return;
            route(message);
            if (message.qos === 1) after(travelMs(), () => void (client.up && done(null)));
          });
        },
        subscribe: (_subscriptions, done) => done([]),
        unsubscribe: (_subscriptions, done) => done(),
        end: () => end(client),
        destroy: () => end(client),
      };
    },
  };
}

/** For filters with `+` only. */
function matches(filter: string, topic: string): boolean {
  const own = filter.split('/');
  const levels = own.slice(own[0] === '$share' ? 2 : 0);
  const said = topic.split('/');
  return (
    levels.length === said.length && levels.every((level, index) => level === '+' || level === said[index])
  );
}
