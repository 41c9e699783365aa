/** Secret, key and certificate files as editors and copying leave them. */
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readCertificateFile, readPem } from '../../../src/adapters/config/pem.ts';
import { readKey, readPassword, readSecret } from '../../../src/adapters/config/secret.ts';
import { createKeyPair, parsePrivateKey, readPublicKey } from '../../../src/adapters/signing/signing-keys.ts';
import { brokerConnection } from '../../../src/device/broker/broker-access.ts';
import { judgeConfiguration } from '../../../src/device/doctor/checks/configuration/configuration-rules.ts';
import { readNamedFiles } from '../../../src/device/doctor/checks/configuration/named-files.ts';
import { configSchema } from '../../../src/protocol/config.ts';
import { needs } from '../../needs.ts';
import { findOpenssl } from '../mqtt/mosquitto.ts';

const BOM = '\ufeff';
let folder: string;
const at = (name: string): string => join(folder, name);
function put(name: string, content: string | Buffer, mode = 0o600): string {
  writeFileSync(at(name), content);
  chmodSync(at(name), mode);
  return at(name);
}
const pem = (name: string): string => readFileSync(at(name), 'utf8');

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-secret-text-'));
  const make = ['req', '-x509', '-nodes', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];
  const out = ['-subj', '/CN=one', '-keyout', 'one.key', '-out', 'one.crt'];
  execFileSync('openssl', [...make, ...out], { cwd: folder, stdio: 'pipe' });
  execFileSync('openssl', ['x509', '-in', 'one.crt', '-outform', 'DER', '-out', 'one.der'], {
    cwd: folder,
    stdio: 'pipe',
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('a byte order mark', needs(!findOpenssl() && 'needs openssl'), () => {
  it('is not part of a secret', () => {
    const file = put('marked', `${BOM}swordfish\r\n`);
    for (const read of [readSecret, readPassword, readKey])
      expect(read(file, {})).toEqual({ ok: true, secret: 'swordfish' });
    expect(readPassword(put('only', `${BOM}\n`), {})).toMatchObject({ ok: false });
  });

  it('is not part of a certificate or key: TLS would ignore the first block', () => {
    const cert = put('marked.crt', `${BOM}${pem('one.crt')}`);
    expect(readCertificateFile('mqtt.caFile', cert).toString('utf8')).toBe(pem('one.crt'));
    expect(readPem('--tls-cert', cert).toString('utf8')).toBe(pem('one.crt'));
    const key = put('marked.key', `${BOM}${pem('one.key')}`);
    expect(readSecret(key, {})).toEqual({ ok: true, secret: pem('one.key').trimEnd() });
    const { privatePem, publicPem, kid } = createKeyPair();
    expect(readPublicKey(put('marked.pub', `${BOM}${publicPem}`)).kid).toBe(kid);
    const own = readSecret(put('owner.key', `${BOM}${privatePem}`), {});
    expect(own.ok && parsePrivateKey(own.secret, 'owner.key').kid).toBe(kid);
  });

  it('never reaches the broker', () => {
    const { mqtt, device } = configured({
      username: 'kiosk-01',
      passwordFile: put('password', `${BOM}swordfish`),
      caFile: put('ca.crt', `${BOM}${pem('one.crt')}`),
      certFile: put('own.crt', `${BOM}${pem('one.crt')}`),
      keyFile: put('own.key', `${BOM}${pem('one.key')}`),
    });
    const connection = brokerConnection({ ...configured({}), mqtt, device }, {});
    expect(connection.password?.()).toBe('swordfish');
    for (const part of [connection.ca, connection.cert, connection.key])
      expect(part?.toString('utf8').startsWith('-----BEGIN')).toBe(true);
  });
});

describe('another encoding than UTF-8', needs(!findOpenssl() && 'needs openssl'), () => {
  const little = Buffer.from(`${BOM}swordfish`, 'utf16le');
  it.each([
    ['UTF-16', () => little],
    ['UTF-16', () => Buffer.from(little).swap16()],
    ['UTF-16', () => Buffer.from('swordfish', 'utf16le')],
    ['UTF-32', () => Buffer.from([0xff, 0xfe, 0, 0, 0x73, 0, 0, 0])],
    ['UTF-32', () => Buffer.from([0, 0, 0xfe, 0xff, 0, 0, 0, 0x73])],
    ['Latin-1 or Windows-1252', () => Buffer.from('Schwertfisch-ä', 'latin1')],
    ['DER', () => readFileSync(at('one.der'))],
  ])('is refused by its name: %s (%#)', (name, bytes) => {
    const file = put('foreign', bytes());
    for (const read of [readSecret, readPassword, readKey]) {
      const result = read(file, {});
      expect(result).toEqual({ ok: false, message: expect.stringContaining(name) as string });
      expect(JSON.stringify(result)).not.toContain('fish');
    }
    expect(() => readCertificateFile('mqtt.caFile', file)).toThrow(name);
    expect(() => readPublicKey(file)).toThrow(name);
    const { mqtt } = configured({ caFile: file });
    expect(readNamedFiles({ ...configured({}), mqtt }, {})).toMatchObject([
      { key: 'mqtt.caFile', trouble: expect.stringContaining(name) as string },
    ]);
  });

  it('is accepted between the blocks of a PEM file, where OpenSSL writes names', () => {
    const text = Buffer.from(`friendlyName: Büro\n${pem('one.crt')}`, 'latin1');
    expect(readCertificateFile('mqtt.caFile', put('names.crt', text))).toEqual(text);
    const key = Buffer.from(`friendlyName: Büro\n${pem('one.key')}`, 'latin1');
    expect(readSecret(put('names.key', key), {})).toMatchObject({ ok: true });
  });
});

describe('characters that a person does not see', needs(!findOpenssl() && 'needs openssl'), () => {
  it.each([
    [' swordfish', 'begins with a blank'],
    ['\u00a0swordfish', 'begins with a no-break space (U+00A0)'],
    ['swordfish ', 'ends with a blank'],
    ['sword\u00a0fish', 'contains a no-break space (U+00A0)'],
    ['sword\u200bfish', 'contains a zero-width character (U+200B)'],
    ['swordfish\ufeff', 'ends with a zero-width character (U+FEFF)'],
    [' sword\u2060fish\u3000', 'begins with a blank'],
    [' swordfish\u3000', 'ends with a wide blank (U+3000)'],
  ])('are reported for %j and stay part of the password', (secret, words) => {
    const passwordFile = put('blanks', `${secret}\n`);
    expect(readPassword(passwordFile, {})).toEqual({
      ok: true,
      secret,
      unseen: expect.stringContaining(words) as string,
    });
    const { mqtt } = configured({ username: 'kiosk-01', passwordFile });
    const files = readNamedFiles({ ...configured({}), mqtt }, {});
    expect(files).toMatchObject([{ key: 'mqtt.passwordFile', trouble: null }]);
    const told = judgeConfiguration({
      file: 'c.json',
      lanes: 1,
      files,
      agent: null,
      warnings: [],
      isOpenToAll: false,
      user: null,
    });
    expect(told).toMatchObject({ verdict: 'warning', finding: expect.stringContaining(words) as string });
    expect(JSON.stringify(told)).not.toContain('fish');
  });

  it.each(['swordfish', 'Schwert fisch äöü', '入口', 'a\u0308'])('are not reported for %j', (secret) => {
    expect(readPassword(put('plain', secret), {})).toEqual({ ok: true, secret });
  });

  it('are named when a key or a certificate cannot be used because of them', () => {
    expect(readKey(put('key', 'sk-12\u200b34'), {})).toMatchObject({
      message: expect.stringContaining('zero-width character (U+200B)') as string,
    });
    expect(readKey(put('key', 'sk-1234 '), {})).toMatchObject({
      message: expect.stringContaining('ends with a blank') as string,
    });
    const spoiled = pem('one.crt').replace(/\n(.{8})/, '\n$1\u00a0');
    expect(() => readCertificateFile('mqtt.caFile', put('spoiled.crt', spoiled))).toThrow(
      /cannot be read.*no-break space \(U\+00A0\)/,
    );
    const indented = pem('one.crt').replace(/^/gm, '  ');
    expect(() => readCertificateFile('mqtt.caFile', put('indented.crt', indented))).toThrow(
      /"-----BEGIN" is not at the beginning of its line/,
    );
  });
});

function configured(mqtt: object) {
  return configSchema.parse({
    device: { id: 'kiosk-01', tenant: 'museum' },
    mqtt: { url: 'mqtts://broker.example', ...mqtt },
    lanes: [{ source: 'en', targets: ['es'] }],
  });
}
