import { beforeAll, describe, expect, it } from 'vitest';
import { createRequest } from '../../src/adapters/certificates/certificate-request.ts';
import { DAY_MS, type Issue } from '../adapters/certificates/authority.ts';
import { findOpenssl } from '../adapters/mqtt/mosquitto.ts';
import { needs } from '../needs.ts';
import { ca, device, due, inTurn, NAME, NOW, stranger } from './certificate-device.ts';

/** `toMatchObject` treats a bare pattern as an object without fields, which matches everything. */
const matching = (pattern: RegExp): string => expect.stringMatching(pattern) as string;

describe('a hostile answer', needs(!findOpenssl() && 'needs openssl'), () => {
  const other = createRequest(NAME);
  const life = { from: NOW, to: NOW + 300 * DAY_MS };
  let below: ReturnType<typeof ca.below>;
  beforeAll(() => {
    below = ca.below('between');
  });
  const AUTHORITY = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign'];

  it.each<[string, Partial<Issue>, ((good: string) => string) | null, RegExp, string?]>([
    ['for another device', { subject: '/CN=museum.kiosk-02' }, null, /is for "CN=museum.kiosk-02"/],
    ['for another key', {}, () => ca.issue(other.request, life), /another key/],
    ['that has expired', { from: NOW - 9 * DAY_MS, to: NOW - 1 }, null, /has ended/],
    ['that is valid from tomorrow', { from: NOW + DAY_MS }, null, /not valid before/],
    ['that expires within a day', { to: NOW + DAY_MS / 2 }, null, /within a day/],
    ['for servers', { extensions: ['extendedKeyUsage=serverAuth'] }, null, /clients/],
    ['signed with SHA-1', { digest: 'sha1' }, null, /cannot be used for TLS \(ca md too weak: .*SHA-256/],
    ['that makes the device an authority', { extensions: AUTHORITY }, null, /authority/],
    ['that is not a certificate', {}, () => 'hello', /cannot be read/],
    ['that is cut off', {}, (good) => good.slice(0, 300), /cannot be read/],
    ['that is damaged', {}, (good) => good.replace(/\n.{20}/, '\nAAAAAAAAAAAAAAAAAAAA'), /cannot be read/],
    ['followed by five more', {}, (good) => good.repeat(6), /cannot be read/],
    ['with a private key', {}, () => ca.key, /must not contain a private key/, 'invalid_args'],
  ])(
    '%s is refused, and the request stays open',
    async (_, change, pem, message, code = 'wrong_certificate') => {
      const { answer, start, certificate, configured, deps, kept } = due();
      await start();
      expect(await answer(change, pem)).toMatchObject({
        status: 'error',
        code,
        message: matching(message),
      });
      deps.clock.advance(2000);
      expect(deps.reconnects).toBe(0);
      expect(certificate.pair()).toEqual(configured);
      expect(kept.text).not.toContain('BEGIN CERTIFICATE-');
      expect(await answer()).toMatchObject({ status: 'ok' });
    },
  );

  it('is refused when its authority is unknown, even under the same name', async () => {
    const { bring, requests, start } = due();
    await start();
    const [asked] = requests();
    const id = String(asked?.['id']);
    const strange = stranger.issue(String(asked?.['csr']), life);
    const message = /not issued by an authority of mqtt.caFile/;
    expect(await bring(id, strange)).toMatchObject({ message: matching(message) });
    // Its own authority in the chain proves nothing.
    expect(await bring(id, `${strange}${stranger.certificate}`)).toMatchObject({
      message: matching(message),
    });
    // A device is not an authority, whatever it signs.
    const device = createRequest(NAME);
    const leaf = ca.issue(device.request, life);
    expect(await bring(id, `${strange}${leaf}`)).toMatchObject({ message: matching(message) });
    // An intermediate authority is accepted if its certificate comes along.
    const lower = below.issue(String(asked?.['csr']), life);
    expect(await bring(id, lower)).toMatchObject({ message: matching(message) });
    expect(await bring(id, `${lower}${below.certificate}`)).toMatchObject({ status: 'ok' });
  });

  it('is refused without a request, for an older request, or a second time', async () => {
    const quiet = device(-1, 300);
    await quiet.start();
    const pem = ca.issue(other.request, life);
    expect(await quiet.bring('x', pem)).toMatchObject({ code: 'not_asked' });
    const { answer, bring, requests, start, deps } = due();
    await start();
    const id = String(requests()[0]?.['id']);
    expect(await bring(`${id}x`, pem)).toMatchObject({ code: 'not_asked' });
    expect(await answer()).toMatchObject({ status: 'ok' });
    expect(await bring(id, pem)).toMatchObject({ code: 'not_asked' });
    deps.clock.advance(1000);
    deps.brokerUp(2);
    expect(await bring(id, pem)).toMatchObject({ code: 'not_asked' });
  });

  it('is refused on a fleet topic, retained, oversized or with extra fields', async () => {
    const { deps, requests, start, bring } = due();
    await start();
    const request = String(requests()[0]?.['id']);
    expect(await bring(request, 'A'.repeat(20_000))).toMatchObject({ code: 'invalid_args' });
    const body = { id: 'r1', args: { request, certificate: 'x' } };
    deps.command('certificate', body, { retain: true });
    expect(deps.answers('certificate').at(-1)).toMatchObject({ error: { code: 'retained' } });
    deps.command('certificate', { id: 'r2', args: { ...body.args, key: 'mine' } });
    expect(deps.answers('certificate').at(-1)).toMatchObject({ error: { code: 'invalid_args' } });
    deps.deliver('dragoman/v1/museum/all/cmd/certificate', { ...body, id: 'r3' });
    await inTurn();
    expect(deps.answers('certificate').at(-1)).toMatchObject({ error: { code: 'wrong_certificate' } });
  });

  it('costs two log lines a minute in a flood, and the good answer is still accepted', async () => {
    const { deps, start, requests, bring, answer } = due();
    await start();
    const id = String(requests()[0]?.['id']);
    for (let count = 0; count < 60; count += 1) await bring(id, 'hello');
    const told = deps.logged.filter(([, sentence]) => sentence === 'a client certificate was rejected');
    expect(told).toHaveLength(1);
    deps.clock.advance(60_000);
    expect(await answer()).toMatchObject({ status: 'ok' });
  });

  it('is refused while the clock is years off, and accepted when the clock is right', async () => {
    const { deps, start, requests, bring } = due();
    await start();
    const id = String(requests()[0]?.['id']);
    const pem = ca.issue(String(requests()[0]?.['csr']), life);
    deps.clock.setWall(NOW + 3650 * DAY_MS);
    expect(await bring(id, pem)).toMatchObject({ message: matching(/has ended .* by this device's clock/) });
    deps.clock.setWall(NOW - 365 * DAY_MS);
    expect(await bring(id, pem)).toMatchObject({ code: 'wrong_certificate' });
    deps.clock.setWall(NOW);
    expect(await bring(id, pem)).toMatchObject({ status: 'ok' });
  });
});
