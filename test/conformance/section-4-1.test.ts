import { expect, test } from 'vitest';
import { PATHS } from './client.ts';
import { useService } from './service.ts';
import { expectData, expectRefusal, sessionShape } from './shapes.ts';

const service = useService();

/** Sends a valid body changed by `change` and fails unless it is refused. */
async function refused(change: Record<string, unknown>): Promise<void> {
  expectRefusal(
    await service.client.create({ intent: 's2s', ...change }),
    JSON.stringify(change).slice(0, 120),
  );
}

test('4.1: POST /session-storage/v2/sessions with the API key creates a session', async () => {
  const { client } = service;
  const answer = await client.request('POST', '/session-storage/v2/sessions', {
    headers: { Authorization: `Bearer ${client.target.apiKey}`, 'Content-Type': 'application/json' },
    body: '{"intent":"s2s"}',
  });
  const { id } = expectData(answer, 201, sessionShape, '4.1 create') as { id: string };
  await client.revoke(id);
});

test('4.1: application/json may name its charset', async () => {
  const { client } = service;
  const answer = await client.request('POST', PATHS.sessions, {
    credential: client.target.apiKey,
    headers: { 'content-type': 'application/json; charset=utf-8' },
    body: '{"intent":"s2s"}',
  });
  const { id } = expectData(answer, 201, sessionShape, '4.1 create') as { id: string };
  await client.revoke(id);
});

test('4.1: a body without Content-Type application/json is refused', async () => {
  const { client } = service;
  const bytes = new TextEncoder().encode('{"intent":"s2s"}');
  for (const type of [
    null,
    'text/plain',
    'text/json',
    'application/x-www-form-urlencoded',
    'application/jsonx',
  ]) {
    const answer = await client.request('POST', PATHS.sessions, {
      credential: client.target.apiKey,
      body: bytes,
      ...(type === null ? {} : { headers: { 'content-type': type } }),
    });
    expectRefusal(answer, `create with Content-Type ${type}`);
  }
});

test('4.1 intent: s2s, stt and tts are accepted', async () => {
  for (const intent of ['s2s', 'stt', 'tts']) await service.client.created({ intent });
});

test('4.1 intent: is required', async () => {
  expectRefusal(await service.client.create({}), 'create without intent');
  expectRefusal(await service.client.create({ expires_in_seconds: 60 }), 'create without intent');
});

test('4.1 intent: anything else is refused', async () => {
  for (const intent of ['', 'S2S', 'translate', 's2s ', 1, true, null, ['s2s']]) await refused({ intent });
});

test('4.1 connection_type: ws and webrtc are accepted', async () => {
  for (const connection_type of ['ws', 'webrtc']) await service.client.created({ connection_type });
});

test('4.1 connection_type: ws is the default', async () => {
  expect((await service.client.created()).connection_type).toBe('ws');
});

test('4.1 connection_type: anything else is refused', async () => {
  for (const connection_type of ['', 'WS', 'websocket', 'http', 7, true, []])
    await refused({ connection_type });
});

test('4.1 connection_type: webrtc is refused with stt and tts', async () => {
  for (const intent of ['stt', 'tts']) await refused({ intent, connection_type: 'webrtc' });
});

test('4.1 expires_in_seconds: 60 and 86400 are accepted', async () => {
  for (const expires_in_seconds of [60, 61, 86_399, 86_400])
    await service.client.created({ expires_in_seconds });
});

test('4.1 expires_in_seconds: 59 and 86401 are refused', async () => {
  for (const expires_in_seconds of [59, 86_401, 0, -60, 1e12]) await refused({ expires_in_seconds });
});

test('4.1 expires_in_seconds: anything but an integer is refused', async () => {
  for (const expires_in_seconds of [60.5, '3600', true, [], {}]) await refused({ expires_in_seconds });
});

test('4.1 expires_in_seconds: 3600 is the default', async () => {
  const { created_at, connect_by } = await service.client.created();
  expect(Math.abs(Date.parse(connect_by) - Date.parse(created_at) - 3_600_000)).toBeLessThanOrEqual(1000);
});

test('4.1 max_session_duration_seconds: 60 and 18000 are accepted', async () => {
  for (const max_session_duration_seconds of [60, 61, 17_999, 18_000]) {
    const session = await service.client.created({ max_session_duration_seconds });
    expect(session.max_session_duration_seconds).toBe(max_session_duration_seconds);
  }
});

test('4.1 max_session_duration_seconds: 59 and 18001 are refused', async () => {
  for (const max_session_duration_seconds of [59, 18_001, 0, -1])
    await refused({ max_session_duration_seconds });
});

test('4.1 max_session_duration_seconds: anything but an integer is refused', async () => {
  for (const max_session_duration_seconds of [60.5, '60', true, {}])
    await refused({ max_session_duration_seconds });
});

test('4.1 max_session_duration_seconds: without it a stream has no limit', async (context) => {
  const steering = service.steering(context, 'the longest limit is five hours');
  const { client } = service;
  const stream = await client.works((await client.created()).token);
  await steering.advance(18_100_000);
  await stream.getTask();
  expect(stream.isClosed).toBe(false);
  expect(stream.of('max_duration_reached')).toEqual([]);
});

test('4.1 single_use: true and false are accepted', async () => {
  for (const single_use of [true, false]) {
    expect((await service.client.created({ single_use })).single_use).toBe(single_use);
  }
});

test('4.1 single_use: false is the default', async () => {
  const { client } = service;
  const { token, single_use } = await client.created();
  expect(single_use).toBe(false);
  await client.works(token);
  await client.works(token);
});

test('4.1 single_use: anything but a boolean is refused', async () => {
  for (const single_use of ['true', 1, 'yes', []]) await refused({ single_use });
});

test('4.1 client_reference_id: 256 characters are accepted', async () => {
  for (const client_reference_id of ['x'.repeat(256), 'é'.repeat(256), 'x']) {
    const session = await service.client.created({ client_reference_id });
    expect(session.client_reference_id).toBe(client_reference_id);
  }
});

test('4.1 client_reference_id: 257 characters are refused', async () => {
  for (const client_reference_id of ['x'.repeat(257), 'é'.repeat(257)])
    await refused({ client_reference_id });
});

test('4.1 client_reference_id: anything but a string is refused', async () => {
  for (const client_reference_id of [7, true, {}, ['x']]) await refused({ client_reference_id });
});

test('4.1 subscriber_count: 0 and 100 listener tokens are made', async () => {
  for (const subscriber_count of [0, 1, 100]) {
    const session = await service.client.created({ connection_type: 'webrtc', subscriber_count });
    expect(session.webrtc?.subscriber_keys ?? []).toHaveLength(subscriber_count);
  }
});

test('4.1 subscriber_count: -1 and 101 are refused', async () => {
  for (const subscriber_count of [-1, 101]) await refused({ connection_type: 'webrtc', subscriber_count });
});

test('4.1 subscriber_count: anything but an integer is refused', async () => {
  for (const subscriber_count of [1.5, '2', true, []])
    await refused({ connection_type: 'webrtc', subscriber_count });
});

test('4.1 subscriber_count: makes no listener tokens over ws', async () => {
  const answer = await service.client.create({ intent: 's2s', connection_type: 'ws', subscriber_count: 2 });
  if (answer.status !== 201) expectRefusal(answer, 'subscriber_count with ws');
  else expect(answer.text).not.toContain('subscriber_keys');
});

test('4.1: the response is HTTP 201 with {ok: true, data: <Session>} and status pending', async () => {
  const { client } = service;
  const full = {
    intent: 's2s',
    connection_type: 'webrtc',
    expires_in_seconds: 120,
    max_session_duration_seconds: 240,
    single_use: true,
    client_reference_id: 'all fields',
    subscriber_count: 3,
  };
  for (const body of [{ intent: 's2s' }, full]) {
    const session = expectData(await client.create(body), 201, sessionShape, '4.1 create');
    expect(session).toMatchObject({ status: 'pending', active_stream_count: 0, first_connected_at: null });
  }
});

test('4.1: a refused request creates nothing', async () => {
  const { client } = service;
  const client_reference_id = `refused-${Date.now()}`;
  await refused({ client_reference_id, expires_in_seconds: 59 });
  expect(await client.list(client_reference_id)).toEqual([]);
});

test('4.1 rule 1: a token is bound to its intent', async () => {
  const { client } = service;
  for (const intent of ['stt', 'tts']) {
    const { said } = await client.refused((await client.created({ intent })).token);
    expect(said).toContain('intent_mismatch');
  }
});

test('4.1 rule 1: a token is bound to its connection_type', async () => {
  const { client } = service;
  const { said } = await client.refused((await client.created({ connection_type: 'webrtc' })).token);
  expect(said).toContain('connection_type_mismatch');
});

test('4.1 rule 2: after a retried request the unused first session remains', async () => {
  const { client } = service;
  const client_reference_id = `retried-${Date.now()}`;
  await client.create({ intent: 's2s', client_reference_id });
  await client.create({ intent: 's2s', client_reference_id });
  const listed = await client.list(client_reference_id);
  expect(listed.map((session) => session.status)).toEqual(['pending', 'pending']);
});

test('4.1 rule 2: the unused first session remains until its connect_by', async (context) => {
  const steering = service.steering(context, 'a connect window lasts 60 s at least');
  const { client } = service;
  const first = await client.created({ expires_in_seconds: 60 });
  await client.created({ expires_in_seconds: 600 });
  await steering.advance(50_000);
  expect((await client.session(first.id)).status).toBe('pending');
  await client.works(first.token);
  const unused = await client.created({ expires_in_seconds: 60 });
  await steering.advance(61_000);
  expect((await client.session(unused.id)).status).toBe('expired');
});

test('4.1 rule 3: creation is refused with pending_sessions_limit_reached when the cap on unused sessions is exceeded', async (context) => {
  const steering = service.steering(context, 'the cap is not shown');
  const { client } = service;
  const unused = (await client.list()).filter((session) => session.status === 'pending').length;
  await steering.set({ pending: unused + 3 });
  for (let count = 0; count < 3; count += 1) await client.created();
  const answer = await client.create({ intent: 's2s' });
  expectRefusal(answer, 'create above the cap');
  expect(answer.text).toContain('pending_sessions_limit_reached');
});

test('4.1 rule 3: used, revoked and expired sessions do not count as unused', async (context) => {
  const steering = service.steering(context, 'the cap is not shown');
  const { client } = service;
  const unused = (await client.list()).filter((session) => session.status === 'pending').length;
  await steering.set({ pending: unused + 1 });
  const capped = async (): Promise<void> => {
    expect((await client.create({ intent: 's2s' })).text).toContain('pending_sessions_limit_reached');
  };
  const connected = await client.created();
  await capped();
  await client.works(connected.token);
  const revoked = await client.created();
  await capped();
  await client.revoke(revoked.id);
  await client.created({ expires_in_seconds: 60 });
  await capped();
  await steering.advance(61_000);
  await client.created();
  await capped();
});
