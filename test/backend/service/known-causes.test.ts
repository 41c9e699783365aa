import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { createServiceClient } from '../../../src/backend/service/service-client.ts';
import { findOpenssl } from '../../adapters/mqtt/mosquitto.ts';
import { makeWeakCertificates, OLD_SERVER, portOf, serveTls } from '../../adapters/weak-certificates.ts';
import { needs } from '../../needs.ts';

const KEY = 'the-api-key-of-the-account';

async function failureAt(url: string, ca?: Buffer): Promise<string> {
  const client = createServiceClient({ url, timeoutMs: 30_000, apiKey: () => KEY, ...(ca && { ca }) });
  onTestFinished(() => client.close());
  try {
    await client.getSession('one');
  } catch (error) {
    return error instanceof Error ? error.message : '';
  }
  return 'no failure';
}

it(
  'names the reason of OpenSSL when the certificate of the service is signed with SHA-1',
  needs(!findOpenssl() && 'needs openssl'),
  async () => {
    const files = makeWeakCertificates();
    onTestFinished(() => files.remove());
    const tls = { key: files.read('sha1.key'), cert: files.read('sha1.crt'), ...OLD_SERVER };
    const { port, close } = await serveTls(tls);
    onTestFinished(close);
    expect(await failureAt(`https://localhost:${port}`, files.read('ca.crt'))).toBe(
      'cannot get the session: CA signature digest algorithm too weak: have the certificate issued again with SHA-256',
    );
  },
);

it('names the address of a redirect without login, query and key', async () => {
  const location = `https://anna:pass@other.example/v2/${KEY}?key=${KEY}`;
  const server = createServer((_, response) => response.writeHead(308, { location }).end());
  onTestFinished(() => void server.close());
  expect(await failureAt(`http://127.0.0.1:${await portOf(server)}`)).toBe(
    'cannot get the session: HTTP 308, which leads to https://other.example/v2/[redacted]',
  );
});
