import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectAsync } from 'mqtt';
import { afterEach, describe, expect, it } from 'vitest';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { describeBus } from './bus-contract.ts';
import {
  findMosquitto,
  findOpenssl,
  type Mosquitto,
  makeCertificates,
  type PemPair,
  startMosquitto,
} from './mosquitto.ts';
import { createTestBuses } from './test-buses.ts';

const command = findMosquitto();
const hasOpenssl = findOpenssl();
const RUN_AS_ROOT = process.getuid?.() === 0 ? ['user root'] : [];

if (command === null) {
  it('bus over mosquitto (MQTT 5)', needs('needs mosquitto'), () => {});
} else {
  const start = (lines: (folder: string) => readonly string[] = () => ['allow_anonymous true']) =>
    startMosquitto(command, (folder) => [...RUN_AS_ROOT, ...lines(folder)]);
  describeBus('mosquitto (MQTT 5)', 5, () => start());

  describe('mosquitto', () => {
    const buses = createTestBuses();
    let broker: Mosquitto;
    afterEach(async () => {
      await buses.closeAll();
      await broker.close();
    });

    it('carries response topic, correlation data and the remaining expiry', async () => {
      broker = await start();
      const backend = buses.open(
        { url: broker.url, clientId: 'backend' },
        { subscriptions: ['$share/g/p/+/req'] },
      );
      const device = buses.open({ url: broker.url });
      await until(() => backend.ups.length > 0 && device.ups.length > 0, 'both');
      const correlationData = Uint8Array.from([0, 255, 7, 128]);
      device.bus.publish('p/kiosk/req', '{}', {
        properties: { responseTopic: 'p/kiosk/res', correlationData, expiryS: 30 },
      });
      await until(() => backend.messages.length > 0, 'the request');
      const { properties } = backend.messages[0] ?? {};
      expect(properties?.responseTopic).toBe('p/kiosk/res');
      expect([...(properties?.correlationData ?? [])]).toEqual([0, 255, 7, 128]);
      expect(properties?.expiryS).toBeGreaterThan(0);
      expect(properties?.expiryS).toBeLessThanOrEqual(30);
    });

    it('gets what is retained, but for a filter without', async () => {
      broker = await start();
      const device = buses.open({ url: broker.url });
      for (const topic of ['p/kiosk/status', 'p/kiosk/event/old'])
        device.bus.publish(topic, '1', { retain: true });
      await until(() => device.ups.length > 0 && device.bus.outbox.depth === 0, 'both');
      const backend = buses.open(
        { url: broker.url, clientId: 'backend' },
        {
          subscriptions: [
            { filter: 'p/+/event/+', qos: 1, mayBeRefused: true, isWithoutRetained: true },
            { filter: 'p/+/status', qos: 1, mayBeRefused: true },
          ],
        },
      );
      await until(() => backend.ups.length > 0, 'the backend');
      device.bus.publish('p/kiosk/event/new', '1', { retain: true });
      await until(() => backend.messages.length === 2, 'both messages');
      expect(backend.messages.map(({ topic }) => topic)).toEqual(['p/kiosk/status', 'p/kiosk/event/new']);
    });

    it('reports that another client with its identifier took its session', async () => {
      broker = await start();
      const first = buses.open({ url: broker.url });
      await until(() => first.ups.length > 0, 'the first');
      const second = buses.open({ url: broker.url });
      await until(() => first.downs.length > 0 && second.ups.length > 0, 'the takeover');
      // Brokers differ: reason 0x8E, or a close without a reason (mosquitto 2.0.11).
      expect(['taken_over', 'unreachable']).toContain(first.downs[0]?.problem);
    });

    it('reconnects after a message in its session that is too large for memory', async () => {
      broker = await start();
      const device = buses.open({ url: broker.url }, { subscriptions: ['d/#'], keptForS: 600 });
      await until(() => device.ups.length > 0, 'up');
      const sender = await connectAsync(broker.url, { protocolVersion: 5 });
      try {
        await sender.publishAsync('d/huge', Buffer.alloc(5_000_000), { qos: 1 });
        await until(() => device.ups.length === 2, 'up again');
        await sender.publishAsync('d/small', 'hello', { qos: 1 });
        await until(() => device.messages.length > 0, 'the small message');
      } finally {
        await sender.endAsync();
      }
      expect(device.order).toEqual(['up 1', 'down unreachable', 'up 2', 'message d/small']);
    });

    it('reconnects without retained messages after one that is too large for memory', async () => {
      broker = await start();
      const sender = await connectAsync(broker.url, { protocolVersion: 5 });
      try {
        await sender.publishAsync('d/huge', Buffer.alloc(5_000_000), { qos: 1, retain: true });
        await sender.publishAsync('d/small', 'kept', { qos: 1, retain: true });
        const device = buses.open({ url: broker.url }, { subscriptions: ['d/#'], keptForS: 600 });
        await until(() => device.downs.length === 2 && device.bus.connected, 'up without it');
        await sender.publishAsync('d/small', 'hello', { qos: 1 });
        await until(() => device.messages.some(({ payload }) => payload === 'hello'), 'the small message');
        expect(device.downs).toHaveLength(2);
      } finally {
        await sender.endAsync();
      }
    });

    it('stays connected when the broker refuses a topic, and reports the topic', async () => {
      broker = await start((folder) => {
        writeFileSync(join(folder, 'acl'), 'topic readwrite allowed/#\n');
        return ['allow_anonymous true', `acl_file ${join(folder, 'acl')}`];
      });
      const device = buses.open({ url: broker.url }, { subscriptions: ['allowed/#'] });
      await until(() => device.ups.length > 0, 'up');
      for (let i = 0; i < 200; i += 1) device.bus.publish(`refused/${i % 7}`, 'x', { retain: i % 2 === 0 });
      device.bus.publish('allowed/a', 'x');
      await until(() => device.messages.length > 0, 'what is allowed');
      await until(() => device.bus.outbox.depth === 0, 'the end of the queue');
      expect(device.lost.length).toBeGreaterThan(90);
      expect(device.lost[0]).toEqual({ topic: 'refused/0', why: 'refused', reason: 'not authorized' });
      expect(device.bus.outbox.dropped).toBe(device.lost.length);
      expect(device.downs).toEqual([]);
    });

    it('retries slowly after a refused password, and never shows it', async () => {
      broker = await start((folder) => {
        execFileSync('mosquitto_passwd', ['-b', '-c', join(folder, 'passwords'), 'kiosk', 'right']);
        return ['allow_anonymous false', `password_file ${join(folder, 'passwords')}`];
      });
      const password = 'open-sesame-4711';
      const wrong = buses.open({ url: broker.url, username: 'kiosk', password: () => password });
      const good = buses.open({
        url: broker.url,
        clientId: 'good',
        username: 'kiosk',
        password: () => 'right',
      });
      await until(() => wrong.downs.length > 0 && good.ups.length > 0, 'both answers');
      expect(wrong.downs[0]?.problem).toBe('refused');
      expect(JSON.stringify(wrong.downs)).not.toContain(password);
      expect(good.ups[0]?.protocol).toBe(5);
    });

    it(
      hasOpenssl
        ? 'uses TLS: trusts its authority only, and presents its certificate'
        : 'TLS: openssl is not installed',
      needs(!hasOpenssl && 'needs openssl'),
      async () => {
        let made: Record<string, PemPair> = {};
        broker = await start((folder) => {
          const certificates = makeCertificates(folder);
          made = certificates;
          return [
            'allow_anonymous true',
            `cafile ${certificates.ca.crt}`,
            `certfile ${certificates.server.crt}`,
            `keyfile ${certificates.server.key}`,
            'require_certificate true',
          ];
        });
        const url = `mqtts://127.0.0.1:${broker.port}`;
        const pem = (name: string, part: 'crt' | 'key') => readFileSync(made[name]?.[part] ?? '');
        const own = { cert: pem('client', 'crt'), key: pem('client', 'key') };

        const good = buses.open({ url, clientId: 'good', ca: pem('ca', 'crt'), ...own });
        await until(() => good.ups.length > 0, 'the trusted broker');
        expect(good.ups[0]?.protocol).toBe(5);

        const wary = buses.open({ url, clientId: 'wary', ca: pem('otherCa', 'crt'), ...own });
        await until(() => wary.downs.length > 0, 'the untrusted broker');
        expect(wary.downs[0]).toMatchObject({ problem: 'unreachable' });
        expect(wary.downs[0]?.message).toMatch(/not trusted/);

        const nameless = buses.open({ url, clientId: 'nameless', ca: pem('ca', 'crt') });
        await until(() => nameless.downs.length > 0, 'the missing certificate');
        expect(nameless.downs[0]?.problem).toBe('refused');

        const broken = buses.open({
          url,
          clientId: 'broken',
          ca: Buffer.from('no PEM'),
          ...own,
          cert: Buffer.from('x'),
        });
        await until(() => broken.downs.length > 0, 'the broken file');
        expect(broken.downs[0]).toMatchObject({ problem: 'refused' });
        expect(wary.ups.length + nameless.ups.length + broken.ups.length).toBe(0);
      },
    );
  });
}
