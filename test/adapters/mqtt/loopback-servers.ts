/** Servers on loopback: a relay that fails on demand, and a broker that answers by a script. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';

const listenOnLoopback = (server: Server): Promise<number> =>
  new Promise((resolve) =>
    server.listen(0, '127.0.0.1', () => resolve((server.address() as AddressInfo).port)),
  );

export interface Relay {
  readonly port: number;
  /** Cuts all connections, like a pulled cable that both ends notice. */
  cut(): void;
  /** While on, nothing passes and neither end notices: a black hole. */
  hold(on: boolean): void;
  /** While on, new connections are cut at once. */
  refuse(on: boolean): void;
  close(): Promise<void>;
}

/** The network between client and broker. */
export async function startRelay(targetPort: number): Promise<Relay> {
  const pairs = new Set<[Socket, Socket]>();
  let held = false;
  let refusing = false;
  const server = createServer((near) => {
    if (refusing) return void near.destroy();
    const far = connect(targetPort, '127.0.0.1');
    const pair: [Socket, Socket] = [near, far];
    for (const socket of pair) socket.setNoDelay(true);
    pairs.add(pair);
    const end = (): void => {
      pairs.delete(pair);
      near.destroy();
      far.destroy();
    };
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      from.on('data', (bytes) => held || to.write(bytes));
      from.on('end', () => held || to.end());
      from.on('close', () => held || end());
      from.on('error', () => held || end());
    }
  });
  const port = await listenOnLoopback(server);
  const cut = (): void => {
    for (const pair of pairs) for (const socket of pair) socket.destroy();
    pairs.clear();
  };
  return {
    port,
    cut,
    hold: (on) => {
      held = on;
    },
    refuse: (on) => {
      refusing = on;
    },
    close: () => {
      cut();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}

export interface ScriptedBroker {
  readonly url: string;
  connections(): number;
  /** How many connections are open now. */
  open(): number;
  cutAll(): void;
  close(): Promise<void>;
}

/** A scripted broker: passes a client's first bytes, and then everything that the client sends, to `answer`. */
export async function startScriptedBroker(
  answer: (bytes: Buffer, socket: Socket, connection: number) => void,
): Promise<ScriptedBroker> {
  const sockets = new Set<Socket>();
  let connections = 0;
  const server = createServer((socket) => {
    connections += 1;
    const mine = connections;
    sockets.add(socket);
    socket.on('data', (bytes) => answer(bytes, socket, mine));
    socket.on('error', () => {});
    socket.on('close', () => sockets.delete(socket));
  });
  const port = await listenOnLoopback(server);
  const cutAll = (): void => {
    for (const socket of sockets) socket.destroy();
  };
  return {
    url: `mqtt://127.0.0.1:${port}`,
    connections: () => connections,
    open: () => sockets.size,
    cutAll,
    close: () => {
      cutAll();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
