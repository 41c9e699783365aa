import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import { PATHS } from './client.ts';
import { shake } from './handshake.ts';
import { useService } from './service.ts';
import { type Answer, expectRefusal } from './shapes.ts';
import { Stream, type UpgradeRefusal } from './stream.ts';

const service = useService();

/** A refused upgrade read like any other HTTP answer. */
async function upgrade(url: string): Promise<Answer> {
  const result = await service.client.connect(url);
  if (result instanceof Stream) throw new Error(`${url.replace(/token=.*/, '')} was upgraded`);
  const { status, text, json } = result as UpgradeRefusal;
  return { status, text, json, headers: new Headers() };
}

const createWith = (body: string, contentType = 'application/json') =>
  service.client.request('POST', PATHS.sessions, {
    credential: service.client.target.apiKey,
    body,
    headers: { 'content-type': contentType },
  });

const cloneWith = (body: string, contentType = 'application/json') =>
  service.client.request('POST', PATHS.clone, {
    credential: service.client.target.jwt,
    body,
    headers: { 'content-type': contentType },
  });

test('2.4: an error has type, status, title, detail, instance and error_code', async () => {
  const error = expectRefusal(await service.client.create({}), 'create without intent');
  expect(Object.keys(error)).toEqual(
    expect.arrayContaining(['type', 'status', 'title', 'detail', 'instance', 'error_code']),
  );
});

test('2.4 type: identifies the problem type', async () => {
  const { client } = service;
  const first = expectRefusal(await client.create({}), 'create without intent');
  const again = expectRefusal(await client.create({}), 'create without intent');
  const other = expectRefusal(await client.create({ intent: 's2s' }, 'wrong'), 'create with a wrong key');
  expect(again.type).toBe(first.type);
  expect(other.type).not.toBe(first.type);
});

test('2.4 instance: identifies the occurrence', async () => {
  const { client } = service;
  const answers = [await client.create({}), await client.create({}), await client.create({})];
  const instances = answers.map((answer) => expectRefusal(answer, 'create without intent').instance);
  expect(new Set(instances).size).toBe(3);
});

test('2.4 error_code: identifies the error type', async () => {
  const { client } = service;
  const first = expectRefusal(await client.create({}), 'create without intent');
  const again = expectRefusal(await client.create({}), 'create without intent');
  const other = expectRefusal(await client.create({ intent: 's2s' }, 'wrong'), 'create with a wrong key');
  expect(again.error_code).toBe(first.error_code);
  expect(other.error_code).not.toBe(first.error_code);
});

test('2.4: an unknown path is refused with the envelope', async () => {
  const { client } = service;
  const credential = client.target.apiKey;
  const paths = [
    '/nowhere',
    '/session-storage',
    '/session-storage/v3/sessions',
    '/saas/voice/nowhere/at/all',
  ];
  for (const path of paths) {
    for (const method of ['GET', 'POST']) {
      const json = method === 'POST' ? { intent: 's2s' } : undefined;
      const options = json === undefined ? { credential } : { credential, json };
      expectRefusal(await client.request(method, path, options), `${method} ${path}`);
    }
  }
});

test('2.4: an undecodable path is refused with the envelope', async () => {
  const { client } = service;
  for (const path of [`${PATHS.sessions}/%zz`, '/saas/voice/m/%ff%fe']) {
    expectRefusal(await client.request('GET', path, { credential: client.target.apiKey }), `GET ${path}`);
  }
});

test('2.4: a wrong method is refused with the envelope', async () => {
  const { client } = service;
  const { apiKey, jwt } = client.target;
  const calls: [string, string, string][] = [
    ['PUT', PATHS.sessions, apiKey],
    ['DELETE', PATHS.sessions, apiKey],
    ['PATCH', PATHS.legacy, apiKey],
    ['PUT', PATHS.clone, jwt],
    ['DELETE', PATHS.clone, jwt],
  ];
  for (const [method, path, credential] of calls) {
    expectRefusal(await client.request(method, path, { credential }), `${method} ${path}`);
  }
});

test('2.4: malformed JSON is refused with the envelope', async () => {
  for (const body of ['', '{', '{"intent":"s2s"', "{'intent':'s2s'}", 'intent=s2s', '\u0000']) {
    expectRefusal(await createWith(body), `create with ${JSON.stringify(body)}`);
    expectRefusal(await cloneWith(body), `clone with ${JSON.stringify(body)}`);
  }
});

test('2.4: JSON that is not an object is refused with the envelope', async () => {
  for (const body of ['[]', '"s2s"', 'null', '42', 'true', '[{"intent":"s2s"}]']) {
    expectRefusal(await createWith(body), `create with ${body}`);
    expectRefusal(await cloneWith(body), `clone with ${body}`);
    expectRefusal(await cloneWith(`{"data":${body}}`), `clone with data ${body}`);
  }
});

test('2.4: a body of another content type is refused with the envelope', async () => {
  const form = 'application/x-www-form-urlencoded';
  expectRefusal(await createWith('intent=s2s', form), 'create with a form');
  expectRefusal(await cloneWith('name=Visitor', form), 'clone with a form');
  expectRefusal(await createWith('<intent>s2s</intent>', 'application/xml'), 'create with XML');
  expectRefusal(await cloneWith('<name>Visitor</name>', 'application/xml'), 'clone with XML');
});

test('2.4: JSON declared as another content type is accepted, or refused with the envelope', async () => {
  const answer = await createWith('{"intent":"s2s"}', 'text/plain');
  if (answer.status !== 201) expectRefusal(answer, 'create with text/plain');
});

test('2.4: a body that is too large is refused with the envelope', async () => {
  const much = 'x'.repeat(4 * 1024 * 1024);
  const create = JSON.stringify({ intent: 's2s', client_reference_id: much });
  expectRefusal(await createWith(create), 'create with 4 MiB');
  const data = { name: much, samples: [{ filename: 'visitor.wav', mime_type: 'audio/wav' }] };
  expectRefusal(await cloneWith(JSON.stringify({ data })), 'clone with 4 MiB');
});

test('2.4: after a body that is too large the next request is answered', async () => {
  const { client } = service;
  const much = JSON.stringify({ intent: 's2s', client_reference_id: 'x'.repeat(4 * 1024 * 1024) });
  for (let round = 0; round < 5; round += 1) {
    expectRefusal(await createWith(much), 'create with 4 MiB');
    await client.created();
    await new Promise((resolve) => setTimeout(resolve, 20));
    await client.created();
  }
});

test('2.4: missing and wrong credentials are refused with the envelope', async () => {
  const { client } = service;
  const { id } = await client.created();
  const { voice_id } = await client.cloned();
  const voice = { data: { name: 'Visitor 1', samples: [{ filename: 'v.wav', mime_type: 'audio/wav' }] } };
  const calls: [string, string, unknown][] = [
    ['POST', PATHS.sessions, { intent: 's2s' }],
    ['GET', PATHS.sessions, undefined],
    ['GET', PATHS.session(id), undefined],
    ['DELETE', PATHS.session(id), undefined],
    ['POST', PATHS.legacy, { data: {} }],
    ['POST', PATHS.clone, voice],
    ['GET', PATHS.voice(voice_id), undefined],
  ];
  for (const [method, path, json] of calls) {
    for (const credential of [null, 'wrong']) {
      const options = json === undefined ? { credential } : { credential, json };
      const what = `${method} ${path} with ${credential ?? 'no credential'}`;
      expectRefusal(await client.request(method, path, options), what);
    }
  }
});

test('2.4: an unknown session is refused with the envelope', async () => {
  const { client } = service;
  const credential = client.target.apiKey;
  for (const id of [randomUUID(), 'unknown', 'a'.repeat(1000)]) {
    expectRefusal(
      await client.request('GET', PATHS.session(id), { credential }),
      `GET session ${id.slice(0, 40)}`,
    );
    expectRefusal(
      await client.request('DELETE', PATHS.session(id), { credential }),
      `DELETE ${id.slice(0, 40)}`,
    );
  }
});

test('2.4: an unknown voice is refused with the envelope', async () => {
  const { client } = service;
  for (const id of [randomUUID(), 'unknown']) {
    const answer = await client.request('GET', PATHS.voice(id), { credential: client.target.jwt });
    expectRefusal(answer, `GET voice ${id}`);
  }
});

test('2.4: a refused upgrade carries the envelope where HTTP refuses it', async (context) => {
  const steering = service.steering(context, 'the delivery of refusals (7: not shown) is an option');
  await steering.set({ refusal_delivery: 'http' });
  expectRefusal(await upgrade(service.client.streamUrl('wrong')), 'upgrade with a wrong token');
  expectRefusal(await upgrade(service.client.streamUrl(null)), 'upgrade without a token');
});

test('2.4: an upgrade on another path is refused with the envelope', async () => {
  const { streaming, apiKey } = service.client.target;
  const token = `?token=${encodeURIComponent(apiKey)}`;
  const paths = [
    '/nowhere',
    '/streaming-api/abc/v2/speech-to-speech/stream',
    '/streaming-api/v1/speech-to-speech/stream',
    '/streaming-api/abc/v1/speech-to-speech/stream/more',
  ];
  for (const path of paths) expectRefusal(await upgrade(streaming + path + token), `upgrade ${path}`);
});

test('2.4: plain HTTP on the streaming path is refused with the envelope', async () => {
  const { client } = service;
  const base = client.target.streaming.replace(/^ws/, 'http');
  const url = `${base}${PATHS.stream('abc')}?token=${encodeURIComponent(client.target.apiKey)}`;
  for (const method of ['GET', 'POST']) expectRefusal(await client.request(method, url), `${method} stream`);
});

test('2.4: a broken WebSocket handshake is refused with the envelope', async () => {
  const { streaming, apiKey } = service.client.target;
  const target = `${PATHS.stream('abc')}?token=${encodeURIComponent(apiKey)}`;
  const noKey = await shake(streaming, { target, headers: { 'Sec-WebSocket-Key': 'x' } });
  expectRefusal(noKey, 'a handshake with a wrong Sec-WebSocket-Key');
  expectRefusal(await shake(streaming, { method: 'POST', target }), 'a handshake by POST');
});

test('2.4: an upgrade with an unreadable address is refused with the envelope', async () => {
  const { client } = service;
  for (const target of ['//', '/%zz', '/streaming-api/%zz/v1/speech-to-speech/stream?token=%zz']) {
    expectRefusal(await shake(client.target.streaming, { target }), `upgrade ${target}`);
  }
  await client.created();
});
