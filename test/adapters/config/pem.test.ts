import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  certificateFault,
  ownCertificateFault,
  pairFault,
  privateKeyFault,
} from '../../../src/adapters/config/pem.ts';
import { readNamedFiles } from '../../../src/device/doctor/checks/configuration/named-files.ts';
import { findUnusableFile } from '../../../src/device/machine-deps.ts';
import { configSchema } from '../../../src/protocol/config.ts';
import { needs } from '../../needs.ts';
import { findOpenssl } from '../mqtt/mosquitto.ts';
import { makeWeakCertificates, type WeakCertificates } from '../weak-certificates.ts';

let folder: string;
const at = (name: string): string => join(folder, name);
const text = (name: string): string => readFileSync(at(name), 'utf8');
const openssl = (...args: string[]): void => {
  execFileSync('openssl', args, { cwd: folder, stdio: 'pipe' });
};

let weak: WeakCertificates;
beforeAll(() => {
  weak = makeWeakCertificates();
  folder = mkdtempSync(join(tmpdir(), 'dragoman-pem-'));
  const make = (name: string, ...kind: string[]): void =>
    openssl(
      'req',
      '-x509',
      '-nodes',
      '-subj',
      `/CN=${name}`,
      '-newkey',
      ...kind,
      '-keyout',
      `${name}.key`,
      '-out',
      `${name}.crt`,
    );
  make('one', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1');
  make('two', 'rsa:2048');
  openssl('x509', '-in', 'one.crt', '-trustout', '-out', 'trusted.crt');
  openssl('x509', '-in', 'one.crt', '-outform', 'DER', '-out', 'der.crt');
  openssl('pkey', '-in', 'one.key', '-aes256', '-passout', 'pass:4711', '-out', 'locked.key');
  openssl('rsa', '-in', 'two.key', '-aes256', '-traditional', '-passout', 'pass:4711', '-out', 'old.key');
  openssl('ecparam', '-name', 'prime256v1', '-genkey', '-out', 'parameters.key');
});
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
  weak.remove();
});

const damaged = (pem: string): string => pem.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA');

describe('certificates in PEM', needs(!findOpenssl() && 'needs openssl'), () => {
  it.each([
    ['one', () => text('one.crt')],
    ['several, with words between', () => `the first:\n${text('one.crt')}the other:\n${text('two.crt')}`],
    ['lines of Windows, with its mark', () => `\ufeff${text('one.crt').replaceAll('\n', '\r\n')}`],
    ['one that is trusted for something', () => text('trusted.crt')],
    ['one with its key', () => text('one.crt') + text('one.key')],
  ])('can be used: %s', (_, pem) => {
    expect(certificateFault(pem())).toBeNull();
    expect(certificateFault(Buffer.from(pem()).toString('latin1'))).toBeNull();
  });
  it.each([
    ['nothing', () => '', /^holds no certificate in PEM$/],
    ['anything', () => 'x'.repeat(5000), /^holds no certificate in PEM$/],
    ['DER', () => readFileSync(at('der.crt'), 'latin1'), /^holds no certificate in PEM$/],
    ['a key alone', () => text('one.key'), /^holds no certificate in PEM$/],
    ['a cut one', () => text('one.crt').slice(0, 200), /^holds a certificate that cannot be read: copy it/],
    ['a damaged one', () => damaged(text('one.crt')), /^holds a certificate that cannot be read/],
    [
      'a damaged one after a good one',
      () => text('one.crt') + damaged(text('two.crt')),
      /^holds 2 certificates, and number 2 that cannot be read/,
    ],
  ])('cannot be used: %s', (_, pem, fault) => {
    expect(certificateFault(pem())).toMatch(fault);
  });
});

describe('our own certificates in PEM', needs(!findOpenssl() && 'needs openssl'), () => {
  it('can be used when they are strong, also with a mark and the certificate of an authority', () => {
    expect(ownCertificateFault(text('one.crt'))).toBeNull();
    const chain = `\ufeff${weak.read('good.crt')}${weak.read('ca.crt')}`;
    expect(ownCertificateFault(chain)).toBeNull();
    expect(ownCertificateFault(Buffer.from(chain).toString('latin1'))).toBeNull();
  });
  it('cannot be used when they are weak, although they can be read', () => {
    expect(certificateFault(weak.read('sha1.crt').toString())).toBeNull();
    expect(ownCertificateFault(weak.read('sha1.crt').toString())).toMatch(/TLS refuses \(ca md too weak/);
    expect(ownCertificateFault('x')).toMatch(/^holds no certificate/);
  });
});

describe('private keys in PEM', needs(!findOpenssl() && 'needs openssl'), () => {
  it.each(['one.key', 'two.key', 'parameters.key'])('can be used: %s', (name) => {
    expect(privateKeyFault(text(name))).toBeNull();
  });
  it('cannot be used when they need a password, are damaged, or are missing', () => {
    for (const name of ['locked.key', 'old.key'])
      expect(privateKeyFault(text(name))).toMatch(/protected by a password: .*openssl pkey/);
    for (const other of ['', 'x', text('one.crt'), text('one.key').slice(0, 80), damaged(text('two.key'))])
      expect(privateKeyFault(other)).toMatch(/^holds no private key in PEM that can be read/);
  });
  it('match their own certificate only', () => {
    expect(pairFault(text('one.crt') + text('two.crt'), text('one.key'))).toBeNull();
    expect(pairFault(text('one.crt'), text('two.key'))).toMatch(/of another certificate than certFile/);
  });
});

describe('a configuration that names certificates', needs(!findOpenssl() && 'needs openssl'), () => {
  const config = (mqtt: object, caFile: string | null = null) =>
    configSchema.parse({
      device: { id: 'kiosk-01', tenant: 'museum' },
      mqtt: { url: 'mqtts://broker.example', ...mqtt },
      lanes: [
        {
          source: 'en',
          targets: ['es'],
          capture: { driver: 'file', path: 'in.wav', sampleRate: 16_000 },
          playback: { driver: 'file', path: 'out.wav' },
        },
      ],
      service: { caFile },
    });
  const write = (name: string, content: string): string => {
    writeFileSync(at(name), content, { mode: 0o600 });
    return at(name);
  };
  const pair = (cert: string, key: string) => config({ certFile: at(cert), keyFile: at(key) });

  const weakPair = (name: string) => {
    for (const file of [`${name}.crt`, `${name}.key`]) write(file, weak.read(file).toString());
    return pair(`${name}.crt`, `${name}.key`);
  };

  it('is accepted when each file has the right content', () => {
    const good = config(
      { caFile: at('two.crt'), certFile: at('one.crt'), keyFile: at('one.key') },
      at('two.crt'),
    );
    expect(findUnusableFile(good, {})).toBeNull();
    expect(readNamedFiles(good, {}).filter(({ trouble }) => trouble !== null)).toEqual([]);
  });
  it.each([
    ['mqtt.caFile', () => config({ caFile: write('bad.crt', 'x') }), 'holds no certificate in PEM'],
    [
      'service.caFile',
      () => config({}, write('bad.crt', damaged(text('one.crt')))),
      'cannot be read: copy it',
    ],
    ['mqtt.certFile', () => pair('one.key', 'one.key'), 'holds no certificate in PEM'],
    [
      'mqtt.keyFile',
      () => config({ certFile: at('one.crt'), keyFile: write('bad.key', 'x') }),
      'holds no private key in PEM',
    ],
    ['mqtt.certFile', () => weakPair('sha1'), 'TLS refuses (ca md too weak: have the certificate issued'],
    ['mqtt.certFile', () => weakPair('small'), 'TLS refuses (ee key too small: have the certificate issued'],
    ['mqtt.keyFile', () => pair('one.crt', 'locked.key'), 'protected by a password'],
    ['mqtt.keyFile', () => pair('one.crt', 'two.key'), 'of another certificate than certFile'],
  ])('is refused because of %s (%#), at the start, at SIGHUP and by check-config', (key, wrong, words) => {
    const message = `${key}: the file ${folder}`;
    const found = findUnusableFile(wrong(), {});
    expect(found).toMatchObject({ key, message: expect.stringContaining(words) as string });
    expect(found?.message).toContain(message);
    expect(readNamedFiles(wrong(), {}).filter(({ trouble }) => trouble !== null)).toMatchObject([
      { key, trouble: expect.stringContaining(words) as string },
    ]);
  });
});
