import { expect, test } from 'vitest';
import { PATHS, reasonsIn } from './client.ts';
import { useService } from './service.ts';
import { expectRefusal } from './shapes.ts';

const service = useService();

test('5: creating a session accepts the API key', async () => {
  await service.client.created();
});

test('5: creating a session refuses JWT, session token, wrong key and none', async () => {
  const { client } = service;
  const { token } = await client.created();
  const { apiKey, jwt } = client.target;
  for (const credential of [jwt, token, 'wrong', `${apiKey}x`, apiKey.slice(0, -1), null]) {
    expectRefusal(await client.create({ intent: 's2s' }, credential), 'create');
  }
});

test('5: creating a session accepts the key as Bearer only', async () => {
  const { client } = service;
  const { apiKey } = client.target;
  const basic = `Basic ${Buffer.from(`${apiKey}:`).toString('base64')}`;
  for (const authorization of [apiKey, basic, 'Bearer', 'Bearer ', `Token ${apiKey}`, `Bearer${apiKey}`]) {
    const answer = await client.request('POST', PATHS.sessions, {
      json: { intent: 's2s' },
      headers: { authorization },
    });
    expectRefusal(answer, `create with ${authorization.slice(0, 6)}...`);
  }
  const inQuery = await client.request('POST', `${PATHS.sessions}?token=${encodeURIComponent(apiKey)}`, {
    json: { intent: 's2s' },
  });
  expectRefusal(inQuery, 'create with the key in the query');
});

test('5: reading and revoking sessions refuses JWT, session token, wrong key and none', async () => {
  const { client } = service;
  const { id, token } = await client.created();
  for (const credential of [client.target.jwt, token, 'wrong', null]) {
    for (const [method, path] of [
      ['GET', PATHS.session(id)],
      ['GET', PATHS.sessions],
      ['DELETE', PATHS.session(id)],
    ] as const) {
      expectRefusal(await client.request(method, path, { credential }), `${method} ${path}`);
    }
  }
  expect((await client.session(id)).status, 'nothing was revoked').toBe('pending');
});

test('5: legacy creation refuses JWT, session token, wrong key and none', async () => {
  const { client } = service;
  const { token } = await client.created();
  for (const credential of [client.target.jwt, token, 'wrong', null]) {
    const answer = await client.request('POST', PATHS.legacy, { credential, json: { data: {} } });
    expectRefusal(answer, 'legacy create');
  }
});

test('5: creating a voice accepts the JWT', async () => {
  await service.client.cloned();
});

test('5: creating a voice refuses API key, session token, wrong JWT and none', async () => {
  const { client } = service;
  const { token } = await client.created();
  const { apiKey, jwt } = client.target;
  const data = { name: 'Visitor 1', samples: [{ filename: 'visitor.wav', mime_type: 'audio/wav' }] };
  for (const credential of [apiKey, token, 'wrong', `${jwt}x`, jwt.slice(0, -1), null]) {
    expectRefusal(await client.clone(data, credential), 'clone');
  }
});

test('5: creating a voice accepts the JWT as Bearer only', async () => {
  const { client } = service;
  const { jwt } = client.target;
  const data = { name: 'Visitor 1', samples: [{ filename: 'visitor.wav', mime_type: 'audio/wav' }] };
  for (const authorization of [jwt, `JWT ${jwt}`, 'Bearer', `Bearer${jwt}`]) {
    const answer = await client.request('POST', PATHS.clone, { json: { data }, headers: { authorization } });
    expectRefusal(answer, `clone with ${authorization.slice(0, 6)}...`);
  }
});

test('5: a stream accepts the API key as query parameter token', async () => {
  await service.client.works(service.client.target.apiKey);
});

test('5: a stream accepts the API key in the Authorization header', async () => {
  const { client } = service;
  await client.works(client.streamUrl(null), { Authorization: `Bearer ${client.target.apiKey}` });
});

test('5: a stream accepts a session token as query parameter token', async () => {
  await service.client.works((await service.client.created()).token);
});

test('5: a stream refuses JWT, a wrong token and none', async () => {
  const { client } = service;
  await client.refused(client.target.jwt);
  await client.refused('wrong');
  await client.refused('');
  await client.refused(client.streamUrl(null));
  await client.refused(client.streamUrl(null), { Authorization: 'Bearer wrong' });
  await client.refused(client.streamUrl(null), { Authorization: `Bearer ${client.target.jwt}` });
});

test('5: a session id is not a token', async (context) => {
  const { id, token } = await service.client.created();
  if (id === token) context.skip('this service uses one string for both');
  await service.client.refused(id);
});

test("5: a temporary session's token is used like any other session's", async () => {
  const { client } = service;
  const { token } = await client.created();
  await client.works(token);
  const { ws_url } = await client.legacy();
  const url = new URL(ws_url);
  url.searchParams.set('token', token);
  await client.works(url.href);
});

test('5 rule 1: a token is limited by its intent', async () => {
  const { client } = service;
  for (const intent of ['stt', 'tts']) {
    const refusal = await client.refused((await client.created({ intent })).token);
    expect(reasonsIn(refusal.said)).toEqual(['intent_mismatch']);
  }
});

test('5 rule 1: a token is limited by its connection_type', async () => {
  const { client } = service;
  const refusal = await client.refused((await client.created({ connection_type: 'webrtc' })).token);
  expect(reasonsIn(refusal.said)).toEqual(['connection_type_mismatch']);
});

test('5 rule 1: a token is limited by its connect window', async (context) => {
  const steering = service.steering(context, 'a connect window lasts 60 s at least');
  const { client } = service;
  const { token } = await client.created({ expires_in_seconds: 60 });
  await steering.advance(60_500);
  expect(reasonsIn((await client.refused(token)).said)).toEqual(['connect_window_expired']);
});

test('5 rule 1: a token is limited by its maximum stream duration', async (context) => {
  const steering = service.steering(context, 'the shortest maximum is 60 s');
  const { client } = service;
  const stream = await client.works((await client.created({ max_session_duration_seconds: 60 })).token);
  await steering.advance(60_500);
  await stream.closes();
});

test('5 rule 1: a token is limited by its single-use flag', async () => {
  const { client } = service;
  const { token } = await client.created({ single_use: true });
  await client.works(token);
  expect(reasonsIn((await client.refused(token)).said)).toEqual(['session_already_used']);
});

test('5 rule 1: a refused token gets a specific error code', async () => {
  const { client } = service;
  const { token } = await client.created({ single_use: true });
  await client.works(token);
  const used = await client.refused(token);
  const wrongIntent = await client.refused((await client.created({ intent: 'stt' })).token);
  if (used.delivery === 'http') expect(used.errorCode).not.toBe(wrongIntent.errorCode);
  expect(reasonsIn(used.said)).not.toEqual(reasonsIn(wrongIntent.said));
});

test('5 rule 2: revoking a session stops its token for new connections at once', async () => {
  const { client } = service;
  const unused = await client.created();
  await client.revoke(unused.id);
  await client.refused(unused.token);
  const running = await client.created();
  await client.works(running.token);
  await client.revoke(running.id);
  await client.refused(running.token);
});
