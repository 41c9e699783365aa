/**
 * One device fills the broker's queue of reports, so that mosquitto drops those of others although it has acknowledged them. All
 * honest ends must be in the ledger in the end: real agents, a real broker with the project's rules and a short queue.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { createLogger } from '../../../src/adapters/log.ts';
import { parsePrivateKey } from '../../../src/adapters/signing/signing-keys.ts';
import { OWNER_KEY } from '../../../src/backend/broker/store.ts';
import { startBackend } from '../../../src/backend/daemon/backend.ts';
import type { Agent } from '../../../src/device/agent.ts';
import { startEmulator } from '../../../src/emulator/server.ts';
import type { Bus } from '../../../src/ports/bus.ts';
import type { EndReport, Store } from '../../../src/ports/store.ts';
import { backendConfigSchema } from '../../../src/protocol/backend-config.ts';
import { findMosquitto } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';
import { wavOf } from '../../voice-recordings.ts';
import { onBothStores } from '../store/both-stores.ts';
import { startAgent } from './device-agent.ts';
import { backend, type Form, type SetUp, setUpBroker } from './set-up-broker.ts';

const HONEST = ['kiosk-01', 'kiosk-04', 'kiosk-05'] as const;
const HOSTILE = 'dragoman/v1/museum/kiosk-02/event/session_ended';
const MARKER = 'dragoman/v1/museum/kiosk-03/event/session_ended';
const ALWAYS = [0, 8_000_000_000_000] as const;
const KEY = 'account-key-4711';
/** Longer than the queue and the window of 20 messages together. */
const FLOOD = 400;
const SHORT_QUEUE = 'max_queued_messages 20';

const endings: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const end of endings.splice(0).reverse()) await end();
});

const report = (session: string, live_ms: number): string =>
  JSON.stringify({ ts: null, lane: 'main', session, cause: 'stopped', live_ms });

/** A store that writes no report while it is held. */
function holdable(store: Store) {
  const reports: EndReport[] = [];
  let open = (): void => {};
  let opened = Promise.resolve();
  return {
    store: {
      ...store,
      async report(one: EndReport) {
        reports.push(one);
        await opened;
        return store.report(one);
      },
    },
    reports,
    hold(): void {
      opened = new Promise((resolve) => {
        open = resolve;
      });
    },
    release: (): void => open(),
  };
}

async function startOwner(broker: SetUp, store: Store, signs: boolean): Promise<void> {
  const emulator = await startEmulator({ apiKeys: [KEY] });
  endings.push(() => emulator.close());
  const folder = broker.login('backend');
  const keyFile = join(folder, 'signing.key.pem');
  const { mqtt } = JSON.parse(readFileSync(join(folder, 'backend.json'), 'utf8')) as { mqtt: object };
  const owner = await startBackend({
    config: backendConfigSchema.parse({
      mqtt,
      service: {
        url: emulator.url,
        streamUrl: `${emulator.url.replace(/^http/, 'ws')}/streaming-api/{random_hash}/v1/speech-to-speech/stream`,
      },
      allow: ['museum/*'],
    }),
    secrets: {
      apiKey: () => KEY,
      mqttPassword: () => readFileSync(join(folder, 'mqtt-password'), 'utf8'),
      brokerTls: { ca: readFileSync(join(folder, 'broker-ca.crt')) },
      ...(signs && { signingKey: parsePrivateKey(readFileSync(keyFile, 'utf8'), keyFile) }),
    },
    log: createLogger({ level: 'error', format: 'json', sink: { write: () => {} } }),
    store,
  });
  endings.push(() => owner.close());
  await owner.ready;
}

async function startBroker(form: Form): Promise<SetUp> {
  const broker = await setUpBroker(form, 'password');
  endings.push(() => broker.close());
  expect(
    (await backend(['devices', 'add', 'kiosk-04', 'kiosk-05', '--broker', broker.folder])).exitCode,
  ).toBe(0);
  const conf = join(broker.folder, 'broker', 'mosquitto.conf');
  const usual = readFileSync(conf, 'utf8');
  expect(usual).toMatch(/^max_queued_messages \d+$/m);
  writeFileSync(conf, usual.replace(/^max_queued_messages \d+$/m, SHORT_QUEUE));
  await broker.start();
  return broker;
}

onBothStores((maker) => {
  describe.each([
    ['acl', false],
    ['dynsec', true],
  ] as const)(
    'a flood of reports at a broker with %s (signed answers: %s)',
    needs(findMosquitto() === null && 'needs mosquitto'),
    (form, isSigned) => {
      it('costs no honest report', async () => {
        const broker = await startBroker(form);
        const ledger = (await maker.make()).openStore();
        const { store, reports, hold, release } = holdable(ledger);
        await startOwner(broker, store, isSigned);
        const keys = { publicKeyFiles: isSigned ? [join(broker.folder, OWNER_KEY)] : [] };
        const agents: Agent[] = [];
        const buses: Bus[] = [];
        for (const id of HONEST) {
          writeFileSync(join(broker.login(`museum.${id}`), 'none.wav'), wavOf(new Uint8Array(48_000)));
          const agent = await startAgent(broker, id, { ...keys, opened: (bus) => void buses.push(bus) });
          agents.push(agent);
          endings.push(() => agent.stop());
        }
        const phases = (): string[] => agents.map(({ lanes }) => lanes[0]?.phase ?? '');
        const all = (phase: string): Promise<void> => expect.poll(phases).toEqual(HONEST.map(() => phase));
        const operator = await broker.connect('administrator');
        let commands = 0;
        const order = async (name: string): Promise<void> => {
          commands += 1;
          const command = JSON.stringify({ id: `c${commands}`, args: {} });
          for (const id of HONEST)
            await operator.mqtt.publishAsync(`dragoman/v1/museum/${id}/cmd/${name}`, command, { qos: 1 });
        };
        const billed = async (): Promise<string[]> => {
          const sums = await ledger.sums(...ALWAYS);
          return sums.filter(({ ms }) => ms > 0).map(({ device }) => device);
        };
        await expect.poll(() => buses.every(({ connected }) => connected)).toBe(true);
        await order('start');
        await all('live');

        const hostile = await broker.connect('museum.kiosk-02');
        const marker = await broker.connect('museum.kiosk-03');
        hold();
        const flood = Array.from({ length: FLOOD }, (_, index) => report(`s${index}...`, index));
        await Promise.all(flood.map((payload) => hostile.mqtt.publishAsync(HOSTILE, payload, { qos: 1 })));
        await order('stop');
        await all('idle');
        // The broker has acknowledged everything.
        await expect.poll(() => buses.map(({ outbox }) => outbox.depth)).toEqual(HONEST.map(() => 0));
        release();
        // The queue passes messages again, so those before are gone.
        await expect
          .poll(async () => {
            await marker.mqtt.publishAsync(MARKER, report('marker...', 1), { qos: 1 });
            return reports.some(({ session }) => session === 'marker...');
          })
          .toBe(true);
        expect(await billed()).toEqual([]);

        await order('start');
        await expect.poll(billed).toEqual(HONEST.map((id) => `museum/${id}`));
        const sums = await ledger.sums(...ALWAYS);
        for (const { device, implausible } of sums)
          if (device !== 'museum/kiosk-02' && device !== 'museum/kiosk-03') expect(implausible).toBe(0);
      });
    },
  );
});
