/** The messages that a real broker keeps for a device that is away, and those that it must not keep. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { connectAsync, type MqttClient } from 'mqtt';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { BusMessage, BusOptions } from '../../../src/ports/bus.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { type Relay, startRelay } from './loopback-servers.ts';
import { findMosquitto, type Mosquitto, startMosquitto } from './mosquitto.ts';
import { createTestBuses } from './test-buses.ts';

const command = findMosquitto();
const RUN_AS_ROOT = process.getuid?.() === 0 ? ['user root'] : [];
const SUBSCRIPTIONS: BusOptions = {
  subscriptions: ['d/cmd/+', { filter: 'd/token/res', qos: 0, mayBeRefused: false }],
  keptForS: 600,
  will: null,
};

if (command === null) {
  it('absence at mosquitto', needs('needs mosquitto'), () => {});
} else {
  describe('a device that is away for a short while, at mosquitto', () => {
    const buses = createTestBuses();
    let broker: Mosquitto;
    let relay: Relay;
    let other: MqttClient;

    beforeEach(async () => {
      broker = await startMosquitto(command, (folder) => [
        ...RUN_AS_ROOT,
        'allow_anonymous true',
        'persistence true',
        `persistence_location ${folder}/`,
      ]);
      relay = await startRelay(broker.port);
      other = await connectAsync(broker.url, { protocolVersion: 5 });
    });
    afterEach(async () => {
      await other.endAsync(true);
      await buses.closeAll();
      await relay.close();
      await broker.close();
    });

    const store = (): string => {
      try {
        return readFileSync(join(broker.folder, 'mosquitto.db')).toString('latin1');
      } catch {
        return '';
      }
    };
    const open = (onMessage: (message: BusMessage) => void = () => {}) =>
      buses.open({ url: `mqtt://127.0.0.1:${relay.port}` }, SUBSCRIPTIONS, 1, onMessage);

    it.each(['its connection is cut', 'it has disconnected'])(
      'gets the commands sent meanwhile, and the broker stores no token (%s)',
      async (how) => {
        const first = open();
        await until(() => first.ups.length > 0, 'up');
        relay.refuse(true);
        if (how === 'its connection is cut') relay.cut();
        else await first.bus.close();
        await until(() => !first.bus.connected, 'the absence');
        await other.publishAsync('d/cmd/mute', 'a-command-4711', { qos: 1 });
        // Once as the backend sends it, and once with a wrong QoS.
        await other.publishAsync('d/token/res', 'SECRET-TOKEN-A', {
          qos: 0,
          properties: { messageExpiryInterval: 30 },
        });
        await other.publishAsync('d/token/res', 'SECRET-TOKEN-B', { qos: 1 });
        broker.save();
        await until(() => store().includes('a-command-4711'), 'the command in the store');
        expect(store()).not.toContain('SECRET-TOKEN');

        relay.refuse(false);
        const second = how === 'its connection is cut' ? first : open();
        await until(() => second.messages.length > 0, 'the command');
        await other.publishAsync('d/cmd/unmute', 'the end', { qos: 1 });
        await until(() => second.messages.some(({ payload }) => payload === 'the end'), 'the end');
        expect(second.messages.map(({ payload }) => payload)).toEqual(['a-command-4711', 'the end']);
      },
    );

    it('gets no expired command', async () => {
      const device = open();
      await until(() => device.ups.length > 0, 'up');
      relay.refuse(true);
      relay.cut();
      await until(() => device.downs.length > 0, 'down');
      await other.publishAsync('d/cmd/a', 'too late', { qos: 1, properties: { messageExpiryInterval: 1 } });
      await other.publishAsync('d/cmd/b', 'in time', { qos: 1, properties: { messageExpiryInterval: 60 } });
      await new Promise((resolve) => setTimeout(resolve, 2500));
      relay.refuse(false);
      await until(() => device.messages.length > 0, 'the command');
      expect(device.messages.map(({ payload }) => payload)).toEqual(['in time']);
      expect(device.messages[0]?.properties.expiryS).toBeLessThan(60);
    });

    it('gets a command again, marked as such, when it was not acknowledged before the connection broke', async () => {
      const releases: (() => void)[] = [];
      const device = open((message) => {
        const release = message.hold?.();
        if (release !== undefined) releases.push(release);
      });
      await until(() => device.ups.length > 0, 'up');
      await other.publishAsync('d/cmd/a', 'once', { qos: 1 });
      await until(() => device.messages.length === 1, 'the command');
      relay.cut();
      await until(() => device.messages.length === 2, 'the command again');
      expect(device.messages.map(({ payload, again }) => [payload, again])).toEqual([
        ['once', undefined],
        ['once', true],
      ]);
      // This release belongs to the lost connection: it has no effect on the new one.
      releases[0]?.();
      relay.cut();
      await until(() => device.messages.length === 3, 'the command for a third time');
      releases[2]?.();
      await other.publishAsync('d/cmd/a', 'twice', { qos: 1 });
      await until(() => device.messages.length === 4, 'the next one');
      releases[3]?.();
      // A message that arrives after an acknowledgement proves that the broker has that, too.
      const reported: string[] = [];
      other.on('message', (topic) => reported.push(topic));
      await other.subscribeAsync('d/after', { qos: 1 });
      device.bus.publish('d/after', 'the acknowledgement');
      await until(() => reported.includes('d/after'), 'the message after the acknowledgement');
      const ups = device.ups.length;
      relay.cut();
      await until(() => device.ups.length > ups, 'up again');
      await other.publishAsync('d/cmd/a', 'the end', { qos: 1 });
      await until(() => device.messages.at(-1)?.payload === 'the end', 'the end');
      expect(device.messages.map(({ payload }) => payload).slice(3)).toEqual(['twice', 'the end']);
    });

    it('gets other commands while some are held', async () => {
      const device = open((message) => {
        if (message.payload.startsWith('held')) message.hold?.();
      });
      await until(() => device.ups.length > 0, 'up');
      for (let index = 0; index < 5; index += 1)
        await other.publishAsync('d/cmd/a', `held ${index}`, { qos: 1 });
      for (let index = 0; index < 50; index += 1) await other.publishAsync('d/cmd/a', `${index}`, { qos: 1 });
      await until(() => device.messages.length === 55, 'all');
    });
  });
}
