/** Two boards with one name at a real mosquitto: the board whose login was replaced is refused and reports why. */
import { rmSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { MqttConnection } from '../../../src/adapters/mqtt/bus.ts';
import { findMosquitto, findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { createTestBuses } from '../../adapters/mqtt/test-buses.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { createJumpingClock } from '../watch/jumping-clock.ts';
import { backend, type DeviceLogin, type Form, type SetUp, setUpBroker } from './set-up-broker.ts';

const missing = findMosquitto() === null || !findOpenssl();
const NAME = 'museum.kiosk-01';
const TOPIC = 'dragoman/v1/museum/kiosk-01/cmd/+';
const COMBINATIONS: readonly (readonly [Form, DeviceLogin])[] = [
  ['dynsec', 'password'],
  ['dynsec', 'certificate'],
  ['acl', 'certificate'],
];

describe.each(COMBINATIONS)(
  'a board that is replaced (%s, %s)',
  needs(missing && 'needs mosquitto, openssl'),
  (form, deviceLogin) => {
    const clock = createJumpingClock();
    const [oldBuses, newBuses] = [createTestBuses(clock), createTestBuses()];
    let broker: SetUp;
    beforeAll(async () => {
      broker = await setUpBroker(form, deviceLogin);
      await broker.start();
    });
    afterAll(async () => {
      await Promise.all([oldBuses.closeAll(), newBuses.closeAll()]);
      await broker?.close();
    });

    const open = (buses: typeof newBuses, seed: number) => {
      const { ca, cert, key, username, password } = broker.options(NAME);
      const login = {
        ca,
        cert,
        key,
        username,
        ...(password !== undefined && { password: () => String(password) }),
      };
      const connection = { url: `mqtts://127.0.0.1:${broker.devicePort}`, clientId: NAME, ...login };
      return buses.open(
        connection as MqttConnection,
        { subscriptions: [{ filter: TOPIC, qos: 1, mayBeRefused: true }], keptForS: 600 },
        seed,
      );
    };

    it('is refused with a reason, retries slowly, and does not disturb the new board', async () => {
      const old = open(oldBuses, 1);
      await until(() => old.ups.length > 0, 'the old board');
      rmSync(broker.login(NAME), { recursive: true });
      const ran = await backend(['devices', 'add', 'kiosk-01', '--replace', '--broker', broker.folder]);
      expect(ran.err).toBe('');
      await broker.stop();
      await broker.start();
      const next = open(newBuses, 2);
      await until(() => next.bus.connected, 'the new board');
      await until(() => old.downs.some(({ problem }) => problem === 'refused'), 'the refusal', 60_000);
      const refusal = old.downs.find(({ problem }) => problem === 'refused');
      expect(refusal?.message).toMatch(
        deviceLogin === 'certificate' ? /does not accept our certificate/ : /refused the connection/,
      );
      const [ups, downs] = [next.ups.length, next.downs.length];
      for (let again = 0; again < 3; again += 1) {
        const tries = old.downs.length;
        // A try after the first jump would still be under way at the second one, and end for lack of time.
        clock.jump(15_000);
        clock.jump(300_000);
        await until(() => old.downs.length > tries, 'the next refusal');
        expect(old.downs.slice(tries).map(({ problem }) => problem)).toEqual(['refused']);
      }
      expect(old.bus.connected).toBe(false);
      const wasTaken = await new Promise((ended) =>
        next.bus.publish(`dragoman/v1/museum/kiosk-01/event/wake`, '{}', { ended }),
      );
      expect(wasTaken).toBe(true);
      expect([next.ups.length, next.downs.length]).toEqual([ups, downs]);
    });
  },
);
