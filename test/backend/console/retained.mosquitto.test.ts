/** What one login leaves at a real broker, configured as `broker init` does it, and what that does to other devices. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findMosquitto, type Mosquitto, startMosquitto } from '../../adapters/mqtt/mosquitto.ts';
import { createTestBuses } from '../../adapters/mqtt/test-buses.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { type Client, type SetUp, setUpBroker } from '../broker/set-up-broker.ts';
import { type ConsoleFixture, consoleOfEachTest, type Logins, PREFIX } from './console-on-loopback.ts';

const BASE = `${PREFIX}/museum`;
/** 100 MB: more than the broker queues for one client. */
const MANY = 400;
const LARGE = Buffer.alloc(262_000, 'x');

describe(
  'a device that leaves 400 large messages at the broker',
  needs(findMosquitto() === null && 'needs mosquitto'),
  () => {
    const { start } = consoleOfEachTest();
    let setUp: SetUp;
    let administrator: Client;
    beforeEach(async () => {
      setUp = await setUpBroker('dynsec', 'password');
      await setUp.start();
      administrator = await setUp.connect('administrator');
    });
    afterEach(async () => {
      await setUp.close();
    });

    const file = (name: string, part: string): Buffer => readFileSync(join(setUp.login(name), part));
    const startConsole = (): Promise<ConsoleFixture> => {
      const logins: Logins = {
        backend: {
          username: 'backend',
          password: file('backend', 'mqtt-password').toString(),
          ca: file('backend', 'broker-ca.crt'),
        },
        device: {
          url: `mqtts://127.0.0.1:${setUp.devicePort}`,
          clientId: 'museum.kiosk-01',
          username: 'museum.kiosk-01',
          password: () => file('museum.kiosk-01', 'mqtt-password').toString(),
          ca: file('museum.kiosk-01', 'broker-ca.crt'),
        },
        subscriptions: [`${BASE}/kiosk-01/config/desired`],
      };
      const broker = { url: `mqtts://127.0.0.1:${setUp.peoplePort}`, close: async () => {} };
      return start({ broker, logins }, ['ann', 'vic']);
    };
    const desire = (of: string, version: number): Promise<unknown> =>
      administrator.mqtt.publishAsync(
        `${BASE}/${of}/config/desired`,
        JSON.stringify({ version, lanes: [{ id: 'main', volume: 70 }] }),
        { qos: 1, retain: true },
      );
    const flood = async (): Promise<void> => {
      const hostile = await setUp.connect('museum.kiosk-02');
      for (let n = 1; n <= MANY; n += 1)
        await hostile.mqtt.publishAsync(`${BASE}/kiosk-02/event/x${n}`, LARGE, { qos: 1, retain: true });
    };

    it('displaces nothing of other devices', async () => {
      await flood();
      await desire('kiosk-01', 7);
      await desire('group/lobby', 5);
      const fixture = await startConsole();
      fixture.status('museum/kiosk-01');
      const reported = { version: { device: 7 }, effective: {}, errors: [] };
      fixture.say('museum/kiosk-01', 'config/reported', reported);
      await fixture.restart();
      const config = async (path: string) => (await fixture.ask('vic', 'GET', `/api/${path}/config`)).json;
      await expect
        .poll(() => config('devices/museum/kiosk-01'))
        .toMatchObject({ desired: { version: 7 }, reported: { versions: { device: 7 } } });
      await expect.poll(() => config('groups/museum/lobby')).toMatchObject({ desired: { version: 5 } });
      // The rights that "broker init" writes are enough for a change, too.
      const change = (target: object, basedOn: number) =>
        fixture.ask('ann', 'POST', '/api/config', { target, basedOn, document: {} });
      expect((await change({ device: 'museum/kiosk-01' }, 7)).json).toMatchObject({ version: 8 });
      expect((await change({ tenant: 'museum', group: 'lobby' }, 5)).json).toMatchObject({ version: 6 });
    });
  },
);

/** Fewer than the devices below retain. */
const SMALL_QUEUE = ['allow_anonymous true', 'max_inflight_messages 1', 'max_queued_messages 5'];

describe(
  'a desired configuration that the console has not heard',
  needs(findMosquitto() === null && 'needs mosquitto'),
  () => {
    const { start } = consoleOfEachTest();
    const buses = createTestBuses();
    let broker: Mosquitto;
    beforeEach(async () => {
      broker = await startMosquitto(findMosquitto() ?? '', () => SMALL_QUEUE);
    });
    afterEach(async () => {
      await buses.closeAll();
      await broker.close();
    });

    it.each([
      ['of a device', { device: 'museum/a' }, 'devices/museum/a', 'a'],
      ['of a group', { tenant: 'museum', group: 'lobby' }, 'groups/museum/lobby', 'group/lobby'],
    ])('%s is not overwritten, and is shown after the try', async (_, target, path, of) => {
      const fixture = await start({ broker }, ['ann', 'vic']);
      const known = async () => (await fixture.ask('vic', 'GET', '/api/devices')).json.total;
      // One by one: the broker drops what does not fit into the console's small queue.
      for (let n = 0; n < 30; n += 1) {
        fixture.status(`museum/k${n}`);
        await expect.poll(known, { interval: 5 }).toBe(n + 1);
      }
      const document = { lanes: [{ id: 'main', volume: 70 }] };
      fixture.say('museum', `${of}/config/desired`, { version: 7, ...document });
      await expect.poll(() => fixture.device.bus.outbox.depth).toBe(0);
      await fixture.restart();
      // Repeated until the console is connected again and its queue has room, so that it knows the device.
      const device = async () => {
        fixture.status('museum/a');
        return (await fixture.ask('vic', 'GET', '/api/devices/museum/a')).status;
      };
      await expect.poll(device).toBe(200);
      const shown = async () => (await fixture.ask('vic', 'GET', `/api/${path}/config`)).json.desired;
      expect(await shown()).toBeNull();

      const change = (basedOn: number) =>
        fixture.ask('ann', 'POST', '/api/config', { target, basedOn, document: {} });
      expect(await change(0)).toMatchObject({ status: 409, json: { error: { code: 'changed' } } });
      expect(await shown()).toMatchObject({ version: 7, ...document });
      const kept = buses.open(
        { url: broker.url, clientId: 'reader' },
        { subscriptions: [`${PREFIX}/museum/${of}/config/desired`] },
      );
      await until(() => kept.messages.length > 0, 'the document');
      expect(JSON.parse(kept.messages[0]?.payload ?? '')).toMatchObject({ version: 7 });
      expect((await change(7)).json.version).toBe(8);
    });
  },
);
