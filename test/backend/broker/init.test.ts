import { spawnSync } from 'node:child_process';
import { X509Certificate } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findMosquitto, findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { needs } from '../../needs.ts';
import { until } from '../../until.ts';
import { backend, setUpBroker } from './set-up-broker.ts';

const hasOpenssl = findOpenssl();
let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dragoman-init-'));
});
afterEach(() => {
  rmSync(root, { recursive: true, force: true });
});

const init = (folder: string, ...more: string[]) =>
  backend(['broker', 'init', folder, '--tenant', 'museum', '--host', 'broker.example', ...more]);
const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath ?? entry.path, entry.name).slice(folder.length + 1))
    .sort();

describe(
  `broker init${hasOpenssl ? '' : ': openssl is not installed'}`,
  needs(!hasOpenssl && 'needs openssl'),
  () => {
    it('writes private files for the broker, the owner and each login', async () => {
      const folder = join(root, 'museum');
      const ran = await init(folder, '--person', 'anna=administrator', '--json');
      expect(ran.err).toBe('');
      expect(JSON.parse(ran.out)).toEqual({
        broker: { folder, handed_out: [join(folder, 'logins/backend'), join(folder, 'logins/anna')] },
      });
      expect(filesIn(folder)).toEqual([
        'README.txt',
        'authority/ca.crt',
        'authority/ca.key',
        ...['ca.crt', 'dynamic-security.json', 'mosquitto.conf', 'server.crt', 'server.key'].map(
          (name) => `broker/${name}`,
        ),
        ...['broker-ca.crt', 'ctl.json', 'mqtt-password', 'signing.key.pem'].map(
          (name) => `logins/anna/${name}`,
        ),
        ...['backend.json', 'broker-ca.crt', 'mqtt-password', 'signing.key.pem'].map(
          (name) => `logins/backend/${name}`,
        ),
        'owner.pub.pem',
        'setup.json',
      ]);
      for (const file of filesIn(folder)) expect(statSync(join(folder, file)).mode & 0o077, file).toBe(0);
      const profiles = JSON.parse(readFileSync(join(folder, 'logins/anna/ctl.json'), 'utf8')).profiles;
      expect(profiles.museum.setupFile).toBe(join(folder, 'setup.json'));
      // Only the login folders contain passwords.
      const password = readFileSync(join(folder, 'logins/anna/mqtt-password'), 'utf8');
      expect(password).toHaveLength(32);
      const holding = filesIn(folder).filter((file) =>
        readFileSync(join(folder, file), 'utf8').includes(password),
      );
      expect(holding).toEqual(['logins/anna/mqtt-password']);
      expect(ran.out).not.toContain(password);
      const read = (file: string) => new X509Certificate(readFileSync(join(folder, file)));
      expect(read('broker/server.crt').checkHost('broker.example')).toBe('broker.example');
      expect(read('broker/server.crt').verify(read('authority/ca.crt').publicKey)).toBe(true);
      expect(read('broker/server.crt').ca).toBe(false);
      const verified = spawnSync('openssl', [
        'verify',
        '-x509_strict',
        '-purpose',
        'sslserver',
        '-CAfile',
        join(folder, 'authority/ca.crt'),
        join(folder, 'broker/server.crt'),
      ]);
      expect(String(verified.stdout)).toContain('OK');
    });

    it('certifies devices under their names when the key of the authority is brought back', async () => {
      const folder = join(root, 'museum');
      await init(folder, '--device-login', 'certificate');
      rmSync(join(folder, 'authority/ca.key'));
      const without = await backend(['devices', 'add', 'kiosk-01', '--broker', folder]);
      expect(without.exitCode).toBe(1);
      expect(without.err).toMatch(
        /authority's key .*ca\.key cannot be read \(there is no such file or folder\): copy it/,
      );
      expect(readdirSync(join(folder, 'logins'))).not.toContain('museum.kiosk-01');
      rmSync(folder, { recursive: true });
      await init(folder, '--device-login', 'certificate');
      const added = await backend(['devices', 'add', 'kiosk-01', '--broker', folder]);
      expect(added.exitCode).toBe(0);
      const own = join(folder, 'logins/museum.kiosk-01');
      expect(readdirSync(own).sort()).toEqual(['broker-ca.crt', 'broker.json', 'mqtt.crt', 'mqtt.key']);
      expect(new X509Certificate(readFileSync(join(own, 'mqtt.crt'))).subject).toBe('CN=museum.kiosk-01');
      const long = `${'a'.repeat(60)}/${'b'.repeat(60)}`;
      const tooLong = await backend(['devices', 'add', long, '--broker', folder]);
      expect([tooLong.exitCode, tooLong.err]).toEqual([
        1,
        expect.stringContaining('too long for a certificate'),
      ]);
    });

    it.each([
      [['--tenant', 'Museum'], '--tenant must be 1 to 64'],
      [['--host', 'broker example'], '--host must be a host name'],
      [['--host', 'a\nallow_anonymous true'], '--host must be a host name'],
      [['--installed-at', '/etc/a b'], '--installed-at must be a path without spaces'],
      [
        ['--person', 'anna=root'],
        '--person must be NAME=ROLE with a role of viewer, operator, administrator',
      ],
      [['--person', 'museum.kiosk-01=viewer'], '--person must be 1 to 64'],
      [['--person', 'backend=viewer'], 'must not be "backend"'],
      [['--person', 'a=viewer', '--person', 'a=operator'], 'names "a" twice'],
      [['--prefix', 'a/#'], '--prefix must be MQTT topic levels'],
      [['--device-port', '0'], 'from 1 to 65535'],
      [['--device-port', '8884'], 'must differ'],
      [['--form', 'plugin'], 'Allowed choices are dynsec, acl'],
    ])('refuses %j and writes no file', async (more, why) => {
      const folder = join(root, 'museum');
      const ran = await init(folder, ...more);
      expect([ran.exitCode, ran.err]).toEqual([2, expect.stringContaining(why)]);
      expect(existsSync(folder)).toBe(false);
    });

    it('names a broker with letters beyond ASCII by its ASCII form', async () => {
      const ran = await init(join(root, 'museum'), '--host', 'müsli.example');
      expect(ran.exitCode).toBe(0);
      const setup = JSON.parse(readFileSync(join(root, 'museum/setup.json'), 'utf8')) as { host: string };
      expect(setup.host).toBe('xn--msli-0ra.example');
    });

    it('does not change a folder that is not empty', async () => {
      mkdirSync(join(root, 'full'));
      writeFileSync(join(root, 'full/mine'), 'x');
      const ran = await init(join(root, 'full'));
      expect([ran.exitCode, ran.err]).toEqual([1, expect.stringContaining('is not empty')]);
      expect(filesIn(join(root, 'full'))).toEqual(['mine']);
    });

    it('reports that openssl is missing', async () => {
      const path = process.env['PATH'];
      process.env['PATH'] = root;
      try {
        const ran = await init(join(root, 'museum'));
        expect([ran.exitCode, ran.err]).toEqual([1, expect.stringContaining('openssl is needed')]);
        expect(existsSync(join(root, 'museum'))).toBe(false);
      } finally {
        process.env['PATH'] = path;
      }
    });
  },
);

describe('devices', needs(!hasOpenssl && 'needs openssl'), () => {
  const run = (...argv: string[]) => backend([...argv, '--broker', join(root, 'museum')]);
  beforeEach(async () => {
    await init(join(root, 'museum'));
  });

  it('adds devices with their part of the configuration, lists, disables and changes them', async () => {
    const added = await run('devices', 'add', 'kiosk-01', 'castle/hall', '--group', 'lobby', '--json');
    const { devices } = JSON.parse(added.out) as { devices: { device: string; config: object }[] };
    expect(devices.map(({ device }) => device)).toEqual(['museum/kiosk-01', 'castle/hall']);
    expect(devices[0]?.config).toEqual({
      device: { tenant: 'museum', id: 'kiosk-01', groups: ['lobby'] },
      mqtt: {
        url: 'mqtts://broker.example:8883',
        prefix: 'dragoman/v1',
        username: 'museum.kiosk-01',
        passwordFile: 'mqtt-password',
        caFile: 'broker-ca.crt',
      },
    });
    expect((await run('devices', 'disable', 'kiosk-01')).exitCode).toBe(0);
    expect((await run('devices', 'set', 'castle/hall', '--group', 'tower')).exitCode).toBe(0);
    expect((await run('devices', 'list')).out).toBe(
      'museum/kiosk-01  disabled  lobby\ncastle/hall  password  tower\n',
    );
    const rules = readFileSync(join(root, 'museum/broker/dynamic-security.json'), 'utf8');
    expect(rules).not.toContain('museum.kiosk-01');
    expect(rules).toContain('dragoman/v1/castle/group/tower/cmd/+');
    expect((await run('devices', 'set', 'kiosk-01', '--enable', '--no-groups')).exitCode).toBe(0);
    expect((await run('devices', 'list')).out).toContain('museum/kiosk-01  password\n');
  });

  it.each([
    [['add', 'kiosk-01', 'kiosk-01'], 2, 'named twice'],
    [['add', 'group'], 2, 'the device "group" must not be'],
    [['add', 'a/b/c'], 2, 'must be a device, or tenant/device'],
    [['add', 'Kiosk'], 2, 'must be 1 to 64'],
    [['add', 'kiosk-01', '--group', '#'], 2, '--group "#" must be 1 to 64'],
    [['add', 'kiosk-01', '--files', 'a b'], 2, '--files must be a path'],
    [['disable', 'kiosk-09'], 2, 'has no login here'],
    [['set', 'kiosk-09'], 2, 'nothing to set'],
  ])('refuses %j and changes no file', async (argv, code, why) => {
    const before = filesIn(join(root, 'museum'));
    const ran = await run('devices', ...argv);
    expect([ran.exitCode, ran.err]).toEqual([code, expect.stringContaining(why)]);
    expect(filesIn(join(root, 'museum'))).toEqual(before);
  });

  it('names the problem of a folder that is not a set-up or was edited', async () => {
    const none = await backend(['devices', 'list', '--broker', root]);
    expect([none.exitCode, none.err]).toEqual([
      2,
      expect.stringContaining('cannot be read (there is no such file or folder)'),
    ]);
    const file = join(root, 'museum/setup.json');
    const setup = JSON.parse(readFileSync(file, 'utf8')) as object;
    writeFileSync(file, JSON.stringify({ ...setup, host: 'a\nb' }));
    const wrong = await run('devices', 'list');
    expect([wrong.exitCode, wrong.err]).toEqual([2, expect.stringContaining('host: must be a host name')]);
    writeFileSync(file, '{');
    expect((await run('devices', 'list')).err).toContain('is not JSON');
  });
});

const missing = findMosquitto() === null || !hasOpenssl;
describe(
  missing ? 'limits: mosquitto or openssl is not installed' : 'the limits',
  needs(missing && 'needs mosquitto, openssl'),
  () => {
    const ASKED = 3000;
    const MARKER = '{"id":"behind"}';
    /** Number of requests that reach a backend that reads none until all are sent. */
    const arrive = async (change: (conf: string) => string): Promise<number> => {
      const broker = await setUpBroker('dynsec', 'password');
      try {
        const conf = join(broker.folder, 'broker/mosquitto.conf');
        writeFileSync(conf, change(readFileSync(conf, 'utf8')));
        await broker.start();
        const [slow, device] = [await broker.connect('backend'), await broker.connect('museum.kiosk-01')];
        await slow.mqtt.subscribeAsync('dragoman/v1/+/+/token/req', { qos: 1 });
        let release = (): void => {};
        const held = new Promise<void>((resolve) => {
          release = resolve;
        });
        slow.mqtt.handleMessage = (_, done) => void held.then(() => done());
        const topic = 'dragoman/v1/museum/kiosk-01/token/req';
        for (let i = 0; i < ASKED; i += 1) device.mqtt.publish(topic, `{"id":"${i}"}`, { qos: 1 });
        await device.mqtt.publishAsync('dragoman/v1/museum/kiosk-01/status', '{}', { qos: 1 });
        release();
        // A marker arrives after all messages in the broker's queue; without room in the queue it is lost like the others.
        const isMarker = ({ text }: { readonly text: string }): boolean => text === MARKER;
        const mark = (): void => void device.mqtt.publish(topic, MARKER, { qos: 1 });
        mark();
        const marking = setInterval(mark, 300);
        await until(() => slow.got.some(isMarker), 'the marker').finally(() => clearInterval(marking));
        return slow.got.findIndex(isMarker);
      } finally {
        await broker.close();
      }
    };

    it('lose no request when a whole fleet asks at once, unlike the defaults of mosquitto', async () => {
      expect(await arrive((conf) => conf)).toBe(ASKED);
      const usual = (conf: string): string => conf.replace(/^max_queued_.*$/gm, '');
      expect(await arrive(usual)).toBeLessThan(ASKED);
    });
  },
);
