/** A change of a configuration while a connection of the backend to the broker is frozen: nothing is lost, and nothing comes late. */
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Broker, startBroker } from '../../../src/cli/demo/broker.ts';
import { consoleOfEachTest, PREFIX } from './console-on-loopback.ts';

const { start } = consoleOfEachTest();
const A = 'museum/a';
let broker: Broker;
let gate: Server;
let isFrozen = false;
const sockets = new Set<Socket>();

/** Passes connections on to the broker; while it is frozen, nothing of those of the console's listener. */
beforeEach(async () => {
  isFrozen = false;
  broker = await startBroker();
  const { hostname, port } = new URL(broker.url);
  gate = createServer((socket) => {
    const onward = connect(Number(port), hostname);
    let isListener = false;
    const pass = (from: Socket, to: Socket): void => {
      sockets.add(from);
      from.on('error', () => {});
      from.on('close', () => to.destroy());
      from.on('data', (bytes) => {
        isListener ||= from === socket && bytes.includes('-fleet');
        if (!(isFrozen && isListener)) to.write(bytes);
      });
    };
    pass(socket, onward);
    pass(onward, socket);
  });
  await new Promise<void>((resolve) => gate.listen(0, '127.0.0.1', resolve));
});
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  await new Promise((resolve) => gate.close(resolve));
  await broker.close();
});

it('is published at once when the connection that hears the fleet is frozen', async () => {
  const { port } = gate.address() as AddressInfo;
  const fixture = await start({ broker: { url: `mqtt://127.0.0.1:${port}`, close: async () => {} } }, [
    'ann',
  ]);
  fixture.status(A);
  await expect.poll(async () => (await fixture.ask('ann', 'GET', '/api/devices')).json.total).toBe(1);
  isFrozen = true;
  const document = { lanes: [{ id: 'main', volume: 70 }] };
  const change = fixture.ask('ann', 'POST', '/api/config', { target: { device: A }, basedOn: 0, document });
  expect((await change).json).toMatchObject({ version: 1 });
  await expect
    .poll(() => fixture.device.messages.map(({ topic }) => topic))
    .toContain(`${PREFIX}/${A}/config/desired`);
});
