import { describe, expect, it } from 'vitest';
import { judgeSigned, readEnvelope } from '../../src/core/signed-message.ts';

const DEVICE = 'dragoman/v1/museum/kiosk-01';
const WANTED = { type: 'dragoman+token', devices: [DEVICE], id: 'r1' } as const;
const content = (body: unknown, typ: unknown = 'dragoman+token') => ({ typ, payload: JSON.stringify(body) });

describe('a signed message', () => {
  it('is accepted only for its kind, its device and its request', () => {
    const body = { id: 'r1', device: DEVICE, ok: true };
    expect(judgeSigned(content(body), WANTED)).toEqual({ ok: true, body });
    const why = (given: unknown, typ?: unknown) => {
      const judged = judgeSigned(content(given, typ), WANTED);
      return judged.ok ? null : judged.why;
    };
    expect(why(body, 'dragoman+command')).toBe('type');
    expect(why(body, 'dragoman+token ')).toBe('type');
    expect(why({ ...body, device: `${DEVICE}0` })).toBe('device');
    expect(why({ ...body, device: null })).toBe('device');
    expect(why({ ...body, id: 'r2' })).toBe('id');
    expect(why({ device: DEVICE })).toBe('id');
    expect(why([body])).toBe('malformed');
  });
});

describe('the frame of a message', () => {
  it.each([
    ['{"id":"r1","jws":"a.b.c"}', { kind: 'signed', id: 'r1', jws: 'a.b.c' }],
    ['{"jws":"a.b.c","ok":true,"session":{}}', { kind: 'signed', id: null, jws: 'a.b.c' }],
    ['{"id":"r1","ok":true}', { kind: 'plain', json: { id: 'r1', ok: true } }],
    ['[]', { kind: 'plain', json: [] }],
    ['{"id":"r1","jws":7}', { kind: 'unreadable', why: 'malformed' }],
    ['{"id":{},"jws":"a.b.c"}', { kind: 'unreadable', why: 'malformed' }],
    ['{', { kind: 'unreadable', why: 'malformed' }],
    [`"${'x'.repeat(100)}"`, { kind: 'unreadable', why: 'oversized' }],
  ])('%s', (text, expected) => {
    expect(readEnvelope(text, 100)).toEqual(expected);
  });
});
