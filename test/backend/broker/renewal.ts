/** Renews certificates over a real mosquitto: devices ask, and the administrator's command answers. */

import { X509Certificate } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OWNER_KEY } from '../../../src/backend/broker/store.ts';
import type { Agent } from '../../../src/device/agent.ts';
import { createTestAuthority, DAY_MS, type TestAuthority } from '../../adapters/certificates/authority.ts';
import { findMosquitto, findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { age, startAgent } from './device-agent.ts';
import {
  backend,
  type Client,
  type Form,
  matching,
  type Ran,
  type SetUp,
  setUpBroker,
} from './set-up-broker.ts';

const missing = findMosquitto() === null || !findOpenssl();
const BASE = 'dragoman/v1/museum';
const TEN_YEARS = /museum\/kiosk-01 {2}renewed until 203\d-\d\d-\d\d/;

/** Declares the tests for a broker of each of these forms. */
export function describeRenewal(forms: readonly Form[]): void {
  describe.each(forms)(
    'renewal at a real broker (%s)',
    needs(missing && 'needs mosquitto, openssl'),
    (form) => {
      let broker: SetUp;
      let viewer: Client;
      let strange: TestAuthority;
      const agents: Agent[] = [];
      beforeAll(async () => {
        broker = await setUpBroker(form, 'certificate');
        for (const id of ['kiosk-01', 'kiosk-02', 'kiosk-03']) age(broker, `museum.${id}`);
        await broker.start();
        viewer = await broker.connect('administrator');
        await viewer.mqtt.subscribeAsync([`${BASE}/+/event/+`, `${BASE}/+/status`, `${BASE}/+/cert/req`]);
        strange = createTestAuthority('strange');
      });
      afterAll(async () => {
        await Promise.all(agents.map((agent) => agent.stop()));
        strange?.close();
        await broker?.close();
      });

      const renew = (...more: string[]): Promise<Ran> => {
        const home = join(broker.folder, 'home');
        if (!existsSync(home)) {
          mkdirSync(home);
          cpSync(broker.login('administrator'), join(home, 'dragoman'), { recursive: true });
        }
        const env = { PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: home };
        return backend(['devices', 'renew', '--broker', broker.folder, '--wait', '30', ...more], env);
      };
      const told = (device: string, rest: string) =>
        viewer.got.filter(({ topic }) => topic === `${BASE}/${device}/${rest}`).map(({ text }) => text);
      const run = async (...given: Parameters<typeof startAgent>): Promise<Agent> => {
        const agent = await startAgent(...given);
        agents.push(agent);
        await until(() => told(given[1], 'cert/req').length > 0, 'the request');
        return agent;
      };
      const kept = (id: string) =>
        JSON.parse(
          readFileSync(join(broker.login(`museum.${id}`), `state/certificate.museum.${id}.json`), 'utf8'),
        ) as { present: { certificate: string; key: string } | null; successor: unknown; request: unknown };

      it('does nothing when no device asks or devices have passwords', async () => {
        const idle = await renew();
        expect(idle).toMatchObject({ exitCode: 0, out: 'no device asks for a certificate\n', err: '' });
        expect(await renew('kiosk-99')).toMatchObject({
          exitCode: 2,
          err: matching(/kiosk-99 has no login here/),
        });
      });

      it('gives the device a new certificate, which the broker accepts and the device stores', async () => {
        const agent = await run(broker, 'kiosk-01');
        const ran = await renew();
        expect(ran.out).toMatch(TEN_YEARS);
        expect(ran).toMatchObject({ exitCode: 0, err: '' });
        await until(() => told('kiosk-01', 'event/certificate_renewed').length > 0, 'the event');
        // Neither offline nor lost: the agent disconnected cleanly.
        expect(told('kiosk-01', 'status').join()).not.toMatch(/"lost"|"offline"/);
        expect(told('kiosk-01', 'cert/req').at(-1)).toBe('');
        await until(() => kept('kiosk-01').successor === null, 'the file');
        const { present, request } = kept('kiosk-01');
        expect(request).toBeNull();
        const certificate = new X509Certificate(present?.certificate ?? '');
        expect(certificate.subject).toBe('CN=museum.kiosk-01');
        expect(present?.key).toContain('PRIVATE');
        expect(JSON.stringify(viewer.got)).not.toContain('PRIVATE');
        // The set-up records it, so that it can be revoked.
        const setup = readFileSync(join(broker.folder, 'setup.json'), 'utf8');
        expect(setup).toContain(certificate.serialNumber.toUpperCase());
        await agent.stop();

        const again = await startAgent(broker, 'kiosk-01');
        agents.push(again);
        await until(
          () => again.publisher.status() !== null && told('kiosk-01', 'status').at(-1)?.includes('"idle"'),
        );
      });

      it('keeps the present certificate when the broker refuses the new one', async () => {
        const both = join(broker.folder, 'both.crt');
        const own = readFileSync(join(broker.login('museum.kiosk-02'), 'broker-ca.crt'), 'utf8');
        writeFileSync(both, `${own}${strange.certificate}`);
        await run(broker, 'kiosk-02', { caFile: both });
        const { id, csr } = JSON.parse(told('kiosk-02', 'cert/req').at(-1) ?? '{}') as {
          id: string;
          csr: string;
        };
        const certificate = strange.issue(csr, { from: Date.now() - DAY_MS, to: Date.now() + 90 * DAY_MS });
        const body = { id: 'by-hand', args: { request: id, certificate } };
        await viewer.mqtt.publishAsync(`${BASE}/kiosk-02/cmd/certificate`, JSON.stringify(body), { qos: 1 });
        await until(() => told('kiosk-02', 'event/certificate_problem').length > 0, 'the event');
        expect(told('kiosk-02', 'event/certificate_problem')[0]).toContain('the broker does not accept');
        expect(told('kiosk-02', 'event/certificate_renewed')).toEqual([]);
        await until(() => kept('kiosk-02').successor === null, 'the file');
        expect(kept('kiosk-02').present).toBeNull();
      });

      it('requires a signature when the owner has keys', async () => {
        const profile = join(broker.folder, 'home/dragoman/ctl.json');
        const signing = readFileSync(profile, 'utf8');
        const { profiles } = JSON.parse(signing) as { profiles: { museum: Record<string, unknown> } };
        const { signingKeyFile: _, ...museum } = profiles.museum;
        writeFileSync(profile, JSON.stringify({ profiles: { museum } }));
        await run(broker, 'kiosk-03', { publicKeyFiles: [join(broker.folder, OWNER_KEY)] });
        const unsigned = await renew('kiosk-03', '--json');
        expect(JSON.parse(unsigned.out)).toMatchObject({
          device: 'museum/kiosk-03',
          status: 'refused',
          message: expect.stringContaining('must be signed') as string,
        });
        expect(unsigned.exitCode).toBe(1);
        writeFileSync(profile, signing);
        expect((await renew('kiosk-03')).out).toMatch(/kiosk-03 {2}renewed/);
      });
    },
  );
}
