import { describe, expect, it } from 'vitest';
import { createSignatureReader } from '../../../src/adapters/signing/reader.ts';
import { type AnswerFault, readAnswer, readSigned } from '../../../src/device/tokens/answer-rules.ts';
import type { SignatureReader } from '../../../src/ports/signature.ts';
import { hmacJws, jws, makePair, unsignedJws } from '../attacker.ts';

const BASE = 'dragoman/v1/museum/kiosk-01';
/** The id of the request that waits for an answer. */
const ID = 'hash1-abcdefgh';
const owner = makePair();
const next = makePair();
const stranger = makePair();
const reader = createSignatureReader([owner, next].map(({ kid, publicKey: key }) => ({ kid, key })));

const grant = (host = 'service.example', more: object = {}) => ({
  ts: null,
  id: ID,
  ok: true,
  session: { id: 'session-id-that-is-long', token: 'tok_SECRET-0123456789' },
  stream_url: `wss://${host}/streaming-api/{random_hash}/v1`,
  device: BASE,
  iat: 0,
  ...more,
});
const DENIAL = {
  id: ID,
  ok: false,
  error: { code: 'disabled', title: 'Disabled', detail: 'gone', final: true },
  device: BASE,
  iat: 0,
};
const sealed = (signed: string) => ({ id: ID, jws: signed });

/** The body of an answer, or why it is refused. */
async function read(answer: unknown, signatures: SignatureReader = reader): Promise<unknown> {
  const payload = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const expected = { hasKeys: true, checks: 0, isAwaited: (id: string) => id === ID };
  const reading = readAnswer({ payload, retained: false }, expected);
  const opened =
    reading.kind === 'signed' ? readSigned(await signatures.open(reading.jws), reading.id, BASE) : reading;
  return opened.kind === 'refused' ? opened.fault : opened;
}

const evil = grant('evil.example');
const header = { alg: 'EdDSA', kid: owner.kid, typ: 'dragoman+token' };
const rawKey = Buffer.from(owner.publicKey.export({ format: 'jwk' }).x as string, 'base64url');
/** A genuine message of the owner, changed in transit. */
const tampered = (): string => {
  const [head, , signature] = jws(owner, grant()).split('.');
  return `${head}.${Buffer.from(JSON.stringify(evil)).toString('base64url')}.${signature}`;
};

const ATTACKS: readonly [name: string, why: AnswerFault, attack: () => unknown][] = [
  ['unsigned', 'unsigned', () => evil],
  ['unsigned, a final denial', 'unsigned', () => DENIAL],
  ['unsigned, beside an empty jws', 'malformed', () => ({ ...evil, jws: '' })],
  ['unsigned, beside a jws that is not text', 'malformed', () => ({ ...evil, jws: { ...evil } })],
  ['unsigned, beside a list of jws', 'malformed', () => ({ ...evil, jws: [jws(owner, grant())] })],
  ['signed by a stranger in his own name', 'unknown_key', () => sealed(jws(stranger, evil))],
  [
    "signed by a stranger in the owner's name",
    'signature',
    () => sealed(jws(stranger, evil, { kid: owner.kid })),
  ],
  [
    'a final denial signed by a stranger',
    'signature',
    () => sealed(jws(stranger, DENIAL, { kid: owner.kid })),
  ],
  ['signed, then changed', 'signature', () => sealed(tampered())],
  ['without the name of a key', 'unknown_key', () => sealed(jws(owner, evil, { kid: undefined }))],
  ['with a key that is not text', 'unknown_key', () => sealed(jws(owner, evil, { kid: ['x'] }))],
  [
    'with the key beside it',
    'unknown_key',
    () => sealed(jws(stranger, evil, { jwk: stranger.publicKey.export({ format: 'jwk' }) })),
  ],
  ['alg none', 'malformed', () => sealed(unsignedJws(evil, { ...header, alg: 'none' }))],
  [
    'alg none, with a signature',
    'algorithm',
    () => sealed(unsignedJws(evil, { ...header, alg: 'none' }, 'A'.repeat(86))),
  ],
  ['alg NONE', 'algorithm', () => sealed(unsignedJws(evil, { ...header, alg: 'NoNe' }, 'A'.repeat(86)))],
  ['no alg', 'algorithm', () => sealed(jws(owner, evil, { alg: undefined }))],
  ['a signature of nothing', 'signature', () => sealed(unsignedJws(evil, header, 'A'.repeat(86)))],
  [
    'HMAC with the public key as the secret',
    'malformed',
    () => sealed(hmacJws(owner.publicPem, evil, owner.kid)),
  ],
  [
    'HMAC of the right length with the public key',
    'algorithm',
    () => sealed(hmacJws(rawKey, evil, owner.kid, 'HS512', 512)),
  ],
  ['HMAC that says EdDSA', 'signature', () => sealed(hmacJws(rawKey, evil, owner.kid, 'EdDSA', 512))],
  ['of another type', 'type', () => sealed(jws(owner, evil, { typ: 'dragoman+command' }))],
  ['of no type', 'type', () => sealed(jws(owner, evil, { typ: undefined }))],
  ['an unknown critical header', 'signature', () => sealed(jws(owner, evil, { crit: ['exp'], exp: 1 }))],
  ['for another device', 'device', () => sealed(jws(owner, { ...evil, device: `${BASE}2` }))],
  ['for the whole fleet', 'device', () => sealed(jws(owner, { ...evil, device: 'dragoman/v1/museum/all' }))],
  ['for no device', 'device', () => sealed(jws(owner, { ...evil, device: undefined }))],
  ['for a list of devices', 'device', () => sealed(jws(owner, { ...evil, device: [BASE] }))],
  ['with another id inside', 'id', () => sealed(jws(owner, { ...evil, id: 'another-request' }))],
  ['with no id inside', 'id', () => sealed(jws(owner, { ...evil, id: undefined }))],
  ['with no id outside', 'malformed', () => ({ jws: jws(owner, evil) })],
  ['with another id outside', 'unasked', () => ({ id: 'another-request', jws: jws(owner, evil) })],
  [
    'two ids outside, of which the last counts',
    'unasked',
    () => `{"id":"${ID}","id":"x","jws":"${jws(owner, evil)}"}`,
  ],
  [
    'a second jws after the honest one',
    'signature',
    () => `{"id":"${ID}","jws":"${jws(owner, grant())}","jws":"${jws(stranger, evil, { kid: owner.kid })}"}`,
  ],
  [
    'an honest signature on a header with two keys',
    'unknown_key',
    () =>
      sealed(
        jws(
          stranger,
          evil,
          `{"alg":"EdDSA","kid":"${owner.kid}","typ":"dragoman+token","kid":"${stranger.kid}"}`,
        ),
      ),
  ],
  ['padded', 'malformed', () => sealed(`${jws(owner, evil)}==`)],
  ['with a space before', 'malformed', () => sealed(` ${jws(owner, evil)}`)],
  ['with a line break inside', 'malformed', () => sealed(jws(owner, evil).replace('.', '.\n'))],
  ['with a line break at the end', 'malformed', () => sealed(`${jws(owner, evil)}\n`)],
  ['in plain base64', 'malformed', () => sealed(`${jws(owner, evil).slice(0, -86)}${'+/'.repeat(43)}`)],
  ['another spelling of the signature', 'malformed', () => sealed(respelt(jws(owner, evil)))],
  ['in five parts', 'malformed', () => sealed(`a.b.c.${jws(owner, evil)}`)],
  [
    'as a JSON serialization',
    'malformed',
    () => ({ id: ID, jws: JSON.stringify({ payload: 'x', signatures: [] }) }),
  ],
  ['a payload that is not JSON', 'malformed', () => sealed(jws(owner, 'no json'))],
  ['a payload that is a list', 'malformed', () => sealed(jws(owner, [evil]))],
  ['oversized', 'oversized', () => sealed(jws(owner, { ...evil, more: 'x'.repeat(60_000) }))],
  ['megabytes of an unsigned one', 'oversized', () => ({ ...evil, more: 'x'.repeat(2_000_000) })],
  ['no JSON', 'malformed', () => '{"id":'],
];

/** The last of 86 characters holds 2 bits of the signature and 4 unused ones. */
function respelt(signed: string): string {
  const signs = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_';
  return signed.slice(0, -1) + signs[signs.indexOf(signed.at(-1) ?? 'A') ^ 1];
}

describe('an answer that is', () => {
  it.each([
    ['the owner', owner],
    ["the owner's other key", next],
  ])('signed with the key of %s: read', async (_, pair) => {
    expect(await read(sealed(jws(pair, grant())))).toEqual({ kind: 'body', body: grant() });
    expect(await read(sealed(jws(pair, DENIAL)))).toEqual({ kind: 'body', body: DENIAL });
  });

  it.each(ATTACKS)('%s: refused as %s', async (_, why, attack) => {
    expect(await read(attack())).toBe(why);
  });
});
