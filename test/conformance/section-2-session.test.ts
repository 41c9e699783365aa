import { expect, test } from 'vitest';
import { PATHS } from './client.ts';
import { useService } from './service.ts';
import type { SessionObject } from './shapes.ts';

const service = useService();

test('2.1 envelope: a session comes as {ok, data}', async () => {
  const { json } = await service.client.create({ intent: 's2s' });
  expect(json).toMatchObject({ ok: true, data: expect.any(Object) });
});

test('2.1 id: inspects the session', async () => {
  const session = await service.client.created();
  expect((await service.client.session(session.id)).id).toBe(session.id);
});

test('2.1 id: revokes the session', async () => {
  const { client } = service;
  const session = await client.created();
  const answer = await client.revoke(session.id);
  expect(answer.status, answer.text).toBeGreaterThanOrEqual(200);
  expect(answer.status).toBeLessThan(300);
  await client.refused(session.token);
});

test('2.1 token: is in the answer to creation', async () => {
  expect((await service.client.created()).token.length).toBeGreaterThan(0);
});

test('2.1 token: is URL-safe', async () => {
  for (let count = 0; count < 5; count += 1) {
    const { token } = await service.client.created();
    expect(token).toMatch(/^[A-Za-z0-9._~-]+$/);
  }
});

test('2.1 token: is opaque and differs for each session', async () => {
  const { client } = service;
  const sessions = await Promise.all([1, 2, 3, 4, 5].map(() => client.created()));
  expect(new Set(sessions.map((session) => session.token)).size).toBe(5);
});

test('2.1 token: is in the answer to Get Session by ID', async () => {
  const session = await service.client.created();
  expect((await service.client.session(session.id)).token).toBe(session.token);
});

test('2.1 token: is in no other answer', async () => {
  const { client } = service;
  const session = await client.created({ client_reference_id: `no-token-${Date.now()}` });
  const list = await client.request('GET', PATHS.sessions, { credential: client.target.apiKey });
  expect(list.text).toContain(session.id);
  if (session.id !== session.token) expect(list.text).not.toContain(session.token);
  expect((await client.list()).filter((listed) => listed.token !== undefined)).toEqual([]);
  const revoked = await client.revoke(session.id);
  expect(revoked.text).not.toContain(session.token);
});

test('2.1 intent: is the requested one', async () => {
  for (const intent of ['s2s', 'stt', 'tts']) {
    const { id } = await service.client.created({ intent });
    expect((await service.client.session(id)).intent).toBe(intent);
  }
});

test('2.1 connection_type: is the requested one', async () => {
  for (const connection_type of ['ws', 'webrtc']) {
    const { id } = await service.client.created({ connection_type });
    expect((await service.client.session(id)).connection_type).toBe(connection_type);
  }
});

test('2.1 single_use: is the requested one', async () => {
  for (const single_use of [true, false]) {
    const { id } = await service.client.created({ single_use });
    expect((await service.client.session(id)).single_use).toBe(single_use);
  }
});

test('2.1 single_use: true opens one stream only', async () => {
  const { client } = service;
  const { token } = await client.created({ single_use: true });
  await client.works(token);
  await client.refused(token);
});

test('2.1 client_reference_id: is the label that was supplied', async () => {
  const label = 'Kiosk 7 / Müller & "Söhne" 日本';
  const session = await service.client.created({ client_reference_id: label });
  expect(session.client_reference_id).toBe(label);
  expect((await service.client.session(session.id)).client_reference_id).toBe(label);
});

test('2.1 client_reference_id: is null or absent if not supplied', async () => {
  expect((await service.client.created()).client_reference_id ?? null).toBeNull();
});

test('2.1 status: is present in create, get and list', async () => {
  const { client } = service;
  const { id, status } = await client.created();
  const listed = (await client.list()).find((session) => session.id === id);
  expect([status, (await client.session(id)).status, listed?.status]).toEqual([
    'pending',
    'pending',
    'pending',
  ]);
});

test('2.1 created_at: is the moment of creation in UTC', async (context) => {
  const before = service.now(context);
  const { created_at } = await service.client.created();
  expect(Date.parse(created_at)).toBeGreaterThanOrEqual(before - 1000);
  expect(Date.parse(created_at)).toBeLessThanOrEqual(service.now(context) + 1000);
});

test('2.1 connect_by: after it the token opens no new stream', async (context) => {
  const steering = service.steering(context, 'a connect window lasts 60 s at least');
  const { client } = service;
  const { token } = await client.created({ expires_in_seconds: 60 });
  await steering.advance(50_000);
  await client.works(token);
  await steering.advance(11_000);
  await client.refused(token);
});

test('2.1 max_session_duration_seconds: shows the requested value', async () => {
  const session = await service.client.created({ max_session_duration_seconds: 1234 });
  expect(session.max_session_duration_seconds).toBe(1234);
  expect((await service.client.session(session.id)).max_session_duration_seconds).toBe(1234);
});

test('2.1 first_connected_at: is null until a stream has connected, then its moment', async () => {
  const { client } = service;
  const { id, token, first_connected_at, created_at } = await client.created();
  expect(first_connected_at).toBeNull();
  expect((await client.session(id)).first_connected_at).toBeNull();
  const stream = await client.works(token);
  const connected = (await client.session(id)).first_connected_at;
  expect(Date.parse(connected ?? '')).toBeGreaterThanOrEqual(Date.parse(created_at) - 1000);
  await stream.end();
  await client.sessionWhen(id, (session) => session.active_stream_count === 0);
  expect((await client.session(id)).first_connected_at, 'kept after the stream ended').toBe(connected);
  await client.works(token);
  expect((await client.session(id)).first_connected_at, 'kept at the second stream').toBe(connected);
});

test('2.1 active_stream_count: is the number of running streams', async () => {
  const { client } = service;
  const { id, token, active_stream_count } = await client.created();
  const counts = [active_stream_count];
  const first = await client.works(token);
  counts.push((await client.session(id)).active_stream_count);
  const second = await client.works(token);
  counts.push((await client.session(id)).active_stream_count);
  const down = async (to: number): Promise<void> => {
    const session = await client.sessionWhen(id, (seen) => seen.active_stream_count === to);
    counts.push(session.active_stream_count);
  };
  await first.end();
  await down(1);
  await second.end();
  await down(0);
  expect(counts).toEqual([0, 1, 2, 1, 0]);
});

test('2.1 webrtc: is present exactly with connection_type webrtc', async () => {
  const { client } = service;
  const withIt = await client.created({ connection_type: 'webrtc', subscriber_count: 2 });
  expect(withIt.webrtc).toMatchObject({ url: expect.any(String), room_name: expect.any(String) });
  expect((await client.session(withIt.id)).webrtc).toMatchObject({
    url: withIt.webrtc?.url,
    room_name: withIt.webrtc?.room_name,
  });
  for (const intent of ['s2s', 'stt', 'tts']) {
    const without = await client.created({ intent, connection_type: 'ws' });
    expect(without).not.toHaveProperty('webrtc');
    expect(await client.session(without.id)).not.toHaveProperty('webrtc');
  }
});

test('2.1 webrtc: subscriber_keys are returned on creation only', async () => {
  const { client } = service;
  const session = await client.created({ connection_type: 'webrtc', subscriber_count: 2 });
  const keys = session.webrtc?.subscriber_keys ?? [];
  expect(keys).toHaveLength(2);
  const listed = (await client.list()).find((seen) => seen.id === session.id) as SessionObject;
  for (const seen of [await client.session(session.id), listed]) {
    expect(seen.webrtc?.subscriber_keys ?? []).toEqual([]);
    for (const key of keys) expect(JSON.stringify(seen)).not.toContain(JSON.stringify(key));
  }
});

test('2.1: equal client_reference_ids still make independent sessions', async () => {
  const { client } = service;
  const label = { client_reference_id: `twin-${Date.now()}` };
  const first = await client.created(label);
  const second = await client.created(label);
  expect(second.id).not.toBe(first.id);
  expect(second.token).not.toBe(first.token);
  await client.revoke(first.id);
  await client.works(second.token);
});
