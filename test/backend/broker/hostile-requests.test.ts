/** Devices with valid logins that request certificates for others: `devices renew` at a real mosquitto. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRequest } from '../../../src/adapters/certificates/certificate-request.ts';
import { operatorClientId } from '../../../src/adapters/ctl/operator-client.ts';
import { openProfile } from '../../../src/adapters/ctl/profile.ts';
import { renewDevices } from '../../../src/backend/broker/renewals.ts';
import { findMosquitto, findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { createJumpingClock } from '../watch/jumping-clock.ts';
import { backend, type Client, matching, type Ran, type SetUp, setUpBroker } from './set-up-broker.ts';

const missing = findMosquitto() === null || !findOpenssl();
const BASE = 'dragoman/v1/museum';

const csr = (...words: string[]): string => {
  const made = spawnSync('openssl', ['req', '-new', '-nodes', '-keyout', '/dev/null', ...words]);
  return String(made.stdout);
};

const request = (pem: string, more: object = {}): string =>
  JSON.stringify({ ts: null, id: `r-${Math.random()}`, csr: pem, valid_to: null, ...more });

/** How a device asks, by its name. */
const HOSTILE: readonly (readonly [kind: string, payload: (name: string) => string, message: RegExp])[] = [
  ['that is not JSON', () => 'hello', /cannot be read/],
  ['that is a list', () => '[]', /cannot be read/],
  ['without an id', (name) => JSON.stringify({ csr: createRequest(name).request }), /cannot be read/],
  ['of 200 KB', () => request('A'.repeat(200_000)), /cannot be read/],
  [
    'nested without end',
    () => request('x', { x: 0 }).replace('0}', `${'['.repeat(30_000)}${']'.repeat(30_000)}}`),
    /cannot be read/,
  ],
  ['without a request in it', () => request('hello'), /damaged, or not of a P-256 key/],
  [
    'in the name of another device',
    () => request(createRequest('museum.kiosk-01').request),
    /museum.kiosk-01/,
  ],
  [
    'in the name of the broker',
    () => request(createRequest('127.0.0.1').request),
    /for the name "127.0.0.1"/,
  ],
  ['in the name of a person', () => request(createRequest('administrator').request), /"administrator"/],
  ['with two names', (name) => request(csr('-subj', `/CN=${name}/CN=museum.kiosk-01`)), /damaged/],
  ['with an RSA key', (name) => request(csr('-newkey', 'rsa:2048', '-subj', `/CN=${name}`)), /P-256/],
  [
    'with the key of another device and without its signature',
    (name) => {
      const [mine, theirs] = [createRequest(name), createRequest(name)];
      const bytes = (pem: string) => Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64');
      const forged = bytes(mine.request);
      // The point on the curve has the same offset in both.
      bytes(theirs.request).copy(forged, 60, 60, 125);
      return request(
        `-----BEGIN CERTIFICATE REQUEST-----\n${forged.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`,
      );
    },
    /damaged/,
  ],
];

describe('a request for a certificate', needs(missing && 'needs mosquitto, openssl'), () => {
  let broker: SetUp;
  let hostile: Client;
  beforeAll(async () => {
    broker = await setUpBroker('dynsec', 'certificate');
    const hostiles = HOSTILE.map((_, index) => `hostile-${index}`);
    expect((await backend(['devices', 'add', ...hostiles, '--broker', broker.folder])).exitCode).toBe(0);
    await broker.start();
    hostile = await broker.connect('museum.kiosk-02');
    const home = join(broker.folder, 'home');
    mkdirSync(home);
    cpSync(broker.login('administrator'), join(home, 'dragoman'), { recursive: true });
  });
  afterAll(async () => {
    await broker?.close();
  });

  const renew = (...more: string[]): Promise<Ran> => {
    const env = { PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: join(broker.folder, 'home') };
    return backend(['devices', 'renew', '--broker', broker.folder, '--wait', '3', '--json', ...more], env);
  };
  const ask = (payload: string, device = 'kiosk-02', from = hostile): Promise<unknown> =>
    from.mqtt.publishAsync(`${BASE}/${device}/cert/req`, payload, { qos: 1, retain: true }).catch(() => null);
  const setup = (): string => readFileSync(join(broker.folder, 'setup.json'), 'utf8');

  describe('when devices of each hostile kind ask at once', () => {
    let before: string;
    let ran: Ran;
    beforeAll(async () => {
      for (const [index, [, payload]] of HOSTILE.entries()) {
        const name = `hostile-${index}`;
        await ask(payload(`museum.${name}`), name, await broker.connect(`museum.${name}`));
      }
      await ask(request(createRequest('museum.kiosk-01').request), 'kiosk-01');
      const disabled = await broker.connect('museum.kiosk-03');
      await ask(request(createRequest('museum.kiosk-03').request), 'kiosk-03', disabled);
      expect((await backend(['devices', 'disable', 'kiosk-03', '--broker', broker.folder])).exitCode).toBe(0);
      before = setup();
      ran = await renew();
    });
    const answersTo = (device: string): unknown[] =>
      ran.out
        .trim()
        .split('\n')
        .map((line) => JSON.parse(line) as { device: string })
        .filter((answer) => answer.device === `museum/${device}`);

    it.each(HOSTILE.map(([kind, , message], index) => [kind, index, message] as const))(
      '%s gets no certificate',
      (_, index, message) => {
        expect(answersTo(`hostile-${index}`)).toMatchObject([
          { status: 'refused', message: matching(message) },
        ]);
      },
    );

    it('gets no certificate when it is the retained request of a disabled device', () => {
      expect(answersTo('kiosk-03')).toMatchObject([{ status: 'refused', message: matching(/disabled/) }]);
    });

    it('for another device reaches no administrator', () => {
      expect(answersTo('kiosk-01')).toEqual([]);
    });

    it('changes nothing in the set-up', () => {
      expect(ran.exitCode).toBe(1);
      expect(setup()).toBe(before);
    });
  });

  it('gets one certificate when repeated, and a device that does not use it is reported', async () => {
    const before = setup().match(/"serial"/g)?.length ?? 0;
    await ask(request(createRequest('museum.kiosk-02').request));
    const flood = setInterval(() => void ask(request(createRequest('museum.kiosk-02').request)), 100);
    const ran = await renew('kiosk-02').finally(() => clearInterval(flood));
    expect(JSON.parse(ran.out)).toMatchObject({ status: 'silent', message: null });
    expect(ran.exitCode).toBe(4);
    expect(setup().match(/"serial"/g)).toHaveLength(before + 1);
  });

  it('is heard when the administrator connects slowly', async () => {
    await ask(request('hello'));
    const clock = createJumpingClock();
    const env = { XDG_CONFIG_HOME: join(broker.folder, 'home') };
    const renewing = renewDevices({
      folder: broker.folder,
      access: openProfile(undefined, env, operatorClientId()),
      clock,
      days: 1,
      only: ['kiosk-02'],
      waitMs: 60_000,
      prompt: [],
      until: null,
      report: () => {},
    });
    // Longer than the silence after which all requests have arrived.
    clock.jump(3000);
    expect(await renewing).toMatchObject([{ status: 'refused' }]);
  });

  it('gets its answer from administrators only', async () => {
    const operator = join(broker.folder, 'operator');
    mkdirSync(operator);
    cpSync(broker.login('operator'), join(operator, 'dragoman'), { recursive: true });
    const env = { PATH: process.env['PATH'] ?? '', XDG_CONFIG_HOME: operator };
    const ran = await backend(['devices', 'renew', '--broker', broker.folder, '--wait', '3'], env);
    expect(ran).toMatchObject({ exitCode: 1, err: matching(/does not allow us to subscribe/) });
    await until(() => !hostile.closed());
  });
});
