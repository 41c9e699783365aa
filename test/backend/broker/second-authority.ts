/** Changes the authority at a real mosquitto, in the steps of docs/fleet.md. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../../../src/device/agent.ts';
import type { Bus } from '../../../src/ports/bus.ts';
import { findMosquitto, findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { startAgent } from './device-agent.ts';
import {
  backend,
  type DeviceLogin,
  type Form,
  matching,
  type Ran,
  type SetUp,
  setUpBroker,
} from './set-up-broker.ts';

const missing = findMosquitto() === null || !findOpenssl();
export type Combination = readonly [Form, DeviceLogin];

/** Declares the tests for a broker with each of these set-ups. */
export function describeSecondAuthority(combinations: readonly Combination[]): void {
  describe.each(combinations)(
    'a second authority (%s, %s)',
    needs(missing && 'needs mosquitto, openssl'),
    (form, deviceLogin) => {
      const byCertificate = deviceLogin === 'certificate';
      let broker: SetUp;
      let agent: Agent;
      let bus: Bus | null = null;
      beforeAll(async () => {
        broker = await setUpBroker(form, deviceLogin);
        await broker.start();
        agent = await startAgent(broker, 'kiosk-01', {
          opened(one) {
            bus = one;
          },
        });
      });
      afterAll(async () => {
        await agent?.stop();
        await broker?.close();
      });

      const authority = (...words: string[]): Promise<Ran> => {
        const [verb = '', ...more] = words;
        return backend(['broker', 'authority', verb, broker.folder, ...more]);
      };
      const devices = (verb: string, ...words: string[]): Promise<Ran> => {
        const home = join(broker.folder, 'home');
        const env = { PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: home };
        return backend(['devices', verb, ...words, '--broker', broker.folder], env);
      };
      /** Copies the new broker-ca.crt to all logins. */
      const handOut = (): void => {
        const home = join(broker.folder, 'home/dragoman');
        if (!existsSync(home)) {
          mkdirSync(join(broker.folder, 'home'));
          cpSync(broker.login('administrator'), home, { recursive: true });
        }
        const folders = ['administrator', 'museum.kiosk-01', 'museum.kiosk-02', 'museum.kiosk-03'].map(
          broker.login,
        );
        for (const folder of [...folders, home])
          if (existsSync(folder)) cpSync(join(broker.folder, 'broker/ca.crt'), join(folder, 'broker-ca.crt'));
      };
      const restart = async (): Promise<void> => {
        await broker.stop();
        await broker.start();
      };
      const isThere = async (): Promise<void> => {
        const administrator = await broker.connect('administrator');
        await administrator.mqtt.subscribeAsync('dragoman/v1/museum/kiosk-01/cmd/+/res');
        const ask = (): void => {
          // After a restart of the broker the agent would wait longer.
          bus?.tryNow?.();
          const id = Math.random().toString(36);
          administrator.mqtt.publish('dragoman/v1/museum/kiosk-01/cmd/status', `{"id":"${id}","args":{}}`);
        };
        ask();
        const asking = setInterval(ask, 100);
        await until(() => administrator.got.length > 0, 'an answer of the device').finally(() =>
          clearInterval(asking),
        );
        administrator.mqtt.end(true);
      };
      const getsIn = (name: string, more = {}): Promise<boolean> =>
        broker.connect(name, more).then(
          ({ mqtt }) => {
            mqtt.end(true);
            return true;
          },
          () => false,
        );

      it('cannot be used or retired when there is only one', async () => {
        expect(await authority('use')).toMatchObject({ exitCode: 1, err: matching(/authority add/) });
        expect(await authority('retire')).toMatchObject({
          exitCode: 1,
          err: matching(/nothing can be retired/),
        });
        await isThere();
      });

      it('is valid beside the first, which still issues, when it is added', async () => {
        const ran = await authority('add');
        expect(ran).toMatchObject({ exitCode: 0, err: '' });
        expect(ran.out).toContain('ca-2 is made; the first authority still issues');
        expect(await authority('add')).toMatchObject({
          exitCode: 1,
          err: matching(/two authorities already/),
        });
        await restart();
        // Clients without the new file are still served.
        await isThere();
        handOut();
        await isThere();
      });

      it('certifies the broker when it is used, and certificates of the first stay valid', async () => {
        const old = broker.options('museum.kiosk-02');
        expect((await authority('use')).exitCode).toBe(0);
        await restart();
        await isThere();
        expect(await getsIn('museum.kiosk-02')).toBe(true);
        // Running the command again goes back, then forward.
        for (const signer of ['ca', 'ca-2']) {
          expect((await authority('use')).out).toContain(`${signer} issues from now on`);
          await restart();
          await isThere();
        }
        const first = readFileSync(join(broker.folder, 'authority/ca.crt'));
        expect(await getsIn('museum.kiosk-02', { ca: first })).toBe(false);
        expect(old.ca).not.toEqual(first);
      });

      it('keeps out boards that were replaced during the change', async () => {
        const old = broker.options('museum.kiosk-03');
        rmSync(broker.login('museum.kiosk-03'), { recursive: true });
        expect((await devices('add', 'kiosk-03', '--replace')).exitCode).toBe(0);
        await restart();
        expect(await getsIn('museum.kiosk-03')).toBe(true);
        expect(await getsIn('museum.kiosk-03', old)).toBe(false);
        expect(await getsIn('museum.kiosk-02')).toBe(true);
        await isThere();
      });

      it(
        'refuses to retire the first before every device has a certificate of the second',
        needs(!byCertificate && 'needs logins by certificate'),
        async () => {
          const early = await authority('retire');
          expect(early).toMatchObject({
            exitCode: 1,
            err: matching(/museum.kiosk-01, museum.kiosk-02: no certificate of the/),
          });
          await devices('disable', 'kiosk-02');
          const ran = await devices('renew', 'kiosk-01', '--now', '--wait', '20');
          expect(ran.out).toMatch(/^museum\/kiosk-01 {2}renewed until/);
          expect(ran.exitCode).toBe(0);
        },
      );

      it('is the only one after the first is retired', async () => {
        const stale = broker.options('museum.kiosk-02');
        expect((await authority('retire')).out).toContain('ca is no longer valid');
        await restart();
        handOut();
        await isThere();
        expect(await getsIn('museum.kiosk-03')).toBe(true);
        if (byCertificate) expect(await getsIn('museum.kiosk-02', stale)).toBe(false);
        const pem = readFileSync(join(broker.folder, 'broker/ca.crt'), 'utf8');
        expect(pem.match(/BEGIN CERTIFICATE/g)).toHaveLength(1);
        const added = await devices('add', 'kiosk-04');
        expect(added.exitCode).toBe(0);
        await restart();
        expect(await getsIn('museum.kiosk-04')).toBe(true);
      });
    },
  );
}
