import { calculateJwkThumbprint, exportJWK } from 'jose';
import { describe, expect, it } from 'vitest';
import { redactText, redactValue } from '../../../src/adapters/redaction.ts';
import { readUnverified } from '../../../src/adapters/signing/jws.ts';
import { createSignatureReader } from '../../../src/adapters/signing/reader.ts';
import { createSigner } from '../../../src/adapters/signing/signer.ts';
import { createKeyPair, KeyError, parsePrivateKey } from '../../../src/adapters/signing/signing-keys.ts';
import { judgeSigned } from '../../../src/core/signed-message.ts';
import { asWall } from '../../../src/protocol/common/time.ts';
import { jws, makePair } from '../../device/attacker.ts';

const DEVICE = 'dragoman/v1/museum/kiosk-01';

describe('a signature', () => {
  const owner = makePair();
  const reader = createSignatureReader([{ kid: owner.kid, key: owner.publicKey }]);

  it('follows the standard, and can be read back', async () => {
    const { privatePem, kid } = createKeyPair();
    const signer = createSigner(parsePrivateKey(privatePem, 'x'));
    expect(signer.kid).toBe(kid);
    const signed = await signer.sign(
      'dragoman+token',
      DEVICE,
      { id: 'r1', ok: false },
      asWall(1_700_000_000_500),
    );
    const [head = '', body = ''] = signed.split('.');
    const parse = (part: string): unknown => JSON.parse(Buffer.from(part, 'base64url').toString());
    expect(parse(head)).toEqual({ alg: 'EdDSA', kid, typ: 'dragoman+token' });
    expect(parse(body)).toEqual({ id: 'r1', ok: false, device: DEVICE, iat: 1_700_000_000 });
    const own = parsePrivateKey(privatePem, 'x');
    expect(kid).toBe(await calculateJwkThumbprint(await exportJWK(own.key)));
  });

  it.each(['dragoman+command', 'dragoman+config'] as const)(
    'is accepted as %s only for its type, its target and its id',
    async (type) => {
      const group = 'dragoman/v1/museum/group/lobby';
      const opened = await reader.open(jws(owner, { version: 7, device: group }, { typ: type }));
      if (!opened.ok) throw new Error(opened.why);
      const devices = [DEVICE, group, 'dragoman/v1/museum/all'];
      const judge = (more: object) => judgeSigned(opened.content, { type, devices, id: null, ...more });
      expect(judge({})).toEqual({ ok: true, body: { version: 7, device: group } });
      expect(judge({ type: 'dragoman+token' })).toEqual({ ok: false, why: 'type' });
      expect(judge({ devices: [DEVICE] })).toEqual({ ok: false, why: 'device' });
      expect(judge({ id: 'x' })).toEqual({ ok: false, why: 'id' });
    },
  );

  it('never appears in a log, whole, cut or within a text', () => {
    const signed = jws(owner, { token: 'tok_SECRET', id: 'x' });
    const secret = Buffer.from(JSON.stringify({ token: 'tok_SECRET' }))
      .toString('base64url')
      .slice(0, 20);
    for (const text of [
      signed,
      `answer ${signed}!`,
      JSON.stringify({ id: 'x', jws: signed }),
      `jws=${signed}`,
    ])
      expect(redactText(text)).not.toContain(secret);
    expect(
      JSON.stringify(redactValue({ jws: signed, deep: [{ payload: `{"jws":"${signed}"}` }] })),
    ).not.toContain(secret);
    for (let length = 1; length < signed.length; length++)
      expect(JSON.stringify(redactValue({ text: signed }, length))).not.toContain(secret);
  });

  it('can be read without a check, only by the function for it', async () => {
    const signed = jws(makePair(), { id: 'x' });
    expect(readUnverified(signed)).toMatchObject({ ok: true, content: { payload: '{"id":"x"}' } });
    expect(await reader.open(signed)).toEqual({ ok: false, why: 'unknown_key' });
    expect(readUnverified('x.y')).toEqual({ ok: false, why: 'malformed' });
  });
});

describe('a private key', () => {
  it('is reported by its file when it is invalid, never by its content', () => {
    const attempt = (): unknown => parsePrivateKey('tok_SECRET', '/etc/signing.pem');
    expect(attempt).toThrow(KeyError);
    expect(attempt).toThrow(/^the file \/etc\/signing\.pem holds no private key in PEM/);
  });
});
