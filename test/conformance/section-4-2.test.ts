import { expect, test } from 'vitest';
import { PATHS } from './client.ts';
import { makeTask } from './conversation.ts';
import { useService } from './service.ts';
import { expectRefusal } from './shapes.ts';

const service = useService();

test('4.2: Get Session by ID returns the session including its token', async () => {
  const { client } = service;
  const created = await client.created({ client_reference_id: 'get', max_session_duration_seconds: 90 });
  const got = await client.session(created.id);
  for (const key of [
    'id',
    'token',
    'intent',
    'connection_type',
    'single_use',
    'client_reference_id',
  ] as const) {
    expect(got[key]).toEqual(created[key]);
  }
  for (const key of ['status', 'created_at', 'connect_by', 'max_session_duration_seconds'] as const) {
    expect(got[key]).toEqual(created[key]);
  }
});

test('4.2: List Sessions returns the sessions', async () => {
  const { client } = service;
  const ids = [(await client.created()).id, (await client.created({ intent: 'stt' })).id];
  const listed = (await client.list()).map((session) => session.id);
  expect(listed).toEqual(expect.arrayContaining(ids));
  expect(new Set(listed).size).toBe(listed.length);
});

test('4.2: List Sessions supports a client_reference_id filter', async () => {
  const { client } = service;
  const label = `filter ${Date.now()} & more/?=#%`;
  const wanted = [(await client.created({ client_reference_id: label })).id];
  wanted.push((await client.created({ client_reference_id: label })).id);
  await client.created({ client_reference_id: `${label}x` });
  await client.created();
  const listed = (await client.list(label)).map((session) => session.id);
  expect(listed.sort()).toEqual(wanted.sort());
});

test('4.2: List Sessions is empty for a client_reference_id that was never used', async () => {
  await service.client.created({ client_reference_id: 'somebody' });
  expect(await service.client.list(`nobody-${Date.now()}`)).toEqual([]);
});

test('4.2: Delete Session revokes', async () => {
  const { client } = service;
  const { id, token } = await client.created();
  const { status } = await client.revoke(id);
  expect([200, 202, 204]).toContain(status);
  await client.refused(token);
  const { created_at } = await client.created();
  expect(created_at, 'others are created as before').toBeTypeOf('string');
});

test('4.2: a revoked session is no longer pending', async () => {
  const { client } = service;
  const { id } = await client.created();
  await client.revoke(id);
  const answer = await client.request('GET', PATHS.session(id), { credential: client.target.apiKey });
  if (answer.status !== 200) expectRefusal(answer, 'get after delete');
  else expect(answer.json).not.toMatchObject({ data: { status: 'pending' } });
});

test('4.3: POST /session-storage/session answers with ws_url and a publisher token', async () => {
  const { ws_url, publisher } = await service.client.legacy();
  expect(new URL(ws_url).protocol).toMatch(/^wss?:$/);
  expect(publisher).toMatch(/^[A-Za-z0-9._~-]+$/);
});

test('4.3: the client connects to ws_url with the publisher token as query parameter token', async () => {
  const { client } = service;
  const { ws_url, publisher } = await client.legacy();
  const url = new URL(ws_url);
  url.searchParams.set('token', publisher);
  const stream = await client.open(url.href);
  expect((await stream.run(makeTask())).type).toBe('current_task');
});

test('4.3: ws_url without the publisher token, or with a wrong one, is refused', async () => {
  const { client } = service;
  const { ws_url } = await client.legacy();
  const url = new URL(ws_url);
  url.searchParams.delete('token');
  await client.refused(url.href);
  url.searchParams.set('token', 'wrong');
  await client.refused(url.href);
});

test('4.3: each call creates a session of its own', async () => {
  const { client } = service;
  const [first, second] = [await client.legacy(), await client.legacy()];
  expect(first.publisher).not.toBe(second.publisher);
  for (const { ws_url, publisher } of [first, second]) {
    const url = new URL(ws_url);
    url.searchParams.set('token', publisher);
    await client.works(url.href);
  }
});
