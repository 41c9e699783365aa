import type { TlsOptions } from 'node:tls';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../../src/adapters/clock.ts';
import { reach } from '../../../../src/device/doctor/network/reach.ts';
import { judgeReach } from '../../../../src/device/doctor/network/reach-rules.ts';
import { findOpenssl } from '../../../adapters/mqtt/mosquitto.ts';
import {
  makeWeakCertificates,
  OLD_SERVER,
  serveTls,
  type WeakCertificates,
} from '../../../adapters/weak-certificates.ts';
import { needs } from '../../../needs.ts';

let files: WeakCertificates;
beforeAll(() => {
  files = makeWeakCertificates();
});
afterAll(() => files.remove());
const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const LIMIT_MS = 30_000;

describe('the doctor at a server with TLS', needs(!findOpenssl() && 'needs openssl'), () => {
  const pair = (name: string): TlsOptions => ({
    key: files.read(`${name}.key`),
    cert: files.read(`${name}.crt`),
  });
  const judged = async (options: TlsOptions, own: { cert?: Buffer; key?: Buffer } = {}) => {
    const { port, close } = await serveTls(options);
    closing.push(close);
    const server = { host: 'localhost', port, tls: { ca: files.read('ca.crt'), ...own } };
    const facts = await reach(server, LIMIT_MS, createSystemClock());
    return judgeReach(facts, {
      who: 'the broker',
      addressFrom: 'mqtt.url',
      caKey: 'mqtt.caFile',
      wall: null,
    });
  };

  it('names the reason of OpenSSL when its certificate is signed with SHA-1', async () => {
    expect(await judged({ ...pair('sha1'), ...OLD_SERVER })).toMatchObject({
      verdict: 'problem',
      finding: expect.stringMatching(/not trusted \(CA signature digest algorithm too weak\).* Test CA$/),
      fix: 'Have the certificate issued again with SHA-256.',
    });
  });

  it('names the reason of OpenSSL when it speaks TLS 1.1', async () => {
    const old = { ...OLD_SERVER, minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1' } as const;
    expect(await judged({ ...pair('good'), ...old })).toMatchObject({
      verdict: 'problem',
      finding: expect.stringMatching(/fails at TLS \(tlsv1 alert protocol version\)$/),
      fix: expect.stringMatching(
        /^The server must allow TLS 1\.2 or newer; the address comes from mqtt\.url/,
      ),
    });
  });

  it('names the reason of OpenSSL when our own key is too small', async () => {
    const own = { cert: files.read('small.crt'), key: files.read('small.key') };
    expect(await judged(pair('good'), own)).toMatchObject({
      finding: expect.stringMatching(/cannot be used \(ee key too small\)/),
      fix: expect.stringMatching(/RSA 2048/),
    });
  });

  it('names the refusal of our certificate in the words of OpenSSL when it comes after the handshake', async () => {
    const asks = { requestCert: true, rejectUnauthorized: true, ca: files.read('ca.crt') };
    expect((await judged({ ...pair('good'), ...asks })).finding).toMatch(
      /does not accept our certificate \(.*alert certificate required\)$/,
    );
  });

  it('finds nothing when the certificate is good', async () => {
    expect((await judged(pair('good'))).verdict).toBe('ok');
  });
});
