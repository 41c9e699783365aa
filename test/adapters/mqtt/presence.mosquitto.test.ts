/** Absence and identity at a real broker: whole agents, and clients without any code of this project. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import type { Agent } from '../../../src/device/agent.ts';
import { createFakeDeps, testConfig } from '../../device/fake-deps.ts';
import { createMemoryFile } from '../../device/memory-file.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { type Relay, startRelay } from './loopback-servers.ts';
import { findMosquitto, type Mosquitto, startMosquitto } from './mosquitto.ts';

const command = findMosquitto();
const RUN_AS_ROOT = process.getuid?.() === 0 ? ['user root'] : [];
const BASE = 'dragoman/v1/museum/kiosk-01';
const HOUR_MS = 3_600_000;
/** Limits for steps in which a broker has much to do. */
const SLOW = { timeout: 120_000, interval: 100 };

interface Report {
  readonly topic: string;
  readonly body: Record<string, unknown>;
}

if (command === null) {
  it('presence at mosquitto', needs('needs mosquitto'), () => {});
} else {
  describe('an agent at mosquitto', () => {
    let broker: Mosquitto;
    let relay: Relay;
    let operator: MqttClient;
    const reported: Report[] = [];
    const agents: (() => Promise<void>)[] = [];
    let starts = 0;
    let markers = 0;

    beforeEach(async () => {
      reported.length = 0;
      broker = await startMosquitto(command, (folder) => [
        ...RUN_AS_ROOT,
        'allow_anonymous true',
        'persistence true',
        `persistence_location ${folder}/`,
      ]);
      relay = await startRelay(broker.port);
      operator = await connectAsync(broker.url, { protocolVersion: 5 });
      operator.on('message', (topic, payload) => {
        if (payload.length > 0) reported.push({ topic, body: JSON.parse(payload.toString()) });
      });
      await operator.subscribeAsync('dragoman/v1/#', { qos: 1 });
    });
    afterEach(async () => {
      await Promise.all(agents.splice(0).map((end) => end()));
      await operator.endAsync(true);
      await relay.close();
      await broker.close();
    });

    /** An agent whose connection is real, in real time; everything else is simulated. */
    const boot = async (
      options: { port?: number; clientId?: string; disk?: ReturnType<typeof createMemoryFile> } = {},
    ): Promise<{ agent: Agent; world: ReturnType<typeof createFakeDeps>; end: () => Promise<void> }> => {
      starts += 1;
      const boot = `boot-${starts}`;
      const { port = relay.port, clientId = 'museum.kiosk-01', disk } = options;
      const url = `mqtt://127.0.0.1:${port}`;
      const world = createFakeDeps(testConfig({ start: 'command' }), {
        openBus: createMqttBus({ url, clientId }, { clock: createSystemClock(), seed: starts * 7919 }),
        randomHash: () => `${boot}-padding`,
        ...(disk !== undefined && { commandFile: disk.file }),
      });
      await world.agent.start();
      await until(() => statuses(boot).length > 0, 'the first status');
      const end = async (): Promise<void> => {
        const stopped = world.agent.stop();
        await world.clock.elapse(10_000);
        await stopped;
      };
      agents.push(end);
      return { agent: world.agent, world, end };
    };
    const statuses = (boot: string) =>
      reported.filter(
        ({ topic, body }) => topic === `${BASE}/status` && String(body['boot_id']).startsWith(boot),
      );
    const retained = async (): Promise<Record<string, unknown>> => {
      const late = await connectAsync(broker.url, { protocolVersion: 5 });
      const found = new Promise<Record<string, unknown>>((resolve) => {
        late.on('message', (_, payload) => resolve(JSON.parse(payload.toString())));
      });
      await late.subscribeAsync(`${BASE}/status`);
      const status = await found;
      await late.endAsync(true);
      return status;
    };
    const send = (to: string, name: string, body: object, more: { qos?: 0 | 1 } & object = {}) =>
      operator.publishAsync(`dragoman/v1/museum/${to}/cmd/${name}`, JSON.stringify(body), {
        qos: 1,
        ...more,
      });
    const finals = (id: string) =>
      reported
        .filter(
          ({ topic, body }) => topic.endsWith('/res') && body['id'] === id && body['status'] !== 'accepted',
        )
        .map(({ body }) => body);
    const inMs = (ms: number): string => new Date(Date.parse('2026-01-15T09:00:00Z') + ms).toISOString();

    it('answers each command of a short absence once, executed or expired, and the broker stores no token', async () => {
      const { world } = await boot();
      relay.refuse(true);
      relay.cut();
      await send('kiosk-01', 'volume', { id: 'plain', args: { percent: 31 } });
      await send('kiosk-01', 'mute', { id: 'fresh', not_after: inMs(HOUR_MS) });
      await send('kiosk-01', 'unmute', { id: 'stale', not_after: inMs(-HOUR_MS) });
      await send('all', 'volume', { id: 'fleet', args: { percent: 32 } });
      await send('all', 'unmute', { id: 'stale-fleet', not_after: inMs(-HOUR_MS) });
      for (const qos of [0, 1] as const)
        await operator.publishAsync(`${BASE}/token/res`, '{"id":"x","token":"SECRET-TOKEN"}', { qos });
      broker.save();
      const store = join(broker.folder, 'mosquitto.db');
      await until(
        () => safely(() => readFileSync(store)).includes('stale-fleet'),
        'the commands in the store',
      );
      expect(readFileSync(store).includes('SECRET-TOKEN')).toBe(false);
      relay.refuse(false);
      const ids = ['plain', 'fresh', 'stale', 'fleet', 'stale-fleet'];
      await until(() => ids.every((id) => finals(id).length > 0), 'every answer');
      expect(ids.map((id) => finals(id).map(({ status }) => status))).toEqual([
        ['ok'],
        ['ok'],
        ['expired'],
        ['ok'],
        ['expired'],
      ]);
      expect(world.agent.lanes[0]?.state.options).toMatchObject({ muted: true, volume: 32 });
    });

    it('gives one final answer to each id when the connection breaks repeatedly before the answer', async () => {
      const { world } = await boot({ disk: createMemoryFile() });
      const ids = Array.from({ length: 12 }, (_, index) => `c${index}`);
      for (const id of ids) {
        await send('kiosk-01', 'volume', { id, args: { percent: 20 } });
        relay.cut();
        await world.clock.elapse(1000);
      }
      const isAnswered = (id: string): boolean => finals(id).length > 0;
      await expect.poll(() => world.clock.elapse(1000).then(() => ids.filter(isAnswered)), SLOW).toEqual(ids);
      // QoS 1: a message that the broker could not acknowledge is sent a second time, with the same bytes.
      const different = (id: string) => [...new Set(finals(id).map((body) => JSON.stringify(body)))];
      expect(ids.map((id) => [different(id).length, finals(id)[0]?.['status']])).toEqual(
        ids.map(() => [1, 'ok']),
      );
    });

    it('corrects its status when the will of an older connection arrives late', async () => {
      const { world } = await boot();
      const [own] = statuses(`boot-${starts}`);
      for (const boot_id of [String(own?.body['boot_id']), 'an-older-one']) {
        const before = statuses(`boot-${starts}`).length;
        const will = { ...own?.body, status: 'lost', boot_id, conn_seq: 0, reasons: ['connection_lost'] };
        const late = await connectAsync(broker.url, {
          protocolVersion: 5,
          clientId: 'an old connection',
          will: { topic: `${BASE}/status`, payload: Buffer.from(JSON.stringify(will)), qos: 1, retain: true },
        });
        late.stream.destroy();
        await until(() => statuses(`boot-${starts}`).length > before, 'the status again');
        await until(() => reported.at(-1)?.body['status'] !== 'lost', 'the last word');
        expect(await retained()).toMatchObject({
          boot_id: own?.body['boot_id'],
          status: 'idle',
          conn_seq: 1,
        });
        await late.endAsync(true);
        // The next one is corrected after two seconds of the agent's clock at the earliest.
        await world.clock.elapse(2000);
      }
      expect(reported.filter(({ topic }) => topic.endsWith('/identity_conflict'))).toEqual([]);
    });

    it('reports another agent with its identity, and both then stay quiet', async () => {
      const one = await boot();
      const two = await boot();
      const conflicts = () => reported.filter(({ topic }) => topic === `${BASE}/event/identity_conflict`);
      await until(() => conflicts().length === 2, 'both events');
      const names = [starts - 1, starts].map((start) => `boot-${start}-padding`.slice(0, 12));
      const says = (name: string): boolean =>
        statuses(name).some(({ body }) => String(body['reasons']).includes('identity_conflict'));
      await until(() => names.every(says), 'both statuses');
      // Each reports the other.
      expect(
        conflicts()
          .map(({ body }) => String(body['other_boot_id']))
          .toSorted(),
      ).toEqual(names);
      /** Waits until everything on its way through the broker has arrived. */
      const count = async (): Promise<number> => {
        markers += 1;
        await operator.publishAsync('dragoman/v1/marker', JSON.stringify({ number: markers }), { qos: 1 });
        await until(() => reported.some(({ body }) => body['number'] === markers), 'the marker');
        return names.reduce((sum, name) => sum + statuses(name).length, 0);
      };
      /** How many statuses come while this many markers pass the broker. An endless exchange has some among a few. */
      const more = async (passes: number): Promise<number> => {
        const before = await count();
        for (let pass = 1; pass < passes; pass += 1) await count();
        return (await count()) - before;
      };
      // Their messages to each other stop.
      await expect.poll(() => more(20), SLOW).toBe(0);
      expect(await more(100)).toBe(0);
      for (const { world } of [one, two])
        expect(world.logged.filter(([, sentence]) => sentence === SENTENCE)).toHaveLength(1);
    });
  });
}

const SENTENCE = 'another device uses this identity';

function safely(read: () => Buffer): Buffer {
  try {
    return read();
  } catch {
    return Buffer.of();
  }
}
