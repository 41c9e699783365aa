import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createKeyPair, parsePrivateKey, readPublicKey } from '../../../src/adapters/signing/signing-keys.ts';
import { findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { createSystem } from '../../installer/system-folder.ts';
import { needs } from '../../needs.ts';
import { backend } from './set-up-broker.ts';

const hasOpenssl = findOpenssl();
/** Debian's cloud-init, which checks user-data with the same schema as Raspberry Pi OS. */
const hasCloudInit = existsSync('/usr/bin/cloud-init');
const hasYaml = spawnSync('python3', ['-c', 'import yaml']).status === 0;

const SSH_KEY =
  'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIG4zVmFiIxo8MqeV1wtxgk8K9fAQl/M1ml55UvDSaMLv anna@müseum';
const TEMPLATE = {
  wifi: { ssid: 'Museum', passphrase: 'correct horse', country: 'DE' },
  address: { address: '10.0.0.1{n}/24', gateway: '10.0.0.1', dns: [] },
  timeZone: 'Europe/Berlin',
  config: {
    device: { label: 'Desk {n}' },
    service: { hosts: ['stream.example'] },
    lanes: [{ source: 'en', targets: ['es'] }],
  },
};

let root: string;
let museum: string;
let out: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dragoman-template-'));
  [museum, out] = [join(root, 'museum'), join(root, 'cards')];
});
afterEach(() => rmSync(root, { recursive: true, force: true }));

const init = (...more: string[]) =>
  backend(['broker', 'init', museum, '--tenant', 'museum', '--host', 'broker.example', ...more]);
const template = (content: unknown, ...more: string[]) => {
  const file = join(root, 'kiosk.json');
  const isRaw = typeof content === 'string' || Buffer.isBuffer(content);
  writeFileSync(file, isRaw ? content : JSON.stringify(content));
  return backend([
    'devices',
    'template',
    out,
    '--broker',
    museum,
    '--template',
    file,
    '--name',
    'kiosk-{n}',
    ...more,
  ]);
};
const listed = async (): Promise<{ device: string; groups: string[]; login: string }[]> =>
  JSON.parse((await backend(['devices', 'list', '--broker', museum, '--json'])).out).devices;
const fileOf = (device: string, name = 'dragoman.json') => readFileSync(join(out, device, name), 'utf8');

describe(
  `devices template${hasOpenssl ? '' : ': openssl is not installed'}`,
  needs(!hasOpenssl && 'needs openssl'),
  () => {
    it('makes twenty files from one template, each with its own login, and each device accepts its file', async () => {
      await init();
      const owner = join(root, 'owner.pub.pem');
      writeFileSync(owner, createKeyPair().publicPem);
      const ran = await template(TEMPLATE, '--count', '20', '--group', 'lobby', '--owner-key', owner);
      expect([ran.err, ran.exitCode]).toEqual(['', 0]);
      expect(ran.out).toContain(`museum/kiosk-20  ${join(out, 'kiosk-20/dragoman.json')}`);
      const devices = await listed();
      expect(devices.map(({ device }) => device)).toEqual(readdirSync(out).map((name) => `museum/${name}`));
      expect(devices).toHaveLength(20);
      expect(devices[6]).toMatchObject({ device: 'museum/kiosk-07', groups: ['lobby'], login: 'password' });
      // The logins are in no second place.
      expect(readdirSync(join(museum, 'logins'))).toEqual(['administrator', 'backend', 'operator', 'viewer']);
      const passwords = new Set(
        readdirSync(out).map((name) => JSON.parse(fileOf(name)).secrets['mqtt-password']),
      );
      expect(passwords.size).toBe(20);
      for (const name of readdirSync(out))
        expect([
          statSync(join(out, name)).mode & 0o777,
          statSync(join(out, name, 'dragoman.json')).mode & 0o777,
        ]).toEqual([0o700, 0o600]);
      expect(JSON.parse(fileOf('kiosk-07'))).toMatchObject({
        format: 1,
        address: { address: '10.0.0.107/24' },
        config: {
          device: { id: 'kiosk-07', tenant: 'museum', groups: ['lobby'], label: 'Desk 07' },
          mqtt: { url: 'mqtts://broker.example:8883', username: 'museum.kiosk-07' },
        },
      });
      const system = createSystem();
      system.write('dragoman.json', fileOf('kiosk-20'));
      expect(system.run({ wall: null }).result).toMatchObject({ outcome: 'applied', problems: [] });
      expect(system.text('etc/dragoman/conf.d/zz-provisioned.json')).toContain(
        '/etc/dragoman/owner-1.pub.pem',
      );
      system.remove();
    });

    it('gives every device the owner key of the set-up when none is named', async () => {
      await init();
      expect(await template(TEMPLATE)).toMatchObject({ err: '', exitCode: 0 });
      const { ownerKeysPem, config } = JSON.parse(fileOf('kiosk-01'));
      expect(ownerKeysPem).toEqual([readFileSync(join(museum, 'owner.pub.pem'), 'utf8')]);
      expect(config.service.hosts).toEqual(['stream.example']);
      // The backend and the administrator sign with the same pair.
      for (const [login, file] of [
        ['backend', 'backend.json'],
        ['administrator', 'ctl.json'],
      ] as const) {
        const folder = join(museum, 'logins', login);
        const settings = JSON.parse(readFileSync(join(folder, file), 'utf8'));
        const { signingKeyFile } = login === 'backend' ? settings : settings.profiles.museum;
        const key = readFileSync(join(folder, signingKeyFile), 'utf8');
        expect(parsePrivateKey(key, signingKeyFile).kid).toBe(
          readPublicKey(join(museum, 'owner.pub.pem')).kid,
        );
      }
      for (const login of ['operator', 'viewer'])
        expect(readdirSync(join(museum, 'logins', login))).not.toContain('signing.key.pem');
    });

    it('makes nothing when there is no owner key', async () => {
      await init();
      rmSync(join(museum, 'owner.pub.pem'));
      const ran = await template(TEMPLATE);
      expect([ran.exitCode, ran.err]).toEqual([2, expect.stringContaining('keys create')]);
      expect(await listed()).toEqual([]);
    });

    it('writes certificates when devices log in with certificates', async () => {
      await init('--device-login', 'certificate');
      const { address: _, ...others } = TEMPLATE;
      expect(await template(others, '--count', '2', '--first', '99')).toMatchObject({ err: '', exitCode: 0 });
      expect(readdirSync(out)).toEqual(['kiosk-099', 'kiosk-100']);
      const { certPem, keyPem, secrets } = JSON.parse(fileOf('kiosk-099'));
      expect([certPem.slice(0, 27), keyPem.slice(0, 27), secrets]).toEqual([
        '-----BEGIN CERTIFICATE-----',
        '-----BEGIN PRIVATE KEY-----',
        undefined,
      ]);
      const system = createSystem('networkmanager');
      system.write('dragoman.json', fileOf('kiosk-099'));
      expect(system.run({ wall: null }).result).toMatchObject({ outcome: 'applied', problems: [] });
      expect(system.text('etc/dragoman/secrets/mqtt.key')).toBe(keyPem);
      system.remove();
    });

    it.each([
      ['no JSON', '{ "wifi": ', /kiosk\.json, line 1, column 11/],
      ['no object', '[]', /one object/],
      ['a login for all', { ...TEMPLATE, secrets: { 'mqtt-password': 'x' } }, /secrets must be left out/],
      ['a name for all', { config: { device: { id: 'kiosk' } } }, /config\.device\.id must be left out/],
      ['no lanes', { config: { service: { hosts: ['stream.example'] } } }, /config\.lanes/],
      ['no hosts', { config: { lanes: TEMPLATE.config.lanes } }, /config\.service\.hosts is missing/],
      [
        'an empty list of hosts',
        { ...TEMPLATE, config: { ...TEMPLATE.config, service: { hosts: [] } } },
        /config\.service\.hosts is missing/,
      ],
      ['a broken configuration', { config: 7 }, /config must be an object/],
      [
        'a missing passphrase',
        { ...TEMPLATE, wifi: { ...TEMPLATE.wifi, passphrase: null } },
        /wifi\.passphrase: was removed.*in place of null/,
      ],
      ['broken Wi-Fi', { ...TEMPLATE, wifi: { ssid: 'Museum', passphrase: 'short' } }, /wifi\.passphrase/],
      ['an invalid address', { ...TEMPLATE, address: { address: '10.0.0.{n}/24' } }, /address\.address/],
      [
        'a value that no device accepts',
        { ...TEMPLATE, address: { address: '10.0.0.20/24', gateway: '10.1.0.1' } },
        /address\.gateway/,
      ],
    ])('writes no file for a template with %s', async (_, content, message) => {
      await init();
      const before = readFileSync(join(museum, 'setup.json'), 'utf8');
      const ran = await template(content, '--count', '2');
      expect([ran.exitCode, ran.out]).toEqual([2, '']);
      expect(ran.err).toMatch(message);
      expect(ran.err).not.toContain('short');
      expect(existsSync(out) ? readdirSync(out) : []).toEqual([]);
      expect(readFileSync(join(museum, 'setup.json'), 'utf8')).toBe(before);
    });

    it.each([
      ['UTF-8 with its mark', (text: string) => Buffer.from(`\uFEFF${text}`)],
      ['UTF-16, as Notepad writes it', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
      ['the ends of lines that Windows has', (text: string) => Buffer.from(text.replaceAll('\n', '\r\n'))],
    ])('accepts a template in %s', async (_, edit) => {
      await init();
      const ran = await template(edit(`// ours\n${JSON.stringify(TEMPLATE, null, 2)}`));
      expect([ran.err, ran.exitCode]).toEqual(['', 0]);
      expect(JSON.parse(fileOf('kiosk-01')).config.device.label).toBe('Desk 01');
    });

    it.each([
      [
        'letters of Windows',
        Buffer.from('{"wifi":{"ssid":"M\xfcseum"}}', 'latin1'),
        /another encoding.*Notepad/,
      ],
      [
        'a password where a key belongs',
        { ...TEMPLATE, wifi: { 'correct horse': 'Museum' } },
        /^- wifi: holds an unknown key\. Known/m,
      ],
      ['a password without closing quote', '{ "wifi": { "correct horse', /kiosk\.json, line 1, column 13/],
    ])('names the fix for %s', async (_, content, message) => {
      await init();
      const ran = await template(content);
      expect(ran.exitCode).toBe(2);
      expect(ran.err).toMatch(message);
      expect(ran.err).not.toContain('correct horse');
    });

    it('names the .txt file when Windows has added the extension', async () => {
      await init();
      writeFileSync(join(root, 'kiosk.json.txt'), '{}');
      const words = ['--broker', museum, '--template', join(root, 'kiosk.json'), '--name', 'kiosk-{n}'];
      const ran = await backend(['devices', 'template', out, ...words]);
      expect([ran.exitCode, ran.err]).toEqual([
        2,
        expect.stringMatching(/kiosk\.json\.txt exists: .*Rename it/),
      ]);
    });

    it('refuses a name for two devices, a folder with files, and a device that has a login', async () => {
      await init();
      const named = await backend([
        'devices',
        'template',
        out,
        '--broker',
        museum,
        '--template',
        join(root, 'kiosk.json'),
        '--name',
        'kiosk',
        '--count',
        '2',
      ]);
      expect([named.exitCode, named.err]).toEqual([2, expect.stringContaining('--name must contain {n}')]);
      expect(await template(TEMPLATE, '--count', '0')).toMatchObject({ exitCode: 2 });
      expect(await template(TEMPLATE)).toMatchObject({ exitCode: 0 });
      const again = await template(TEMPLATE);
      expect([again.exitCode, again.err]).toEqual([1, expect.stringContaining('is not empty')]);
      rmSync(out, { recursive: true });
      expect((await template(TEMPLATE)).err).toContain('has a login already');
      expect(await template(TEMPLATE, '--replace')).toMatchObject({ exitCode: 0 });
      const wrong = await template(TEMPLATE, '--owner-key', join(museum, 'authority/ca.key'), '--replace');
      expect([wrong.exitCode, wrong.err]).toEqual([2, expect.stringContaining('--owner-key')]);
    });

    it(
      `writes user-data for cloud-init${hasYaml ? '' : ': no yaml for python3'}`,
      needs(!hasYaml && 'needs python3-yaml'),
      async () => {
        await init();
        expect(await template({ ...TEMPLATE, sshKeys: [SSH_KEY] }, '--cloud-init', '--json')).toMatchObject({
          err: '',
          exitCode: 0,
        });
        expect(readdirSync(join(out, 'kiosk-01'))).toEqual(['user-data']);
        expect(statSync(join(out, 'kiosk-01/user-data')).mode & 0o777).toBe(0o600);
        const text = fileOf('kiosk-01', 'user-data');
        expect(text.split('\n')[0]).toBe('#cloud-config');
        // A YAML reader that is independent of this project.
        const script = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)))';
        const { stdout, status } = spawnSync('python3', ['-c', script], { input: text, encoding: 'utf8' });
        expect(status).toBe(0);
        const data = JSON.parse(stdout);
        if (hasCloudInit) {
          const words = ['schema', '--config-file', join(out, 'kiosk-01/user-data')];
          expect(spawnSync('cloud-init', words, { encoding: 'utf8' })).toMatchObject({ status: 0 });
        }
        expect(data).toMatchObject({
          hostname: 'kiosk-01',
          ssh_authorized_keys: [SSH_KEY],
          ssh_pwauth: false,
        });
        const [file] = data.write_files;
        expect(file).toMatchObject({
          path: '/boot/firmware/dragoman.json',
          encoding: 'b64',
          permissions: '0755',
        });
        const document = JSON.parse(Buffer.from(file.content, 'base64').toString());
        expect([document.config.device.id, document.sshKeys]).toEqual(['kiosk-01', undefined]);
        const [, install] = data.runcmd;
        expect(install.slice(0, 2)).toEqual(['sh', '-c']);
        expect(spawnSync('sh', ['-n', '-c', install[2]]).status).toBe(0);
        expect(install[2]).toContain('/boot/firmware/dragoman*.deb');
        const { device } = JSON.parse((await backend(['devices', 'list', '--broker', museum, '--json'])).out)
          .devices[0];
        expect(device).toBe('museum/kiosk-01');
      },
    );
  },
);
