/** Two whole agents with one identity at an MQTT 3.1.1 broker, in virtual time. */

import { createServer, type Server } from 'node:net';
import { Aedes } from 'aedes';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { createFakeDeps, type FakeDeps, testConfig } from '../../device/fake-deps.ts';

const SENTENCE = 'another device uses this identity';

describe('two agents with one identity at a broker without MQTT 5', () => {
  let broker: Aedes;
  let server: Server;
  let connections: number;
  let worlds: FakeDeps[];
  /** Events of a conflict, by topic. */
  let conflicts: unknown[];

  beforeEach(async () => {
    connections = 0;
    worlds = [];
    conflicts = [];
    broker = await Aedes.createBroker();
    broker.on('clientError', () => {});
    broker.on('connectionError', () => {});
    broker.on('clientReady', () => {
      connections += 1;
    });
    broker.on('publish', ({ topic, payload }) => {
      if (topic.endsWith('/event/identity_conflict')) conflicts.push(JSON.parse(payload.toString()));
    });
    server = createServer((socket) => broker.handle(socket));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  afterEach(async () => {
    const stopped = Promise.all(worlds.map(({ agent }) => agent.stop()));
    await passUntil(() => false, 12);
    await stopped;
    await new Promise<void>((resolve) => broker.close(resolve));
    await new Promise<void>((resolve) => server.close(() => resolve()));
  });

  /** Advances in steps in which both ends of a connection, which share this process, handle everything. */
  const passUntil = async (check: () => boolean, atMostS: number): Promise<boolean> => {
    for (let passedMs = 0; passedMs < atMostS * 1000 && !check(); passedMs += 500) {
      for (const { clock } of worlds) await clock.elapse(500);
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await new Promise((resolve) => setTimeout(resolve, 2));
    }
    return check();
  };
  const boot = async (name: string): Promise<FakeDeps> => {
    const { port } = server.address() as { port: number };
    const world: FakeDeps = createFakeDeps(testConfig({ start: 'command' }), {
      openBus: (options, listener) =>
        createMqttBus(
          { url: `mqtt://127.0.0.1:${port}`, clientId: 'museum.kiosk-01' },
          { clock: world.clock, seed: name.charCodeAt(0) },
        )(options, listener),
      randomHash: () => `${name}-of-the-agent`,
    });
    worlds.push(world);
    await world.agent.start();
    return world;
  };

  it('both report the other by its boot_id, and then connect rarely', async () => {
    const one = await boot('first');
    expect(await passUntil(() => connections === 1, 10)).toBe(true);
    const two = await boot('second');
    const isReported = ({ logged }: FakeDeps): boolean =>
      logged.some(([, sentence]) => sentence === SENTENCE);
    expect(await passUntil(() => isReported(one) && isReported(two), 120)).toBe(true);
    expect(connections).toBeLessThan(30);
    expect(await passUntil(() => conflicts.length === 2, 600)).toBe(true);
    expect(JSON.stringify(conflicts)).toMatch(/first-of-the.*second-of-th|second-of-th.*first-of-the/);
    const before = connections;
    await passUntil(() => false, 1200);
    // Each waits one to five minutes.
    expect(connections - before).toBeLessThanOrEqual(40);
    expect(connections - before).toBeGreaterThanOrEqual(4);
    for (const { logged } of worlds)
      expect(logged.filter(([, sentence]) => sentence === SENTENCE)).toHaveLength(1);
  });
});
