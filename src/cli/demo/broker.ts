/** An MQTT 3.1.1 broker inside the process, for the demo and for tests: only loopback, nothing on disk. */
import '../../adapters/mqtt/no-debug-output.ts';
import { createServer, type Socket } from 'node:net';
import { Aedes, type AedesOptions, type Client } from 'aedes';

const HOST = '127.0.0.1';
const SHARED = /^\$share\/[^/]+\//;
/** Return code of MQTT 3.1.1: bad user name or password. */
const BAD_CREDENTIALS = 4;

export interface BrokerOptions {
  /** 0 (the default) takes a free port. */
  readonly port?: number;
  /** Checks a login; left out: every client on this machine may connect. */
  readonly login?: (username: string | undefined, password: string | undefined) => boolean;
  /** Default: true. RabbitMQ sends retained messages only to filters without wildcards. */
  readonly sendsRetainedToWildcards?: boolean;
  /** The filters that no client may subscribe to. Default: none. */
  readonly refusesFilter?: (filter: string) => boolean;
}

export interface Broker {
  /** `mqtt://127.0.0.1:PORT` */
  readonly url: string;
  readonly port: number;
  /** Closes all connections once, like a restart; the broker publishes the wills. */
  kickAll(): void;
  /** Closes the connection of one client. */
  kick(clientId: string): void;
  /** Simulates an outage: closes all connections and refuses new ones until `resume`. Retained messages stay. */
  pause(): void;
  resume(): void;
  close(): Promise<void>;
}

export async function startBroker(options: BrokerOptions = {}): Promise<Broker> {
  const aedes = await Aedes.createBroker(brokerOptions(options));
  const sockets = new Set<Socket>();
  let paused = false;

  const server = createServer((socket) => {
    // The server keeps its port while paused, because another process could take it.
    if (paused) return void socket.destroy();
    sockets.add(socket);
    socket.on('close', () => sockets.delete(socket));
    aedes.handle(socket);
  });
  // An error of a client only ends its own connection.
  aedes.on('clientError', () => {});
  aedes.on('connectionError', () => {});
  const clients = new Map<string, Client>();
  aedes.on('clientReady', (client) => clients.set(client.id, client));
  aedes.on('clientDisconnect', (client) => {
    if (clients.get(client.id) === client) clients.delete(client.id);
  });

  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(options.port ?? 0, HOST, resolve);
  });
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const destroyAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };

  return {
    url: `mqtt://${HOST}:${port}`,
    port,
    kickAll: destroyAll,
    kick: (clientId) => clients.get(clientId)?.conn.destroy(),
    pause() {
      paused = true;
      destroyAll();
    },
    resume() {
      paused = false;
    },
    async close() {
      await new Promise<void>((resolve) => aedes.close(resolve));
      destroyAll();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

function brokerOptions(options: BrokerOptions): AedesOptions {
  const { login, sendsRetainedToWildcards = true, refusesFilter = () => false } = options;
  const filters = new WeakMap<Client, Set<string>>();
  return {
    // The broker does not support shared subscriptions: every member of a group gets every message.
    authorizeSubscribe(client, subscription, callback) {
      subscription.topic = subscription.topic.replace(SHARED, '');
      if (refusesFilter(subscription.topic)) return callback(null, null);
      filters.set(client, (filters.get(client) ?? new Set()).add(subscription.topic));
      callback(null, subscription);
    },
    ...(!sendsRetainedToWildcards && {
      authorizeForward: (client, packet) =>
        packet.retain && !filters.get(client)?.has(packet.topic) ? null : packet,
    }),
    ...(login && {
      authenticate(_client, username, password, callback) {
        if (login(username, password?.toString('utf8'))) return callback(null, true);
        callback(
          Object.assign(new Error('bad user name or password'), { returnCode: BAD_CREDENTIALS }),
          null,
        );
      },
    }),
  };
}
