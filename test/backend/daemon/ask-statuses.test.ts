/** Brokers that send no retained messages to a filter with a wildcard: console and metrics ask the devices. */
import { afterEach, describe, expect, it } from 'vitest';
import { askStatuses } from '../../../src/backend/daemon/ask-statuses.ts';
import { type Broker, startBroker } from '../../../src/cli/demo/broker.ts';
import type { Bus, BusListener, BusOptions, PublishOptions } from '../../../src/ports/bus.ts';
import { backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import { deviceTopics } from '../../../src/protocol/mqtt/topics.ts';
import { until } from '../../until.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { fixtureOfEachTest } from '../backend-on-loopback.ts';
import { createJumpingClock } from '../watch/jumping-clock.ts';

const PREFIX = 'dragoman/v1';
const config = (more: object) =>
  backendConfigSchema.parse({
    mqtt: { url: 'mqtts://b' },
    service: { url: 'https://s.example', streamUrl: 'wss://s.example' },
    ...more,
  });

function open(more: object, knownDevices: (most: number) => Promise<string[]> = async () => []) {
  const clock = createVirtualClock();
  const sent: { topic: string; body: Record<string, unknown>; options: PublishOptions | undefined }[] = [];
  const logged: object[] = [];
  const state = { connected: true, closed: 0 };
  let options: BusOptions | null = null;
  let listener: BusListener | null = null;
  const bus: Bus = {
    get connected() {
      return state.connected;
    },
    outbox: { depth: 0, dropped: 0 },
    urgent() {},
    reconnect() {},
    publish: (topic, payload, how) => void sent.push({ topic, body: JSON.parse(payload), options: how }),
    async close() {
      state.closed += 1;
    },
  };
  let ids = 0;
  const note = (): void => {};
  const asking = askStatuses({
    openBus: (given, heard) => {
      options = given;
      listener = heard;
      return bus;
    },
    config: config(more),
    knownDevices,
    clock,
    log: {
      trace: note,
      debug: note,
      info: (fields: object) => void logged.push(fields),
      warn: note,
      error: note,
    },
    randomId: () => `id-${++ids}`,
  });
  const status = (retain: boolean) =>
    listener?.message({ topic: `${PREFIX}/museum/k/status`, payload: '{}', retain, properties: {} });
  return { asking, clock, sent, logged, state, status, options: () => options, listener: () => listener };
}

describe('the backend at a broker without retained messages', () => {
  it('asks each tenant once, spread over 30 s, when no status has come in 5 s', async () => {
    const backend = open(
      {
        allow: ['museum/*', 'museum/kiosk-01', '*/loan-*'],
        groups: [{ name: 'lobby', members: ['clinic/desk-*'] }],
        devices: { 'hotel/bar': {} },
      },
      async () => ['theatre/foyer', 'museum/kiosk-02'],
    );
    expect(backend.options()?.subscriptions).toEqual([
      { filter: `${PREFIX}/+/+/status`, qos: 1, mayBeRefused: true },
    ]);
    backend.listener()?.up(1, 5);
    // What a device publishes now says nothing about the others.
    backend.status(false);
    await backend.clock.elapse(4999);
    expect(backend.sent).toEqual([]);
    await backend.clock.elapse(1);
    expect(backend.sent.map(({ topic }) => topic)).toEqual(
      ['clinic', 'hotel', 'museum', 'theatre'].map((tenant) => `${PREFIX}/${tenant}/all/cmd/status`),
    );
    expect(new Set(backend.sent.map(({ body }) => body['id'])).size).toBe(4);
    for (const { body, options } of backend.sent) {
      expect(body['args']).toEqual({ spread_s: 30 });
      expect(options).toEqual({ qos: 0 });
    }
    expect(backend.logged).toEqual([{ tenants: ['clinic', 'hotel', 'museum', 'theatre'] }]);
    await backend.clock.elapse(3_600_000);
    expect(backend.sent).toHaveLength(4);
  });

  it('does not ask when a retained status comes, and asks again when the next connection brings none', async () => {
    const backend = open({ allow: ['museum/*'] });
    backend.listener()?.up(1, 5);
    backend.status(true);
    await backend.clock.elapse(60_000);
    expect(backend.sent).toEqual([]);
    backend.listener()?.down('unreachable', 'gone');
    backend.listener()?.up(2, 5);
    await backend.clock.elapse(5000);
    expect(backend.sent).toHaveLength(1);
  });

  it('asks the tenants of the configuration when the store cannot be read', async () => {
    const backend = open({ allow: ['museum/*'] }, () => Promise.reject(new Error('down')));
    backend.listener()?.up(1, 5);
    await backend.clock.elapse(5000);
    expect(backend.sent).toHaveLength(1);
  });

  it('asks nobody when the connection is lost while the store is read', async () => {
    let answer: (devices: string[]) => void = () => {};
    const backend = open({ allow: ['museum/*'] }, () => new Promise((resolve) => (answer = resolve)));
    backend.listener()?.up(1, 5);
    await backend.clock.elapse(5000);
    backend.state.connected = false;
    answer([]);
    await backend.clock.elapse(1);
    expect(backend.sent).toEqual([]);
  });

  it('leaves no timer when it is closed before it asks', async () => {
    const backend = open({ allow: ['museum/*'] });
    backend.listener()?.up(1, 5);
    await backend.asking.close();
    expect([backend.clock.armed, backend.state.closed]).toEqual([0, 1]);
  });
});

describe('a whole backend', () => {
  const { start } = fixtureOfEachTest();
  let broker: Broker | null = null;
  afterEach(async () => {
    await broker?.close();
    broker = null;
  });
  const topics = deviceTopics({ prefix: PREFIX, tenant: 'museum', device: 'kiosk-01' });
  const status = JSON.stringify({
    ts: null,
    status: 'ready',
    boot_id: 'b',
    conn_seq: 1,
    version: '1',
    reasons: [],
  });

  it.each([
    [true, 0],
    [false, 1],
  ])('knows each device in its metrics (retained messages for wildcards: %s)', async (isUsual, asked) => {
    broker = await startBroker({ sendsRetainedToWildcards: isUsual });
    const clock = createJumpingClock();
    const { createTestBuses } = await import('../../adapters/mqtt/test-buses.ts');
    const buses = createTestBuses();
    const device = buses.open(
      { url: broker.url, clientId: 'museum.kiosk-01' },
      { subscriptions: [topics.fleetCommands] },
      1,
      () => device.bus.publish(topics.status, status, { retain: true }),
    );
    device.bus.publish(topics.status, status, { retain: true });
    await until(() => device.bus.outbox.depth === 0 && device.ups.length === 1, 'the first status');
    const fixture = await start({
      brokerUrl: broker.url,
      clock,
      config: { metrics: { listen: '127.0.0.1:0' } },
    });
    const ready = 'dragoman_devices{status="ready"} 1';
    const metrics = async () => (await fetch(`${fixture.backend.watchedAt}/metrics`)).text();
    await until(() => fixture.lines.join('').includes('following the status'), 'the subscription');
    if (isUsual) await expect.poll(metrics).toContain(ready);
    else expect(await metrics()).not.toContain(ready);
    clock.jump(5000);
    await expect.poll(metrics).toContain(ready);
    expect(device.messages.map(({ topic }) => topic)).toEqual(
      Array(asked).fill(`${PREFIX}/museum/all/cmd/status`),
    );
    await buses.closeAll();
  });

  it('opens no connection for the fleet when nothing follows it', async () => {
    const fixture = await start();
    expect(fixture.backend.watchedAt).toBe(null);
    await until(() => fixture.backend.connected, 'the broker');
    expect(fixture.lines.join('')).not.toContain('has sent no retained status');
  });
});
