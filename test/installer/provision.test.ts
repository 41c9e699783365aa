import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { provisioningResultSchema } from '../../src/installer/core/outcome.ts';
import { AGENT, CONFIG, createSystem, FULL, type System, WIFI } from './system-folder.ts';

const isRoot = process.getuid?.() === 0;
const SECRETS = ['correct horse', 'p4ssw0rd-of-the-broker'];
/** PBKDF2 of "correct horse" and "Museum", computed with Python's hashlib. */
const KEY = '81be614e9f5e28051bb3e129f1411a81513668f21549b7188bdd75d2e31e69a6';

let system: System;
beforeEach(() => {
  system = createSystem();
});
afterEach(() => system.remove());

const fields = ({ result }: ReturnType<System['run']>): string[] => result.problems.map(({ field }) => field);

describe('provisioning', () => {
  it('puts all of a good file into place, and removes the secrets from it', () => {
    system.write('dragoman.json', FULL);
    const { result } = system.run();
    expect(result).toMatchObject({ outcome: 'applied', problems: [], network: 'networkd', wifi: true });
    const password = statSync(join(system.root, 'etc/dragoman/secrets/mqtt-password'));
    expect(password.mode & 0o777).toBe(0o600);
    if (isRoot) expect([password.uid, password.gid]).toEqual([AGENT.uid, AGENT.gid]);
    const secrets = statSync(join(system.root, 'etc/dragoman/secrets'));
    expect(secrets.mode & 0o777).toBe(0o750);
    expect(system.text('etc/dragoman/secrets/mqtt-password')).toBe('p4ssw0rd-of-the-broker');
    expect(JSON.parse(system.text('etc/dragoman/conf.d/zz-provisioned.json'))).toEqual({
      ...CONFIG,
      mqtt: { ...CONFIG.mqtt, passwordFile: '/etc/dragoman/secrets/mqtt-password' },
    });
    expect(system.text('etc/wpa_supplicant/wpa_supplicant-wlan0.conf')).toContain(`\tpsk=${KEY}\n`);
    for (const name of readdirSync(system.boot))
      for (const secret of SECRETS) expect(system.read(name), name).not.toContain(secret);
    expect(readdirSync(system.boot).sort()).toEqual(['dragoman-status.txt', 'dragoman.json']);
    expect(JSON.parse(system.read())).toEqual({
      ...FULL,
      wifi: { ...WIFI, passphrase: null },
      secrets: { 'mqtt-password': null },
    });
    const reported = JSON.parse(system.text('run/dragoman/provisioning.json'));
    expect(provisioningResultSchema.parse(reported)).toEqual(result);
    expect(system.read('dragoman-status.txt')).toMatch(
      /^Result: applied\. All of dragoman\.json is in effect\.\r$/m,
    );
  });

  it('does nothing at the next boots, and does not write to the card', () => {
    system.write('dragoman.json', FULL);
    system.run();
    const [before, file, status] = [system.everything(), system.read(), system.read('dragoman-status.txt')];
    for (let boot = 0; boot < 3; boot += 1) expect(system.run().result.outcome).toBe('unchanged');
    expect([system.everything(), system.read(), system.read('dragoman-status.txt')]).toEqual([
      before,
      file,
      status,
    ]);
  });

  it('applies the rest of a file whose secrets are on the device, and a new passphrase', () => {
    system.write('dragoman.json', FULL);
    system.run();
    const supplicant = 'etc/wpa_supplicant/wpa_supplicant-wlan0.conf';
    const before = system.text(supplicant);
    const left = JSON.parse(system.read());
    system.write('dragoman.json', { ...left, config: { ...CONFIG, log: { level: 'debug' } } });
    expect(system.run().result.outcome).toBe('applied');
    expect(system.text('etc/dragoman/conf.d/zz-provisioned.json')).toContain('debug');
    expect(system.text(supplicant)).toBe(before);
    system.write('dragoman.json', { ...left, wifi: { ...WIFI, passphrase: 'a new passphrase' } });
    expect(system.run().result.outcome).toBe('applied');
    expect(system.text(supplicant)).not.toBe(before);
    expect(system.read()).not.toContain('a new passphrase');
  });

  it('does not change the network when the file does not mention it', () => {
    const { wifi: _, address: __, ...rest } = FULL;
    system.write('dragoman.json', rest);
    expect(system.run().result).toMatchObject({ outcome: 'applied', wifi: false });
    expect(
      Object.keys(system.everything()).filter((path) => /^etc\/(wpa|systemd|modprobe)/.test(path)),
    ).toEqual([]);
  });

  it('writes nothing in a dry run', () => {
    system.write('dragoman.json', FULL);
    const [before, file] = [system.everything(), system.read()];
    const { result, writes } = system.run({ isDry: true });
    expect([result.outcome, writes.length > 3]).toEqual(['applied', true]);
    expect([system.everything(), system.read(), readdirSync(system.boot)]).toEqual([
      before,
      file,
      ['dragoman.json'],
    ]);
    system.run();
    expect(system.run({ isDry: true })).toMatchObject({ result: { outcome: 'unchanged' }, writes: [] });
  });

  it('reports that there is no file', () => {
    expect(system.run().result).toMatchObject({ outcome: 'no_file', file: null });
    expect(readdirSync(system.boot)).toEqual([]);
    expect(system.text('run/dragoman/provisioning.json')).toContain('no_file');
  });

  it.each([
    'dragoman.json.txt',
    'Dragoman.JSON.txt',
    'dragoman.txt',
    'dragoman (1).json',
    'dragoman.json.json',
  ])('recognises %s as a name made by Windows', (name) => {
    system.write(name, FULL);
    const { result } = system.run();
    expect(result.outcome).toBe('file_unreadable');
    expect(result.problems[0]?.message).toContain(JSON.stringify(name));
    expect(system.read('dragoman-status.txt')).toContain('Rename it to dragoman.json');
  });

  it('reads the file with the right name, and reports the one beside it', () => {
    system.write('dragoman.json', FULL);
    system.write('dragoman.json.txt', 'old');
    system.write('dragoman-status.txt', 'ours');
    expect(system.run().result.notes.join()).toContain('"dragoman.json.txt" is beside');
    expect(system.run().result.notes.join()).not.toContain('status');
  });

  it.each([
    ['a mark before UTF-8', (text: string) => `\uFEFF${text}`],
    ['UTF-16', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le')],
    ['UTF-16, big-endian', (text: string) => Buffer.from(`\uFEFF${text}`, 'utf16le').swap16()],
    [
      'ends of lines and comments',
      (text: string) => `// Museum\r\n${text.replaceAll(',', ',\r\n')}\r\n/* end */`,
    ],
  ])('reads the file as editors save it: %s', (_, edit) => {
    system.write('dragoman.json', edit(JSON.stringify(FULL)));
    expect(system.run().result).toMatchObject({ outcome: 'applied', problems: [] });
    for (const secret of SECRETS) {
      expect(readFileSync(join(system.boot, 'dragoman.json'), 'utf8')).not.toContain(secret);
      expect(readFileSync(join(system.boot, 'dragoman.json'), 'utf16le')).not.toContain(secret);
    }
  });

  it.each([
    ['letters of Windows', Buffer.from([0x7b, 0xe4, 0x7d]), /another encoding than UTF-8/],
    ['more than a megabyte', Buffer.alloc(1_000_001, ' '), /larger than 1 MB/],
  ])('does not read %s', (_, content, message) => {
    const before = system.everything();
    system.write('dragoman.json', content);
    const { result } = system.run();
    expect(result.outcome).toBe('file_unreadable');
    expect(result.problems[0]?.message).toMatch(message);
    expect(system.everything()).toEqual(before);
  });

  it('does not read a folder of that name', () => {
    mkdirSync(join(system.boot, 'dragoman.json'));
    expect(system.run().result.outcome).toBe('file_unreadable');
  });

  it.each([
    ['no JSON', '{"format":1,', ['line 1, column 13'], /Compare that place/],
    ['a secret where a key belongs', '{"format":1,"s3cret-w0rd"}', ['line 1, column 26'], /Compare/],
    [
      'a certificate in lines',
      '{"caPem":"-----BEGIN\nAAA"}',
      ['line 1, column 10'],
      /a line break within a text/,
    ],
    ['a list', [], [''], /one object, in braces/],
    ['another format', { format: 2 }, ['format'], /Write "format": 1/],
    ['no format', {}, ['format'], /Write "format": 1/],
    [
      'misspelt keys',
      { format: 1, wlan: {}, wifi: { ssid: 'a', pasphrase: 'x' } },
      ['wifi.pasphrase', ''],
      /Did you mean "passphrase"/,
    ],
    [
      'wrong types',
      { format: 1, wifi: 'Museum', address: 7, ownerKeysPem: 'x' },
      ['wifi', 'address', 'ownerKeysPem'],
      /Write "wifi": \{/,
    ],
    [
      'a short passphrase',
      { format: 1, wifi: { ...WIFI, passphrase: 'short77' } },
      ['wifi.passphrase'],
      /router/,
    ],
    ['a long name', { format: 1, wifi: { ...WIFI, ssid: 'ü'.repeat(17) } }, ['wifi.ssid'], /router/],
    ['a country in words', { format: 1, wifi: { ...WIFI, country: 'Germany' } }, ['wifi.country'], /is used/],
    [
      'half an address',
      { format: 1, address: { address: '192.168.1.7', gateway: 'x', dns: ['y'] } },
      ['address.address', 'address.gateway', 'address.dns[0]'],
      /DHCP/,
    ],
    ['a word for an address', { format: 1, address: 'static' }, ['address'], /DHCP/],
    ['another secret', { format: 1, secrets: { 'api-key': 'x' } }, ['secrets'], /mqtt-password/],
    [
      'two lines of a password',
      { format: 1, secrets: { 'mqtt-password': 'a\nb' } },
      ['secrets.mqtt-password'],
      /./,
    ],
    ['an unknown zone', { format: 1, timeZone: '../../etc/passwd' }, ['timeZone'], /./],
    ['a zone that is not there', { format: 1, timeZone: 'Asia/Tokyo' }, ['timeZone'], /tzdata/],
    [
      'a key with options',
      { format: 1, sshKeys: ['command="x" ssh-ed25519 AAAA'] },
      ['sshKeys[0]'],
      /id_ed25519/,
    ],
  ])('changes nothing for %s', (_, content, wrong, fix) => {
    const before = system.everything();
    system.write('dragoman.json', content);
    const file = system.read();
    const ended = system.run();
    expect(ended.result.outcome).toBe('file_invalid');
    expect(fields(ended).sort()).toEqual([...wrong].sort());
    expect(JSON.stringify(ended.result)).not.toContain('s3cret-w0rd');
    const text = system.read('dragoman-status.txt');
    expect(text).toContain('Nothing was changed');
    if (fix.source !== '.') expect(text).toMatch(fix);
    expect([system.everything(), system.read()]).toEqual([before, file]);
  });

  it.each(['security', 'identity', 'eap', 'sae', 'EAP'])(
    'refuses Wi-Fi with "%s", and explains why',
    (key) => {
      system.write('dragoman.json', { ...FULL, wifi: { ...WIFI, [key]: 'x' } });
      const { result } = system.run();
      expect(result.outcome).toBe('wifi_unsupported');
      expect(result.problems[0]).toMatchObject({
        field: `wifi.${key}`,
        message: expect.stringMatching(/WPA3.*802\.1X/),
        fix: expect.stringContaining('WPA2'),
      });
    },
  );

  it('checks the configuration as the agent will read it, and reports missing keys', () => {
    const before = system.everything();
    system.write('dragoman.json', {
      format: 1,
      config: { device: { id: 'Kiosk 1' }, lanes: [{ source: 'en', echo: 'canc' }] },
    });
    const ended = system.run();
    expect(ended.result.outcome).toBe('file_invalid');
    expect(fields(ended).sort()).toEqual([
      'config.device.id',
      'config.device.tenant',
      'config.lanes[0].echo',
      'config.lanes[0].targets',
      'config.mqtt.url',
    ]);
    expect(JSON.stringify(ended.result.problems)).toContain('did you mean');
    expect(system.read('dragoman-status.txt')).toContain('it is in /etc/dragoman/config.json');
    expect(system.everything()).toEqual(before);
  });

  it('merges with the device’s configuration, or creates one', () => {
    writeFileSync(join(system.root, 'etc/dragoman/config.json'), JSON.stringify(CONFIG));
    system.write('dragoman.json', { format: 1, config: { log: { level: 'debug' } } });
    expect(system.run().result.outcome).toBe('applied');
    rmSync(join(system.root, 'etc/dragoman'), { recursive: true });
    expect(fields(system.run())).toContain('config.device');
    system.write('dragoman.json', FULL);
    expect(system.run().result.outcome).toBe('applied');
    expect(existsSync(join(system.root, 'etc/dragoman/config.json'))).toBe(true);
  });

  it('only counts problems after the first twenty', () => {
    const wrong = Object.fromEntries(Array.from({ length: 50 }, (_, index) => [`key${index}`, 1]));
    system.write('dragoman.json', { format: 1, ...wrong });
    const { problems } = system.run().result;
    expect([problems.length, problems.at(-1)?.message]).toEqual([21, 'and 30 more problems']);
  });

  it('works without the agent’s user only when there is no secret for it', () => {
    if (!isRoot) return;
    writeFileSync(join(system.root, 'etc/passwd'), 'root:x:0:0::/root:/bin/sh\n');
    system.write('dragoman.json', FULL);
    expect(system.run().result).toMatchObject({ outcome: 'write_failed' });
    expect(system.read('dragoman-status.txt')).toContain('Install the package dragoman');
    expect(system.read()).toContain('correct horse');
    system.write('dragoman.json', { format: 1, timeZone: 'Europe/Berlin' });
    expect(system.run().result.outcome).toBe('applied');
  });

  it('reports a disk that cannot be written, and changes nothing', () => {
    system.write('dragoman.json', FULL);
    mkdirSync(join(system.root, 'etc/timezone'));
    const before = system.everything();
    const { result } = system.run();
    expect(result.outcome).toBe('write_failed');
    expect(system.everything()).toEqual(before);
    expect(system.read()).toContain('correct horse');
  });

  it('does not write outside the given root', () => {
    system.write('dragoman.json', FULL);
    const outside = join(system.boot, 'outside');
    mkdirSync(outside);
    symlinkSync(outside, join(system.root, 'etc/wpa_supplicant'));
    const { result } = system.run();
    expect(result).toMatchObject({ outcome: 'write_failed' });
    expect(result.problems[0]?.message).toContain('leads out of');
    expect(readdirSync(outside)).toEqual([]);
  });

  it('removes the leftovers of an interrupted run', () => {
    system.write('dragoman.json', FULL);
    const left = join(system.root, 'etc/dragoman/conf.d/.zz-provisioned.json.dragoman-new');
    writeFileSync(left, 'half');
    symlinkSync('/nowhere', join(system.root, 'etc/.localtime.dragoman-old'));
    expect(system.run().result.outcome).toBe('applied');
    expect(Object.keys(system.everything()).filter((path) => path.includes('dragoman-'))).toEqual([
      'etc/modprobe.d/dragoman-wifi.conf',
      'etc/systemd/network/10-dragoman-wlan0.network',
    ]);
  });

  it('reports a card that cannot be written, and sets the kiosk up anyway', () => {
    if (isRoot) return;
    system.write('dragoman.json', FULL);
    chmodSync(join(system.boot, 'dragoman.json'), 0o444);
    const { result } = system.run();
    expect(result.outcome).toBe('applied');
    expect(result.notes.join()).toContain('could not be removed');
  });
});
