/**
 * A hostile device with a valid login at a real mosquitto, one test for each attack. Its client is the plain MQTT library,
 * which does not restrict topics.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log.ts';
import { createAuthority, issueCertificate } from '../../../src/backend/broker/authority.ts';
import { type Backend, startBackend } from '../../../src/backend/daemon/backend.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/server.ts';
import { backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import { findMosquitto, findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { BASE, OWN, PUBLISHED, SUBSCRIBED, VICTIM } from './hostile-topics.ts';
import { type Client, type DeviceLogin, type Form, type SetUp, setUpBroker } from './set-up-broker.ts';

const missing = [
  ...(findMosquitto() === null ? ['mosquitto is not installed (Debian package "mosquitto")'] : []),
  ...(findOpenssl() ? [] : ['openssl is not installed']),
];
const ADMINISTERED = [`${BASE}/+/status`, `${BASE}/+/cmd/+/res`, `${BASE}/+/cert/req`];
const KEY = 'account-key-4711';
/** Form, login, and n: every nth topic is tested. */
export type Combination = readonly [Form, DeviceLogin, number];

const everyNth = <T>(list: readonly T[], n: number): T[] => list.filter((_, index) => index % n === 0);

/** Declares the tests for a broker with each of these set-ups. */
export function describeHostileDevice(combinations: readonly Combination[]): void {
  describe.each(combinations)(
    'a hostile device (%s, %s)',
    needs(missing.length > 0 && missing.join(', ')),
    (form, deviceLogin, nth) => {
      let broker: SetUp;
      let emulator: Emulator;
      let backend: Backend;
      let victim: Client;
      let administrator: Client;
      let hostile: Client;
      let marks = 0;

      beforeAll(async () => {
        broker = await setUpBroker(form, deviceLogin);
        await broker.start();
        emulator = await startEmulator({ apiKeys: [KEY] });
        backend = await connectBackend(broker, emulator);
        victim = await broker.connect('museum.kiosk-01');
        await victim.mqtt.subscribeAsync(
          [`${VICTIM}/token/res`, `${VICTIM}/cmd/+`, `${VICTIM}/config/desired`, `${BASE}/all/cmd/+`],
          { qos: 1 },
        );
        administrator = await broker.connect('administrator');
        await administrator.mqtt.subscribeAsync(ADMINISTERED, { qos: 1 });
        hostile = await broker.connect('museum.kiosk-02');
      });
      afterAll(async () => {
        await backend?.close();
        await emulator?.close();
        await broker?.close();
      });

      /** Publishes with each quality of service, retained and not. Returns when the broker has handled all messages. */
      const publish = async (topic: string, text = 'hostile', more: object = {}): Promise<void> => {
        for (const retain of [false, true])
          for (const qos of [0, 1, 2] as const)
            await hostile.mqtt.publishAsync(topic, text, { qos, retain, ...more }).catch(() => {});
        await hostile.mqtt.publishAsync(`${OWN}/event/audio_back`, '{}', { qos: 1 });
      };
      const subscribe = async (filter: string): Promise<void> => {
        await hostile.mqtt.subscribeAsync(filter, { qos: 1 }).catch(() => {});
      };
      /** Sends an allowed command, which arrives after all earlier messages. */
      const mark = async (to: Client = victim, base = VICTIM): Promise<void> => {
        marks += 1;
        const text = JSON.stringify({ id: `mark-${marks}`, args: {} });
        await administrator.mqtt.publishAsync(`${base}/cmd/status`, text, { qos: 1 });
        await until(() => to.got.some((got) => got.text === text), 'a command that is allowed');
      };
      /** Messages that a client has received, except the commands of `mark`. */
      const heard = ({ got }: Client): string[] =>
        got.filter(({ text }) => !text.includes('"mark-')).map(({ topic, text }) => `${topic} ${text}`);
      const request = (id: string): string =>
        JSON.stringify({
          id,
          lane: 'main',
          intent: 's2s',
          connection_type: 'ws',
          reason: 'start',
          attempt: 1,
        });
      const answersTo = (id: string): number =>
        victim.got.filter(({ topic, text }) => topic.endsWith('/token/res') && text.includes(`"${id}"`))
          .length;
      const ask = async (id: string, withinMs?: number): Promise<void> => {
        await victim.mqtt.publishAsync(`${VICTIM}/token/req`, request(id), { qos: 1 });
        await until(() => answersTo(id) > 0, `the answer to ${id}`, withinMs);
      };

      it('does not stop the other devices from being served (precondition of the tests below)', async () => {
        await backend.ready;
        await ask('before-all-of-it');
        await hostile.mqtt.subscribeAsync(`${OWN}/cmd/+`, { qos: 1 });
        await mark(hostile, OWN);
        expect(heard(victim).some((line) => line.includes('"token"'))).toBe(true);
      });

      it.each(everyNth(PUBLISHED, nth))('publishes %s: %s', async (topic) => {
        const before = heard(victim).length;
        const known = heard(administrator).length;
        await publish(topic);
        // Subscribes afterwards, too: a new subscriber would receive retained messages.
        for (const part of ['cmd/+', 'token/res', 'config/desired']) {
          await subscribe(`${OWN}/${part}`);
          await victim.mqtt.subscribeAsync(`${VICTIM}/${part}`, { qos: 1 });
        }
        for (const filter of ['all/cmd/+', 'group/lobby/cmd/+', 'group/lobby/config/desired']) {
          await subscribe(`${BASE}/${filter}`);
          await victim.mqtt.subscribeAsync(`${BASE}/${filter}`, { qos: 1 });
        }
        await administrator.mqtt.subscribeAsync(ADMINISTERED, { qos: 1 });
        await mark();
        await mark(hostile, OWN);
        expect(heard(victim).slice(before)).toEqual([]);
        expect(heard(administrator).slice(known)).toEqual([]);
        expect(heard(hostile)).toEqual([]);
      });

      it('cannot ask for a token in the name of another device', async () => {
        for (const qos of [0, 1] as const)
          await hostile.mqtt
            .publishAsync(`${VICTIM}/token/req`, request('in-its-name'), { qos })
            .catch(() => {});
        await ask('in-its-own-name');
        expect(answersTo('in-its-name')).toBe(0);
      });

      it('cannot direct an answer to the response topic of another device', async () => {
        await subscribe(`${OWN}/token/res`);
        await hostile.mqtt.publishAsync(`${OWN}/token/req`, request('answer-elsewhere'), {
          qos: 1,
          properties: { responseTopic: `${VICTIM}/token/res`, correlationData: Buffer.from('x') },
        });
        // It gets its own token itself.
        await until(
          () => hostile.got.some(({ text }) => text.includes('"answer-elsewhere"')),
          'its own token',
        );
        await mark();
        expect(answersTo('answer-elsewhere')).toBe(0);
        hostile.got.splice(0);
      });

      it.each(everyNth(SUBSCRIBED, nth))('subscribes %s', async (filter) => {
        await administrator.mqtt.publishAsync(`${VICTIM}/config/desired`, '{"version":1}', {
          qos: 1,
          retain: true,
        });
        await administrator.mqtt.publishAsync(`${BASE}/group/hall/config/desired`, '{}', {
          qos: 1,
          retain: true,
        });
        await subscribe(filter);
        await victim.mqtt.publishAsync(`${VICTIM}/status`, '{"status":"ready"}', { qos: 1, retain: true });
        await victim.mqtt.publishAsync(`${VICTIM}/cert/req`, '{"csr":"..."}', { qos: 1, retain: true });
        // Only a shared subscription takes messages from others: if it took half of six requests, at least one would fail.
        const requests = filter.startsWith('$share/') ? 6 : 1;
        for (let i = 0; i < requests; i += 1) await ask(`while ${filter} ${i}`);
        await mark();
        await mark(hostile, OWN);
        expect(heard(hostile)).toEqual([]);
        await hostile.mqtt.unsubscribeAsync(filter).catch(() => {});
      });

      it.each(['museum.kiosk-01', 'backend', 'administrator'])(
        'cannot disconnect another device with its identifier %s',
        async (of) => {
          const known = { 'museum.kiosk-01': victim, backend: null, administrator }[of];
          const clientId = known?.mqtt.options.clientId ?? of;
          for (const protocolVersion of [4, 5] as const) {
            const taken = await broker
              .connect('museum.kiosk-02', { clientId, protocolVersion })
              .catch(() => null);
            await mark();
            taken?.mqtt.end(true);
          }
          expect([victim.closed(), administrator.closed(), backend.connected]).toEqual([false, false, true]);
          // It may only disconnect its own connection.
          hostile = await broker.connect('museum.kiosk-02');
          await hostile.mqtt.subscribeAsync(`${OWN}/cmd/+`, { qos: 1 });
        },
      );

      it('cannot leave a will on a topic of another device', async () => {
        const known = heard(administrator).length;
        const will = {
          topic: `${VICTIM}/status`,
          payload: Buffer.from('hostile'),
          qos: 1 as const,
          retain: true,
        };
        const dying = await broker.connect('museum.kiosk-02', { will }).catch(() => null);
        dying?.mqtt.stream.destroy();
        // The broker ends the old connection, with its will, before it accepts this one.
        hostile = await broker.connect('museum.kiosk-02');
        await mark();
        // The administrator gets the answer after every message that came before.
        await administrator.mqtt.subscribeAsync(ADMINISTERED, { qos: 1 });
        expect(heard(administrator).slice(known)).toEqual([]);
        await hostile.mqtt.subscribeAsync(`${OWN}/cmd/+`, { qos: 1 });
      });

      it('cannot log in as another device, without a login, or on the port for people', async () => {
        const stranger = issueCertificate(createAuthority('stranger'), {
          usage: 'client',
          name: 'museum.kiosk-01',
          days: 1,
        });
        const none = { password: Buffer.from(''), username: '', key: '', cert: '' };
        const refused = [
          broker.connect('museum.kiosk-02', { port: broker.peoplePort, clientId: 'somebody' }),
          broker.connect('museum.kiosk-02', { ...none, clientId: 'somebody' }),
          broker.connect('museum.kiosk-02', { ...none, port: broker.peoplePort, clientId: 'somebody' }),
          broker.connect('museum.kiosk-02', {
            username: 'administrator',
            port: broker.peoplePort,
            clientId: 'somebody',
          }),
          ...(deviceLogin === 'certificate'
            ? [
                broker.connect('museum.kiosk-02', { key: stranger.key, cert: stranger.certificate }),
                broker.connect('administrator', { port: broker.devicePort }),
              ]
            : [
                broker.connect('museum.kiosk-02', {
                  username: 'museum.kiosk-01',
                  clientId: 'museum.kiosk-01',
                }),
                broker.connect('museum.kiosk-02', { username: 'administrator' }),
              ]),
        ];
        const outcomes = await Promise.allSettled(refused);
        expect(outcomes.map(({ status }) => status)).toEqual(refused.map(() => 'rejected'));
        await mark();
        expect(victim.closed()).toBe(false);
      });

      it(
        'cannot use the user name of another device with its own certificate',
        needs(deviceLogin !== 'certificate' && 'needs logins by certificate'),
        async () => {
          const other = await broker.connect('museum.kiosk-02', { username: 'museum.kiosk-01' });
          const granted = await other.mqtt.publishAsync(`${VICTIM}/status`, 'hostile', { qos: 1 }).then(
            () => true,
            () => false,
          );
          expect(granted).toBe(false);
          other.mqtt.end(true);
          hostile = await broker.connect('museum.kiosk-02');
          await hostile.mqtt.subscribeAsync(`${OWN}/cmd/+`, { qos: 1 });
        },
      );

      it('cannot make the broker give it more rights', async () => {
        const commands = [
          { command: 'addClientRole', username: 'museum.kiosk-02', rolename: 'administrator' },
        ];
        await publish('$CONTROL/dynamic-security/v1', JSON.stringify({ commands }), { retain: false });
        await publish(`${BASE}/all/cmd/mute`);
        const before = heard(victim).length;
        await mark();
        expect(heard(victim).slice(before)).toEqual([]);
      });

      it('cannot stop the others from being served with a flood', async () => {
        const large = 'x'.repeat(10_000);
        let open = true;
        const flood = (async () => {
          for (let i = 0; i < 4000 && open; i += 1) {
            hostile.mqtt.publish(`${OWN}/token/req`, request(`flood-${i}`), { qos: 0 });
            hostile.mqtt.publish(`${OWN}/event/wake`, large, { qos: 0 });
            hostile.mqtt.publish(`${VICTIM}/token/res`, large, { qos: 0 });
            if (i % 100 === 99) await hostile.mqtt.publishAsync(`${OWN}/health`, '{}', { qos: 1 });
          }
        })();
        const took: number[] = [];
        for (let i = 0; i < 3; i += 1) {
          const from = performance.now();
          await ask(`while it floods ${i}`, 20_000);
          took.push(performance.now() - from);
        }
        open = false;
        await flood;
        await mark();
        expect(Math.max(...took)).toBeLessThan(20_000);
        expect(victim.closed()).toBe(false);
      });

      it('is disconnected when it sends a message above the limit', async () => {
        await administrator.mqtt.subscribeAsync(`${OWN}/state`, { qos: 1 });
        hostile.mqtt.publish(`${OWN}/state`, 'x'.repeat(400_000), { qos: 1, retain: true }, () => {});
        await until(() => hostile.closed(), 'its end');
        hostile = await broker.connect('museum.kiosk-02');
        await hostile.mqtt.publishAsync(`${OWN}/state`, 'small', { qos: 1 });
        await until(() => administrator.got.some(({ topic }) => topic === `${OWN}/state`), 'what is small');
        const states = administrator.got.filter(({ topic }) => topic === `${OWN}/state`);
        expect(states.map(({ text }) => text)).toEqual(['small']);
      });
    },
  );
}

async function connectBackend(broker: SetUp, emulator: Emulator): Promise<Backend> {
  const folder = broker.login('backend');
  const { mqtt } = JSON.parse(readFileSync(join(folder, 'backend.json'), 'utf8')) as { mqtt: object };
  const streamUrl = 'wss://stream.example/streaming-api/{random_hash}/v1/speech-to-speech/stream';
  return startBackend({
    config: backendConfigSchema.parse({
      mqtt,
      service: { url: emulator.url, streamUrl },
      allow: ['museum/*'],
      limits: {
        burst: 1000,
        perMinute: 6000,
        sessionsAtOnce: 64,
        sessionsPerHour: 3600,
        createsPerSecond: 1000,
      },
    }),
    secrets: {
      apiKey: () => KEY,
      mqttPassword: () => readFileSync(join(folder, 'mqtt-password'), 'utf8'),
      brokerTls: { ca: readFileSync(join(folder, 'broker-ca.crt')) },
    },
    log: createLogger({ level: 'error', format: 'json', sink: { write: () => {} } }),
  });
}
