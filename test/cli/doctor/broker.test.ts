import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { createMqttBus } from '../../../src/adapters/mqtt/bus.ts';
import { startBroker } from '../../../src/cli/demo/broker.ts';
import { startScriptedBroker } from '../../adapters/mqtt/loopback-servers.ts';
import {
  findMosquitto,
  findOpenssl,
  type Mosquitto,
  makeCertificates,
  type PemPair,
  startMosquitto,
} from '../../adapters/mqtt/mosquitto.ts';
import { createLoopbackTime } from '../../loopback-time.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { createConsultation } from './consultation.ts';

const mosquitto = findMosquitto();
const hasOpenssl = findOpenssl();
const fixture = createConsultation();
const RUN_AS_ROOT = process.getuid?.() === 0 ? ['user root'] : [];
const running: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of running.splice(0)) await one.close();
});
afterAll(() => fixture.close());

let names = 0;
const examineBroker = (mqtt: Record<string, unknown>, ...more: string[]) =>
  fixture.examine(fixture.config(`broker-${names++}`, { mqtt }), ['--only', 'broker', ...more]);
const BACKEND_TOO = ['--only', 'backend'];

describe('the connection to the broker', () => {
  it('fails when the host name is unknown', async () => {
    const { exitCode, of } = await examineBroker({ url: 'mqtts://broker.invalid:1883' }, ...BACKEND_TOO);
    expect(exitCode).toBe(3);
    expect(of('broker')).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('broker.invalid'),
      fix: expect.stringContaining('mqtt.url'),
    });
    expect(of('backend').verdict).toBe('skipped');
  });

  it('fails when the server does not speak MQTT', async () => {
    const scripted = await startScriptedBroker(
      (_, socket) => void socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'),
    );
    running.push(scripted);
    const { exitCode, of } = await examineBroker({ url: scripted.url });
    expect(exitCode).toBe(3);
    expect(of('broker')).toMatchObject({ verdict: 'problem', data: { connect_ms: expect.any(Number) } });
  });

  it('fails when the port does not speak TLS', async () => {
    const scripted = await startScriptedBroker((_, socket) => void socket.end('who are you?\r\n'));
    running.push(scripted);
    const { of } = await examineBroker({ url: scripted.url.replace('mqtt:', 'mqtts:') });
    expect(of('broker')).toMatchObject({
      verdict: 'problem',
      fix: expect.stringContaining('does not speak TLS'),
    });
  });
});

it('reports that no backend answers', async () => {
  const time = createLoopbackTime(Date.now());
  const broker = await startBroker();
  running.push(broker);
  const file = fixture.config('no-backend', { mqtt: { url: broker.url } });
  const words = ['--only', 'broker', ...BACKEND_TOO];
  const { exitCode, of } = await time.pass(fixture.examine(file, words, undefined, time.clock));
  time.close();
  expect(of('broker').verdict).not.toBe('problem');
  expect(of('backend')).toMatchObject({
    verdict: 'problem',
    finding: 'no backend answered within 12 s',
    fix: expect.stringContaining('dragoman/v1/museum/kiosk-01/token/req'),
    data: { took_ms: expect.closeTo(12_000, -3) },
  });
  expect(exitCode).toBe(3);
});

describe(
  'logging in at mosquitto (skipped where it is not installed)',
  needs(mosquitto === null && 'needs mosquitto'),
  () => {
    const start = async (lines: (folder: string) => string[]): Promise<Mosquitto> => {
      const broker = await startMosquitto(mosquitto ?? '', (folder) => [...RUN_AS_ROOT, ...lines(folder)]);
      running.push(broker);
      return broker;
    };
    const withUser = (acl: string | null) => (folder: string) => {
      execFileSync('mosquitto_passwd', ['-c', '-b', join(folder, 'users'), 'kiosk-01', 'right']);
      if (acl !== null) writeFileSync(join(folder, 'acl'), acl, { mode: 0o600 });
      return [
        'allow_anonymous false',
        `password_file ${join(folder, 'users')}`,
        ...(acl === null ? [] : [`acl_file ${join(folder, 'acl')}`]),
      ];
    };
    const asKiosk = (url: string, password: string) => ({
      url,
      username: 'kiosk-01',
      passwordFile: fixture.secret(`password-${names++}`, password),
    });

    it('works with the right password', async () => {
      const broker = await start(withUser(null));
      const { exitCode, of } = await examineBroker(asKiosk(broker.url, 'right'));
      expect(of('broker')).toMatchObject({
        verdict: 'ok',
        data: { mqtt: 'MQTT 5', login_as: 'doctor', subscriptions: expect.any(Number) },
      });
      expect(exitCode).toBe(0);
    });

    it('fails with a wrong password, and does not print it', async () => {
      const broker = await start(withUser(null));
      const { of, printed } = await examineBroker(asKiosk(broker.url, 'wr0ng-one'));
      expect(of('broker')).toMatchObject({
        verdict: 'problem',
        finding: expect.stringMatching(/refused the connection/),
        fix: expect.stringMatching(/user "kiosk-01".*mqtt\.passwordFile/),
      });
      expect(printed).not.toContain('wr0ng-one');
    });

    it('reports that the broker does not allow token requests', async () => {
      // mosquitto accepts every subscription regardless of its list, and rejects publications.
      const broker = await start(withUser('user kiosk-01\ntopic read dragoman/v1/museum/kiosk-01/#\n'));
      const { of } = await examineBroker(asKiosk(broker.url, 'right'), ...BACKEND_TOO);
      expect(of('broker').verdict).toBe('ok');
      expect(of('backend')).toMatchObject({
        verdict: 'problem',
        finding: 'the broker does not let this device publish dragoman/v1/museum/kiosk-01/token/req',
        fix: expect.stringContaining('access list'),
      });
    });

    it.each([
      ['retain_available false', 'retain', /no retained messages/],
      ['max_qos 0', 'qos', /QoS 0 only/],
    ])('causes a warning when the broker has %s', async (line, limit, words) => {
      const broker = await start(() => ['allow_anonymous true', line]);
      const { of } = await examineBroker({ url: broker.url });
      expect(of('broker')).toMatchObject({
        verdict: 'warning',
        finding: expect.stringMatching(words),
        data: { limits: [limit] },
      });
    });

    it('does not disconnect a running device, and triggers no "lost"', async () => {
      const broker = await start(() => ['allow_anonymous true']);
      const downs: string[] = [];
      const heard: string[] = [];
      let ups = 0;
      const device = createMqttBus(
        { url: broker.url, clientId: 'museum.kiosk-01' },
        { clock: createSystemClock(), seed: 1 },
      )(
        { subscriptions: ['dragoman/v1/museum/kiosk-01/status'], will: null },
        {
          up: () => {
            ups += 1;
          },
          down: (_, message) => void downs.push(message),
          message: ({ topic }) => void heard.push(topic),
        },
      );
      running.push({ close: () => device.close() });
      await until(() => ups === 1, 'the device');
      const { of } = await examineBroker({ url: broker.url });
      expect(of('broker').verdict).toBe('ok');
      expect(downs).toEqual([]);
      expect(heard).toEqual([]);
      expect(device.connected).toBe(true);
    });
  },
);

describe(
  'the certificate of the broker (skipped without mosquitto or openssl)',
  needs((mosquitto === null || !hasOpenssl) && 'needs mosquitto, openssl'),
  () => {
    let pems: ReturnType<typeof makeCertificates>;
    let expired: PemPair;
    let soon: PemPair;
    beforeAll(() => {
      pems = makeCertificates(fixture.folder);
      expired = issue('expired', ['-not_before', '20200101000000Z', '-not_after', '20200201000000Z']);
      soon = pems.server;
    });
    /** Only openssl's `ca` command can set certificate dates in every version; `x509` can only in the newest. */
    function issue(name: string, dates: readonly string[]): PemPair {
      const folder = fixture.folder;
      const pair = { crt: join(folder, `${name}.crt`), key: join(folder, `${name}.key`) };
      const openssl = (...args: string[]): void => {
        execFileSync('openssl', args, { cwd: folder, stdio: 'ignore' });
      };
      writeFileSync(join(folder, 'index.txt'), '');
      writeFileSync(join(folder, 'serial'), '1000\n');
      writeFileSync(
        join(folder, 'ca.cnf'),
        [
          '[ca]',
          'default_ca = own',
          '[own]',
          'database = index.txt',
          'serial = serial',
          'new_certs_dir = .',
          'default_md = sha256',
          'policy = any',
          'x509_extensions = names',
          '[any]',
          'commonName = supplied',
          '[names]',
          'subjectAltName = IP:127.0.0.1',
          '',
        ].join('\n'),
      );
      const key = [
        '-newkey',
        'ec',
        '-pkeyopt',
        'ec_paramgen_curve:prime256v1',
        '-nodes',
        '-keyout',
        pair.key,
      ];
      openssl('req', '-new', ...key, '-out', `${name}.csr`, '-subj', `/CN=${name}`);
      const by = ['-config', 'ca.cnf', '-batch', '-notext', '-cert', 'ca.crt', '-keyfile', 'ca.key'];
      const [, from = '', , to = ''] = dates;
      openssl('ca', ...by, '-in', `${name}.csr`, '-out', pair.crt, '-startdate', from, '-enddate', to);
      return pair;
    }
    const startTls = async (pair: PemPair, more: string[] = []): Promise<string> => {
      const broker = await startMosquitto(mosquitto ?? '', () => [
        ...RUN_AS_ROOT,
        'allow_anonymous true',
        `certfile ${pair.crt}`,
        `keyfile ${pair.key}`,
        ...more,
      ]);
      running.push(broker);
      return broker.url.replace('mqtt:', 'mqtts:');
    };

    it('causes a warning when it expires within a few days', async () => {
      const { of } = await examineBroker({ url: await startTls(soon), caFile: pems.ca.crt });
      expect(of('broker')).toMatchObject({
        verdict: 'warning',
        finding: expect.stringMatching(
          /certificate of 127\.0\.0\.1 is good only until 20\d\d-\d\d-\d\d \([12] days?\)/,
        ),
        data: { mqtt: 'MQTT 5', certificate_names: ['IP Address:127.0.0.1'] },
      });
    });

    it('is reported with its date when it has expired', async () => {
      const { of } = await examineBroker({ url: await startTls(expired), caFile: pems.ca.crt });
      expect(of('broker')).toMatchObject({
        verdict: 'problem',
        finding: 'the certificate of 127.0.0.1 ended on 2020-02-01',
        fix: expect.stringMatching(/renewed.*date/),
      });
    });

    it('is rejected when another authority issued it', async () => {
      const { of } = await examineBroker({ url: await startTls(soon), caFile: pems.otherCa.crt });
      expect(of('broker')).toMatchObject({
        verdict: 'problem',
        finding: expect.stringContaining('issued by ca'),
        fix: expect.stringContaining('mqtt.caFile'),
      });
    });

    it('is rejected when it is for another host name', async () => {
      const url = (await startTls(soon)).replace('127.0.0.1', 'localhost');
      const { of } = await examineBroker({ url, caFile: pems.ca.crt });
      expect(of('broker')).toMatchObject({
        verdict: 'problem',
        finding: 'the certificate of localhost is for IP Address:127.0.0.1',
      });
    });

    it('requires a client certificate: reports a missing one, and warns when it expires soon', async () => {
      const url = await startTls(soon, [`cafile ${pems.ca.crt}`, 'require_certificate true']);
      const without = await examineBroker({ url, caFile: pems.ca.crt });
      expect(without.of('broker').verdict).toBe('problem');
      const { crt: certFile, key: keyFile } = pems.client;
      execFileSync('chmod', ['600', keyFile]);
      const withOurs = await examineBroker({ url, caFile: pems.ca.crt, certFile, keyFile });
      expect(withOurs.of('broker')).toMatchObject({
        verdict: 'warning',
        finding: expect.stringMatching(/client certificate in mqtt\.certFile ends on/),
      });
      expect(withOurs.printed).not.toContain(readFileSync(keyFile, 'utf8').split('\n')[1]);
    });
  },
);
