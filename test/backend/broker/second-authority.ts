/** Another authority takes over at a real mosquitto, step by step as docs/fleet.md has them. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Agent } from '../../../src/agent/agent.ts';
import { findMosquitto, findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { until } from '../../until.ts';
import { startAgent } from './device-agent.ts';
import { backend, type DeviceLogin, type Form, type Ran, type SetUp, setUpBroker } from './set-up-broker.ts';

/** `toMatchObject` takes a bare pattern for an object without fields, which everything matches. */
const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

const missing = findMosquitto() === null || !findOpenssl();
export type Combination = readonly [Form, DeviceLogin];

/** Holds with a broker that is set up in each of these ways. */
export function describeSecondAuthority(combinations: readonly Combination[]): void {
  if (missing) it.skip('a second authority: mosquitto or openssl is not installed', () => {});

  describe.skipIf(missing).each(combinations)('a second authority (%s, %s)', (form, deviceLogin) => {
    const byCertificate = deviceLogin === 'certificate';
    let broker: SetUp;
    let agent: Agent;
    beforeAll(async () => {
      broker = await setUpBroker(form, deviceLogin);
      await broker.start();
      agent = await startAgent(broker, 'kiosk-01');
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
    /** What is told to bring to everybody. */
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
        const id = Math.random().toString(36);
        administrator.mqtt.publish('dragoman/v1/museum/kiosk-01/cmd/status', `{"id":"${id}","args":{}}`);
      };
      ask();
      const asking = setInterval(ask, 300);
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

    it('is nothing to use or retire while there is one', async () => {
      expect(await authority('use')).toMatchObject({ exitCode: 1, err: matching(/authority add/) });
      expect(await authority('retire')).toMatchObject({
        exitCode: 1,
        err: matching(/nothing can be retired/),
      });
      await isThere();
    });

    it('is added: both are good, and the first goes on issuing', async () => {
      const ran = await authority('add');
      expect(ran).toMatchObject({ exitCode: 0, err: '' });
      expect(ran.out).toContain('ca-2 is made; the first authority still issues');
      expect(await authority('add')).toMatchObject({ exitCode: 1, err: matching(/two authorities already/) });
      await restart();
      // Who has not got the new file yet is served as before.
      await isThere();
      handOut();
      await isThere();
    });

    it('is used: the broker shows its certificate, and those of the first are still good', async () => {
      const old = broker.options('museum.kiosk-02');
      expect((await authority('use')).exitCode).toBe(0);
      await restart();
      await isThere();
      expect(await getsIn('museum.kiosk-02')).toBe(true);
      // Called again it goes back, and forth.
      for (const signer of ['ca', 'ca-2']) {
        expect((await authority('use')).out).toContain(`${signer} issues from now on`);
        await restart();
        await isThere();
      }
      const first = readFileSync(join(broker.folder, 'authority/ca.crt'));
      expect(await getsIn('museum.kiosk-02', { ca: first })).toBe(false);
      expect(old.ca).not.toEqual(first);
    });

    it('knows which boards were replaced meanwhile', async () => {
      const old = broker.options('museum.kiosk-03');
      rmSync(broker.login('museum.kiosk-03'), { recursive: true });
      expect((await devices('add', 'kiosk-03', '--replace')).exitCode).toBe(0);
      await restart();
      expect(await getsIn('museum.kiosk-03')).toBe(true);
      expect(await getsIn('museum.kiosk-03', old)).toBe(false);
      expect(await getsIn('museum.kiosk-02')).toBe(true);
      await isThere();
    });

    it.runIf(byCertificate)('is not left alone before every device has a certificate of it', async () => {
      const early = await authority('retire');
      expect(early).toMatchObject({
        exitCode: 1,
        err: matching(/museum.kiosk-01, museum.kiosk-02: no certificate of the/),
      });
      await devices('disable', 'kiosk-02');
      const ran = await devices('renew', 'kiosk-01', '--now', '--wait', '20');
      expect(ran.out).toMatch(/^museum\/kiosk-01 {2}renewed until/);
      expect(ran.exitCode).toBe(0);
    });

    it('is the only one at last', async () => {
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
  });
}
