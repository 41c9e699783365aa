import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { findMosquitto, startMosquitto } from './mosquitto.ts';

const mosquitto = findMosquitto();
const RUN_AS_ROOT = process.getuid?.() === 0 ? ['user root'] : [];
const STATUS = 'dragoman/v1/museum/kiosk-01/status';
const running: { close(): Promise<unknown> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0).reverse()) await one.close();
});

describe(
  'a broker that allows less (skipped without mosquitto)',
  needs(mosquitto === null && 'needs mosquitto'),
  () => {
    it.each<[string, string[], string[]]>([
      ['no retained messages', ['retain_available false'], ['retain']],
      ['no QoS 1', ['max_qos 0'], ['qos']],
      ['neither', ['retain_available false', 'max_qos 0'], ['retain', 'qos']],
      ['everything', [], []],
    ])('is used as far as it allows when it allows %s', async (_, lines, limits) => {
      const broker = await startMosquitto(mosquitto ?? '', () => [
        ...RUN_AS_ROOT,
        'allow_anonymous true',
        ...lines,
      ]);
      running.push(broker);
      const told: unknown[] = [];
      const downs: string[] = [];
      const heard: string[] = [];
      let ups = 0;
      const delivered: boolean[] = [];
      const bus = createMqttBus(
        { url: broker.url, clientId: 'museum.kiosk-01' },
        { clock: createSystemClock(), seed: 1 },
      )(
        { subscriptions: [STATUS], keptForS: 600, will: () => ({ topic: STATUS, payload: '{}' }) },
        {
          limited: (given) => void told.push(given),
          up: () => {
            ups += 1;
          },
          down: (_problem, message) => void downs.push(message),
          message: ({ payload }) => void heard.push(payload),
        },
      );
      running.push(bus);
      await until(() => ups === 1, 'the connection');
      bus.publish(STATUS, '{"n":1}', {
        retain: true,
        ended: (isDelivered) => void delivered.push(isDelivered),
      });
      bus.publish(STATUS, '{"n":2}', { qos: 0, retain: true });
      await until(() => heard.length === 2 && delivered.length === 1, 'both messages');
      expect(told).toEqual([limits]);
      expect(delivered).toEqual([true]);
      expect(bus.connected).toBe(true);
      expect(ups).toBe(1);
      // Each refusal is answered at once by a connection that asks for less.
      expect(downs).toEqual([]);
    });
  },
);
