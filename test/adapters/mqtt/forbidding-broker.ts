/** A whole agent at an MQTT 3.1.1 broker that disconnects a device for a forbidden topic. */
import { createServer, type Server } from 'node:net';
import { Aedes } from 'aedes';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { phaseOf } from '../../../src/core/lane/session/session-state.ts';
import { BASE, createFakeDeps, type FakeDeps, testConfig } from '../../agent/fake-deps.ts';
import { ready } from '../../service-events.ts';

type Body = Record<string, unknown>;

/** A forbidden topic, the first refused topic, and the reported reason. */
type Forbidden = readonly [name: string, forbidden: RegExp, refused: string, reason: string | null];

/** Sets up the hooks of the calling tests, and returns what they need. */
export function hangUp() {
  let broker: Aedes;
  let server: Server;
  let isForbidden: (topic: string) => boolean;
  let world: FakeDeps;
  /** Messages that the broker accepted, by topic below the device's. */
  let taken: { topic: string; body: Body }[];
  let connections: number;

  beforeEach(async () => {
    taken = [];
    connections = 0;
    broker = await Aedes.createBroker({
      authorizePublish: (client, { topic }, done) =>
        done(client !== null && isForbidden(topic.slice(BASE.length + 1)) ? new Error('no') : null),
    });
    broker.on('clientError', () => {});
    broker.on('connectionError', () => {});
    broker.on('clientReady', () => {
      connections += 1;
    });
    broker.on('publish', ({ topic, payload }, client) => {
      if (client === null || !topic.startsWith(BASE)) return;
      const body = JSON.parse(payload.toString()) as Body;
      taken.push({ topic: topic.slice(BASE.length + 1), body });
      if (topic.endsWith('/token/req')) send('token/res', grantOf(String(body['id'])), 0);
    });
    server = createServer((socket) => broker.handle(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    const stopped = world.agent.stop();
    await passUntil(() => false, 12);
    await stopped;
    await new Promise<void>((resolve) => broker.close(resolve));
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  const send = (topic: string, body: object, qos: 0 | 1 = 1): void => {
    const payload = JSON.stringify(body);
    broker.publish(
      { cmd: 'publish', topic: `${BASE}/${topic}`, payload, qos, dup: false, retain: false },
      () => {},
    );
  };
  const grantOf = (id: string): object => ({
    ...{ id, ok: true, session: world.session() },
    stream_url: 'wss://service.example/streaming-api/{random_hash}/v1',
  });
  /** Advances in steps in which both ends of a connection, which share this process, handle everything. */
  const passUntil = async (check: () => boolean, atMostS: number): Promise<number | null> => {
    for (let passedMs = 0; passedMs < atMostS * 1000; passedMs += 500) {
      if (check()) return passedMs / 1000;
      await world.clock.elapse(500);
      // The service answers pings.
      world.streams.at(-1)?.listener.pong();
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return check() ? atMostS : null;
  };
  const boot = async (forbidden: RegExp): Promise<void> => {
    isForbidden = (topic) => forbidden.test(topic);
    const { port } = server.address() as { port: number };
    world = createFakeDeps(testConfig({ standbyAfter: 0 }), {
      openBus: (options, listener) =>
        createMqttBus(
          { url: `mqtt://127.0.0.1:${port}`, clientId: 'museum.kiosk-01' },
          { clock: world.clock, seed: 4711 },
        )(options, listener),
    });
    await world.agent.start();
  };
  /** Waits until the session is up. */
  const goLive = async (): Promise<number | null> => {
    const tookS = await passUntil(() => world.streams.length > 0, 60);
    if (tookS === null) return null;
    world.lastStream().listener.opened();
    await passUntil(() => false, 3);
    world.service(ready());
    return tookS;
  };
  const of = (topic: string): Body[] => taken.filter((one) => one.topic === topic).map(({ body }) => body);
  const givenUp = (): string[] =>
    world.logged
      .filter(([, sentence]) => sentence === 'a message to the owner was dropped')
      .map(
        ([, , fields]) =>
          `${(fields as Body)['why']} ${String((fields as Body)['topic']).slice(BASE.length + 1)}`,
      );
  const expectNoOther = (): void => {
    expect(JSON.stringify(world.logged)).not.toMatch(/another (device|client)|taken_over/);
    expect(of('event/identity_conflict')).toEqual([]);
    expect(of('status').flatMap(({ reasons }) => reasons)).not.toContain('identity_conflict');
  };

  const goesOnWithout = (topics: readonly Forbidden[]): void =>
    it.each(topics)('works without the topic, and logs it: %s', async (_, forbidden, refused, reason) => {
      await boot(forbidden);
      expect(await goLive()).toBeLessThan(20);
      await passUntil(() => givenUp().includes(`refused ${refused}`), 200);
      expect(givenUp()).toContain(`refused ${refused}`);
      await passUntil(() => false, 200);
      // Each topic costs two connections, and each message sent together with it one more.
      expect(connections).toBeLessThanOrEqual(2 + 2 * new Set(givenUp()).size);
      expect(world.agent.lanes.map(({ state }) => phaseOf(state.session))).toEqual(['live']);
      if (reason !== null) expect(of('status').at(-1)?.['reasons']).toContain(`not_published:${reason}`);
      expectNoOther();
    });

  return {
    ...{ boot, goLive, passUntil, send, of, givenUp, expectNoOther, goesOnWithout },
    world: (): FakeDeps => world,
    port: (): number => (server.address() as { port: number }).port,
    forbidNothing: (): void => {
      isForbidden = () => false;
    },
  };
}
