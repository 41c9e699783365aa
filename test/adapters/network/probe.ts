/**
 * Runs in a network of its own (far-network.sh): serves a broker, a stream and HTTP, connects to them by name as our programs
 * do, and prints the time that each took (milliseconds), or why it failed.
 */
import { readFileSync } from 'node:fs';
import { createServer as createHttps } from 'node:https';
import { createServer, type Socket } from 'node:net';
import { createServer as createTls } from 'node:tls';
import { WebSocketServer } from 'ws';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { createHttp } from '../../../src/adapters/network/http-client.ts';
import { askServerTime } from '../../../src/adapters/network-time.ts';
import { createWebSocketStreams } from '../../../src/adapters/stream/websocket-stream.ts';
import { reach, serverOf } from '../../../src/device/doctor/network/reach.ts';
import type { StreamListener } from '../../../src/ports/stream.ts';
import { runMain } from '../../../src/program/run-main.ts';
import type { ProbeOptions } from './far-network.ts';
import { startNameServer } from './name-server.ts';

const clock = createSystemClock();
/** A broker of MQTT 5 accepts the client. */
const CONNACK = Buffer.from([0x20, 3, 0, 0, 0]);
const LIMIT_MS = 20_000;

/** Starts the servers; resolves with their authority. The certificate is in the working directory. */
async function serve(): Promise<Buffer> {
  const tls = { key: readFileSync('key.pem'), cert: readFileSync('cert.pem') };
  const accept = (socket: Socket) => socket.once('data', () => socket.write(CONNACK)).on('error', () => {});
  createServer(accept).listen(1883, '::');
  createTls(tls, accept).listen(8883, '::');
  const web = createHttps(tls, (_, response) => void response.end('here'));
  const sockets = new WebSocketServer({ server: web });
  sockets.on('connection', (socket) => socket.once('message', () => socket.send(CONNACK)));
  await new Promise<void>((resolve) => web.listen(443, '::', resolve));
  return tls.cert;
}

const connectBus = (url: string, ca: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    createMqttBus({ url, clientId: url, ca }, { clock, seed: 1 })(
      { subscriptions: [], will: null },
      { up: () => resolve(), down: (_, message) => reject(new Error(message)), message: () => {} },
    );
  });

const openStream = (url: string, ca: Buffer): Promise<void> =>
  new Promise((resolve, reject) => {
    const listener = new Proxy({} as StreamListener, {
      get: (_, event) =>
        event === 'opened' ? resolve : (...facts: unknown[]) => reject(new Error(JSON.stringify(facts))),
    });
    createWebSocketStreams({ clock, ca })({ address: url, token: '' }, listener);
  });

async function measure(attempt: () => Promise<unknown>): Promise<number | string> {
  const began = clock.now();
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no end')), LIMIT_MS);
  });
  try {
    await Promise.race([attempt(), late]);
    return Math.round(clock.now() - began);
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  } finally {
    clearTimeout(timer);
  }
}

await runMain({
  name: 'probe',
  async run([text = '{}'], { print }) {
    const { name, addresses, lookupMs } = JSON.parse(text) as ProbeOptions;
    const asked = new Set<string>();
    await startNameServer(addresses, lookupMs, (one) => asked.add(one));
    const ca = await serve();
    const http = createHttp(ca);
    const attempts: Record<string, () => Promise<unknown>> = {
      mqtt: () => connectBus(`mqtt://${name}`, ca),
      mqtts: () => connectBus(`mqtts://${name}`, ca),
      wss: () => connectBus(`wss://${name}/mqtt`, ca),
      stream: () => openStream(`wss://${name}/stream`, ca),
      http: () => http.request({ method: 'GET', url: `https://${name}/`, timeoutMs: LIMIT_MS }),
      clock: async () => {
        if ((await askServerTime(`https://${name}/`)) === null) throw new Error('no time');
      },
    };
    const took = Object.fromEntries(
      await Promise.all(
        Object.entries(attempts).map(async ([kind, attempt]) => [kind, await measure(attempt)] as const),
      ),
    );
    const facts = await reach(serverOf(`mqtts://${name}`, { ca }), 5000, clock);
    http.close();
    print(`${JSON.stringify({ took, facts, asked: [...asked] })}\n`);
    return 0;
  },
  isClosed: () => true,
});
