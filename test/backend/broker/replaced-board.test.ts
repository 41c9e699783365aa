/** Replaces a broken or stolen board by another one under the same name, at a real mosquitto. */
import { cpSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type { IClientOptions } from 'mqtt';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findMosquitto, findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import {
  backend,
  type Client,
  type DeviceLogin,
  type Form,
  matching,
  type SetUp,
  setUpBroker,
} from './set-up-broker.ts';

const missing = findMosquitto() === null || !findOpenssl();
const NAME = 'museum.kiosk-01';
const COMBINATIONS: readonly (readonly [Form, DeviceLogin])[] = [
  ['dynsec', 'password'],
  ['dynsec', 'certificate'],
  ['acl', 'password'],
  ['acl', 'certificate'],
];

describe.each(COMBINATIONS)(
  'a replaced board (%s, %s)',
  needs(missing && 'needs mosquitto, openssl'),
  (form, deviceLogin) => {
    let broker: SetUp;
    let old: Client;
    const stolen: IClientOptions[] = [];
    beforeAll(async () => {
      broker = await setUpBroker(form, deviceLogin);
      await broker.start();
      old = await broker.connect(NAME);
      stolen.push(broker.options(NAME));
    });
    afterAll(async () => {
      await broker?.close();
    });

    const add = (...words: string[]) => backend(['devices', 'add', ...words, '--broker', broker.folder]);
    const setup = (): string => readFileSync(join(broker.folder, 'setup.json'), 'utf8');
    const getsIn = async (options: IClientOptions): Promise<boolean> => {
      const client = await broker.connect(NAME, options).catch(() => null);
      const works =
        client !== null &&
        (await client.mqtt
          .subscribeAsync('dragoman/v1/museum/kiosk-01/cmd/+', { qos: 1 })
          .then(() => client.mqtt.publishAsync('dragoman/v1/museum/kiosk-01/event/wake', '{}', { qos: 1 }))
          .then(
            () => true,
            () => false,
          ));
      client?.mqtt.end(true);
      return works;
    };

    it('must be named, and changes nothing when it cannot be replaced', async () => {
      const before = setup();
      expect(await add('kiosk-01')).toMatchObject({
        exitCode: 2,
        err: matching(/has a login already.*--replace/),
      });
      expect(await add('kiosk-09', '--replace')).toMatchObject({
        exitCode: 2,
        err: matching(/no login here/),
      });
      expect(await add('kiosk-01', 'kiosk-01', '--replace')).toMatchObject({
        exitCode: 2,
        err: matching(/twice/),
      });
      // Its login folder still exists.
      expect(await add('kiosk-02', 'kiosk-01', '--replace')).toMatchObject({
        exitCode: 1,
        err: matching(/exists already/),
      });
      expect(setup()).toBe(before);
      if (deviceLogin === 'certificate') {
        const key = join(broker.folder, 'authority/ca.key');
        cpSync(key, `${key}.away`);
        rmSync(key);
        expect(await add('kiosk-01', '--replace')).toMatchObject({
          exitCode: 1,
          err: matching(/authority's key/),
        });
        cpSync(`${key}.away`, key);
        expect(setup()).toBe(before);
      }
    });

    it('gets a working login, and the old board is locked out even if it is connected', async () => {
      expect(await getsIn({})).toBe(true);
      old = await broker.connect(NAME);
      rmSync(broker.login(NAME), { recursive: true });
      const ran = await add('kiosk-01', '--replace');
      expect(ran).toMatchObject({ exitCode: 0, err: '' });
      expect(ran.out).toContain('Until then the old board can log in');
      expect(JSON.parse(setup())).toMatchObject({
        devices: expect.arrayContaining([
          expect.objectContaining({ device: 'kiosk-01', groups: ['lobby'], disabled: false }),
        ]) as unknown,
      });
      // As the command prints: mosquitto can reload "acl" while it runs, unless certificates were revoked.
      if (form === 'acl' && deviceLogin === 'password') {
        expect(ran.out).toContain('systemctl reload');
        broker.reload();
      } else {
        expect(ran.out).toContain('systemctl restart');
        await broker.stop();
        await broker.start();
      }
      await until(() => old.closed(), 'the end of its connection');
      expect(await getsIn({})).toBe(true);
      for (const login of stolen) expect(await getsIn(login)).toBe(false);
      // Other devices are not affected.
      const other = await broker.connect('museum.kiosk-02');
      await other.mqtt.publishAsync('dragoman/v1/museum/kiosk-02/event/wake', '{}', { qos: 1 });
      expect(other.closed()).toBe(false);
    });

    it('can be replaced again, also when disabled, and no old board can log in', async () => {
      stolen.push(broker.options(NAME));
      rmSync(broker.login(NAME), { recursive: true });
      const disabled = await backend(['devices', 'disable', 'kiosk-01', '--broker', broker.folder]);
      expect(disabled.exitCode).toBe(0);
      expect((await add('kiosk-01', '--replace', '--group', 'hall')).exitCode).toBe(0);
      await broker.stop();
      await broker.start();
      expect(await getsIn({})).toBe(true);
      for (const login of stolen) expect(await getsIn(login)).toBe(false);
      expect(setup()).toMatch(/"hall"/);
    });
  },
);
