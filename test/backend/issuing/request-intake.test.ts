/** Tests that a backend receives requests, at brokers of different kinds. */
import { createServer, type Socket } from 'node:net';
import { Aedes, type AedesOptions } from 'aedes';
import { connectAsync } from 'mqtt';
import { afterEach, describe, expect, it } from 'vitest';
import { backendSelfTest } from '../../../src/protocol/mqtt/topics.ts';
import { until } from '../../until.ts';
import { type Fixture, PREFIX, sessionOf, startFixture } from '../backend-on-loopback.ts';
import { createJumpingClock } from '../watch/jumping-clock.ts';

const { request: testTopic, response: testAnswer } = backendSelfTest(PREFIX);

/**
 * An unchanged Aedes broker: MQTT 3.1.1, and `$share/...` is a topic name.
 * @param tested called for each test request that the broker has passed on, with whether the backend's subscription is shared
 */
async function startPlainBroker(tested: (isShared: boolean) => void, options: AedesOptions = {}) {
  const aedes = await Aedes.createBroker(options);
  let isShared = false;
  aedes.on('subscribe', (subscriptions) => {
    for (const { topic } of subscriptions)
      if (topic.endsWith('/token/req')) isShared = topic.startsWith('$share/');
  });
  aedes.on('publish', ({ payload }, client) => {
    if (client !== null && payload.includes('"probe":true')) tested(isShared);
  });
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    aedes.handle(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as { port: number };
  return {
    url: `mqtt://127.0.0.1:${port}`,
    async close() {
      await new Promise<void>((resolve) => aedes.close(resolve));
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

let broker: Awaited<ReturnType<typeof startPlainBroker>> | null = null;
let fixture: Fixture | null = null;
afterEach(async () => {
  await fixture?.close();
  await broker?.close();
  fixture = null;
  broker = null;
});

/** Longer than the backend waits for a test request to come back (ms). */
const IN_VAIN_MS = 5000;
/** Test requests on one subscription. */
const TRIES = 3;
/** Time for a client to reconnect, with jitter, on the slowest machine (ms). */
const PATIENT_MS = 50_000;

const said = (words: string): boolean => fixture?.lines.some((line) => line.includes(words)) === true;

describe('a backend', () => {
  it('receives requests when the broker takes a shared subscription for a topic, and logs a warning', async () => {
    const clock = createJumpingClock();
    let testsInVain = 0;
    broker = await startPlainBroker((isShared) => {
      if (!isShared) return;
      testsInVain += 1;
      clock.jump(IN_VAIN_MS);
    });
    fixture = await startFixture({ brokerUrl: broker.url, clock });
    await fixture.backend.ready;
    expect(testsInVain).toBe(TRIES);
    expect(said('has no shared subscriptions')).toBe(true);
    sessionOf(await fixture.ask('kiosk', 'r1'));
    // Reports come over a plain subscription, too.
    await until(() => said('receiving reports of devices'), 'the connection for reports');
    fixture.bus.publish(`${PREFIX}/museum/kiosk/event/session_ended`, 'not JSON');
    await until(() => said('counted and not written'), 'the report');
    expect(fixture.answersTo('kiosk')).toHaveLength(1);
  });

  it('keeps the shared subscription when its test request is blocked, and logs a warning', async () => {
    const clock = createJumpingClock();
    broker = await startPlainBroker(() => clock.jump(IN_VAIN_MS), {
      authorizeSubscribe(_client, subscription, callback) {
        subscription.topic = subscription.topic.replace(/^\$share\/[^/]+\//, '');
        callback(null, subscription);
      },
      authorizePublish(_client, packet, callback) {
        if (packet.topic === testTopic) packet.topic = 'nowhere';
        callback(null);
      },
    });
    fixture = await startFixture({ brokerUrl: broker.url, clock });
    await fixture.backend.ready;
    expect(said('cannot verify that requests arrive')).toBe(true);
    expect(fixture.lines.at(-1)).toContain('"shared":true');
    sessionOf(await fixture.ask('kiosk', 'r1'));
  });

  it('verifies a working shared subscription at once, and does not answer a flood of test requests', async () => {
    fixture = await startFixture();
    await fixture.backend.ready;
    expect(said('trying without sharing')).toBe(false);
    for (let index = 0; index < 200; index += 1) fixture.bus.publish(testTopic, `{"id":"x${index}"}`);
    fixture.bus.publish(testTopic, 'not JSON');
    await fixture.settle();
    const { witness } = fixture;
    expect(witness.messages.filter(({ topic }) => topic === testAnswer).length).toBeLessThanOrEqual(25);
    sessionOf(await fixture.ask('kiosk', 'r1'));
  });

  it('continues after requests that are too large, and logs them once a minute', async () => {
    fixture = await startFixture();
    await fixture.backend.ready;
    const sender = await connectAsync(fixture.broker?.url ?? '');
    for (let index = 0; index < 30; index += 1) {
      await sender.publishAsync(`${PREFIX}/museum/kiosk/token/req`, 'x'.repeat(300_000), { qos: 1 });
    }
    await sender.endAsync();
    sessionOf(await fixture.ask('kiosk', 'r1'));
    expect(fixture.lines.filter((line) => line.includes('larger than any token request'))).toHaveLength(1);
  });

  it('sends a test request after each connection', async () => {
    fixture = await startFixture();
    const { backend, broker: own, witness, bus, lines } = fixture;
    await backend.ready;
    /** Number of passed tests in the backend's log. A witness client would reconnect too late to see them. */
    const heardItself = () => lines.filter((line) => line.includes('listening for token requests')).length;
    const before = heardItself();
    own?.kickAll();
    await until(() => heardItself() > before, 'another request of its own', PATIENT_MS);
    await until(
      () => witness.ups.length > 1 && witness.bus.connected && bus.connected,
      'both ends',
      PATIENT_MS,
    );
    sessionOf(await fixture.ask('kiosk', 'r1'));
  });
});
