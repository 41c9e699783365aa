import { createPublicKey, verify } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { createKeyPair, parsePrivateKey } from '../../src/adapters/signing/signing-keys.ts';
import { until } from '../until.ts';
import { type FixtureOptions, fixtureOfEachTest, PREFIX } from './backend-on-loopback.ts';

const { start } = fixtureOfEachTest();

/** Verifies a signed answer independently of the code that signed it. */
function openByHand(payload: string, publicPem: string, kid: string): Record<string, unknown> {
  const outer = JSON.parse(payload) as Record<string, string>;
  expect(Object.keys(outer).sort()).toEqual(['id', 'jws']);
  const [head = '', body = '', signature = ''] = (outer['jws'] ?? '').split('.');
  const text = (part: string): string => Buffer.from(part, 'base64url').toString();
  expect(JSON.parse(text(head))).toEqual({ alg: 'EdDSA', kid, typ: 'dragoman+token' });
  const input = Buffer.from(`${head}.${body}`);
  expect(verify(null, input, createPublicKey(publicPem), Buffer.from(signature, 'base64url'))).toBe(true);
  const inner = JSON.parse(text(body)) as Record<string, unknown>;
  expect(inner['id']).toBe(outer['id']);
  expect(inner['iat']).toBeTypeOf('number');
  return inner;
}

async function signed(options: FixtureOptions = {}) {
  const { privatePem, publicPem, kid } = createKeyPair();
  const fixture = await start({ signingKey: parsePrivateKey(privatePem, 'key.pem'), ...options });
  const answer = async (device: string, body: string) => {
    const topic = `${PREFIX}/museum/${device}/token/res`;
    const heard = () => fixture.witness.messages.filter((message) => message.topic === topic);
    const before = heard().length;
    fixture.send(device, body);
    await until(() => heard().length > before, 'an answer');
    return openByHand(heard().at(-1)?.payload ?? '', publicPem, kid);
  };
  return { fixture, answer };
}

describe('a backend with a signing key signs', () => {
  it('a grant, for this device only', async () => {
    const { fixture, answer } = await signed();
    const body = await answer('kiosk-01', fixture.request('r1'));
    expect(body).toMatchObject({ ok: true, id: 'r1', device: `${PREFIX}/museum/kiosk-01` });
    const { token } = body['session'] as { token: string };
    expect(token.length).toBeGreaterThan(5);
    const logged = fixture.lines.join('');
    expect(logged).not.toContain(token);
    expect(logged).not.toContain('eyJ');
  });

  it('a trial, a denial, and the answer to an invalid request', async () => {
    const { fixture, answer } = await signed({
      config: { devices: { 'museum/kiosk-02': { disabled: true } } },
    });
    expect(await answer('kiosk-01', fixture.request('r1', { probe: true }))).toMatchObject({
      ok: true,
      probe: { session: 'deleted' },
    });
    expect(await answer('kiosk-02', fixture.request('r2'))).toMatchObject({
      ok: false,
      error: { code: 'device_disabled', final: true },
      device: `${PREFIX}/museum/kiosk-02`,
    });
    expect(await answer('kiosk-01', '{"id":"r3"}')).toMatchObject({
      ok: false,
      error: { code: 'invalid_request' },
    });
  });
});
