import { spawnSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { createRequest, readRequest } from '../../../src/adapters/certificates/certificate-request.ts';
import { needs } from '../../needs.ts';
import { findOpenssl } from '../mqtt/mosquitto.ts';

const NAME = 'museum.kiosk-01';
const openssl = (args: readonly string[], input = '') => {
  const ran = spawnSync('openssl', args, { input, encoding: 'utf8' });
  return `${ran.stdout}${ran.stderr}`;
};
const made = (...more: string[]): string => {
  const said = openssl(['req', '-new', '-nodes', '-keyout', '/dev/null', ...more]);
  return /-----BEGIN CERTIFICATE REQUEST[\s\S]+REQUEST-----\n/.exec(said)?.[0] ?? '';
};
const P256 = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1'];

describe('a certificate request', () => {
  it('holds the name and the public half of a new key', () => {
    const { request, key } = createRequest(NAME);
    const read = readRequest(request);
    expect(read?.commonName).toBe(NAME);
    expect(read?.publicKey.asymmetricKeyDetails).toEqual({ namedCurve: 'prime256v1' });
    expect(request).not.toContain('PRIVATE');
    expect(key).toContain('BEGIN PRIVATE KEY');
    expect(createRequest(NAME).key).not.toBe(key);
  });

  it('matches openssl in reading, verifying and writing', needs(!findOpenssl() && 'needs openssl'), () => {
    const { request, key } = createRequest(NAME);
    const reported = openssl(['req', '-verify', '-noout', '-subject', '-text'], request);
    expect(reported).toMatch(/verify OK/);
    expect(reported).toMatch(/CN ?= ?museum\.kiosk-01/);
    expect(reported).toContain('ecdsa-with-SHA256');
    expect(openssl(['req', '-noout', '-pubkey'], request)).toBe(openssl(['pkey', '-pubout'], key));
    expect(readRequest(made(...P256, '-subj', `/CN=${NAME}`))?.commonName).toBe(NAME);
  });

  it('is refused when it is of another kind', needs(!findOpenssl() && 'needs openssl'), () => {
    const kinds = [
      made('-newkey', 'rsa:2048', '-subj', `/CN=${NAME}`),
      made('-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:secp384r1', '-subj', `/CN=${NAME}`),
      made('-newkey', 'ed25519', '-subj', `/CN=${NAME}`),
      made(...P256, '-subj', `/O=Museum/CN=${NAME}`),
      made(...P256, '-subj', '/O=Museum'),
      made(...P256, '-sha512', '-subj', `/CN=${NAME}`),
    ];
    for (const request of kinds) {
      expect(request).toContain('BEGIN');
      expect(readRequest(request)).toBeNull();
    }
  });

  it('is refused with any byte changed, cut off or added', () => {
    const { request } = createRequest(NAME);
    const body = request.replaceAll(/-----[A-Z ]+-----|\s/g, '');
    const bytes = Buffer.from(body, 'base64');
    const wrap = (changed: Buffer): string =>
      `-----BEGIN CERTIFICATE REQUEST-----\n${changed.toString('base64')}\n-----END CERTIFICATE REQUEST-----\n`;
    expect(readRequest(wrap(bytes))).not.toBeNull();
    for (let at = 0; at < bytes.length; at += 1) {
      for (const flip of [0x01, 0x80]) {
        const changed = Buffer.from(bytes);
        changed[at] = (changed[at] ?? 0) ^ flip;
        expect(readRequest(wrap(changed)), `byte ${at}`).toBeNull();
      }
      expect(readRequest(wrap(bytes.subarray(0, at)))).toBeNull();
    }
    expect(readRequest(wrap(Buffer.concat([bytes, Buffer.from([0])])))).toBeNull();
  });

  it.each([
    '',
    'hello',
    '-----BEGIN CERTIFICATE REQUEST-----\n-----END CERTIFICATE REQUEST-----\n',
    `-----BEGIN CERTIFICATE REQUEST-----\n${'A'.repeat(1_000_000)}\n-----END CERTIFICATE REQUEST-----\n`,
    `${createRequest(NAME).request}${createRequest(NAME).request}`,
  ])('is refused when it is something else', (text) => {
    expect(readRequest(text)).toBeNull();
  });
});
