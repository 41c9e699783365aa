/** A message from the bus becomes a request for a token, whose answer goes to the device that sent it. */
import { describe, expect, it } from 'vitest';
import { readRequest } from '../../../src/backend/issuing/request.ts';

const OWN = 'dragoman/v1/museum/kiosk-01';
const BODY = {
  ts: null,
  id: 'abcdefghijklmnopqrstuvwx',
  lane: 'main',
  intent: 's2s',
  connection_type: 'ws',
  reason: 'start',
  attempt: 1,
};
const read = (properties: object, more: object = {}) =>
  readRequest('dragoman/v1', {
    topic: `${OWN}/token/req`,
    payload: JSON.stringify(BODY),
    retain: false,
    properties,
    ...more,
  });

describe('the answer to a request', () => {
  it.each([
    ['without a response topic', undefined, `${OWN}/token/res`, false],
    ['its own response topic', `${OWN}/token/res`, `${OWN}/token/res`, false],
    ['one below its own', `${OWN}/token/res/lane-1`, `${OWN}/token/res/lane-1`, false],
    ['one beside its own', `${OWN}/token/response`, `${OWN}/token/res`, true],
    ["another device's", 'dragoman/v1/museum/kiosk-02/token/res', `${OWN}/token/res`, true],
    ['one with a wildcard', `${OWN}/token/res/#`, `${OWN}/token/res`, true],
    ['one that is too long', `${OWN}/token/res/${'x'.repeat(512)}`, `${OWN}/token/res`, true],
  ])('goes to the device: %s', (_what, responseTopic, topic, foreignReply) => {
    expect(read({ responseTopic })).toMatchObject({
      kind: 'ask',
      ask: { who: { tenant: 'museum', device: 'kiosk-01' }, reply: { topic } },
      foreignReply,
    });
  });

  it('has the correlation data of the request, up to 1024 bytes', () => {
    const replyOf = (bytes: number) => read({ correlationData: new Uint8Array(bytes) });
    expect(replyOf(1024)).toMatchObject({ ask: { reply: { correlationData: new Uint8Array(1024) } } });
    expect(replyOf(1025)).toMatchObject({ ask: { reply: { topic: `${OWN}/token/res` } } });
    expect(JSON.stringify(replyOf(1025))).not.toContain('correlationData');
  });
});

describe('a message that is not a request', () => {
  it.each([
    ['retained', { retain: true }],
    ['malformed', { payload: '{"id":' }],
    ['topic', { topic: `${OWN}/status` }],
  ])('is left without an answer: %s', (why, more) => {
    expect(read({}, more)).toMatchObject({ kind: 'nothing', why });
  });

  it('is answered with the wrong field when it has an id', () => {
    const payload = JSON.stringify({ ...BODY, attempt: 0 });
    expect(read({}, { payload })).toMatchObject({
      kind: 'invalid',
      id: BODY.id,
      detail: expect.stringContaining('attempt'),
    });
  });
});
