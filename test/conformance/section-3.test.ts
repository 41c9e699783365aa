import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { expect, test } from 'vitest';
import { watchStalls } from '../stalls.ts';
import { PATHS, reasonsIn } from './client.ts';
import { makeTask } from './conversation.ts';
import { shake } from './handshake.ts';
import { useService } from './service.ts';
import { makeSpeech, makeWav } from './speech.ts';
import { WAIT_MS } from './stream.ts';

const service = useService();

/** Opens a raw WebSocket connection, whose frames the test writes itself. */
async function openRaw(address: string): Promise<Socket> {
  const { protocol, hostname, port, pathname, search } = new URL(address);
  const [host, to] = [hostname.replace(/^\[|\]$/g, ''), Number(port) || 443];
  const socket =
    protocol === 'wss:'
      ? connectTls({ host, port: to, servername: host })
      : connect({ host, port: to, allowHalfOpen: true });
  socket.on('error', () => {});
  const key = 'dGhlIHNhbXBsZSBub25jZQ==';
  const head = [`GET ${pathname}${search} HTTP/1.1`, `Host: ${new URL(address).host}`, 'Upgrade: websocket'];
  const rest = ['Connection: Upgrade', 'Sec-WebSocket-Version: 13', `Sec-WebSocket-Key: ${key}`];
  socket.write(`${[...head, ...rest].join('\r\n')}\r\n\r\n`);
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString('latin1', 0, 12)).toBe('HTTP/1.1 101');
  return socket;
}

test('3.1: a valid create request gives status pending and HTTP 201', async () => {
  const answer = await service.client.create({ intent: 's2s' });
  expect(answer.status).toBe(201);
  expect(answer.json).toMatchObject({ ok: true, data: { status: 'pending' } });
});

test('3.1: connect_by is the creation time plus expires_in_seconds', async () => {
  for (const expires_in_seconds of [60, 777, 86_400]) {
    const { created_at, connect_by } = await service.client.created({ expires_in_seconds });
    const windowMs = Date.parse(connect_by) - Date.parse(created_at);
    expect(Math.abs(windowMs - expires_in_seconds * 1000)).toBeLessThanOrEqual(1000);
  }
});

test('3.1: a connecting stream raises active_stream_count and sets first_connected_at', async () => {
  const { client } = service;
  const { id, token } = await client.created();
  await client.works(token);
  const session = await client.session(id);
  expect(session.active_stream_count).toBe(1);
  expect(session.first_connected_at).not.toBeNull();
});

test('3.1: a broken WebSocket handshake does not count as a connection', async () => {
  const { client } = service;
  const { id, token } = await client.created({ single_use: true });
  const target = `${PATHS.stream('abc')}?token=${token}`;
  await shake(client.target.streaming, { target, headers: { 'Sec-WebSocket-Key': 'x' } });
  expect(await client.session(id)).toMatchObject({ status: 'pending', first_connected_at: null });
  await client.works(token);
});

test('3.1: while its stream runs a session is neither used nor expired', async () => {
  const { client } = service;
  for (const single_use of [false, true]) {
    const { id, token } = await client.created({ single_use });
    await client.works(token);
    expect(['used', 'expired']).not.toContain((await client.session(id)).status);
  }
});

test('3.1: a single-use session is used when its stream has finished', async () => {
  const { client } = service;
  const { id, token } = await client.created({ single_use: true });
  const stream = await client.works(token);
  await stream.end();
  expect((await client.sessionWhen(id, (session) => session.status === 'used')).status).toBe('used');
});

test('3.1: a stream finishes with its close frame, even if its client never hangs up', async () => {
  const { client } = service;
  const { id, token } = await client.created({ single_use: true });
  const socket = await openRaw(client.streamUrl(token));
  try {
    // A masked close frame with code 1000.
    socket.write(Buffer.from([0x88, 0x82, 0, 0, 0, 0, 0x03, 0xe8]));
    const { status, active_stream_count } = await client.sessionWhen(id, (seen) => seen.status === 'used');
    expect([status, active_stream_count]).toEqual(['used', 0]);
  } finally {
    socket.destroy();
  }
});

test('3.1: a used token opens no other stream', async () => {
  const { client } = service;
  const { id, token } = await client.created({ single_use: true });
  await (await client.works(token)).end();
  await client.sessionWhen(id, (session) => session.status === 'used');
  await client.refused(token);
});

test('3.1: a session without single_use is not used up by a stream', async () => {
  const { client } = service;
  const { id, token } = await client.created();
  await (await client.works(token)).end();
  expect((await client.sessionWhen(id, (seen) => seen.active_stream_count === 0)).status).not.toBe('used');
  await client.works(token);
});

test('3.1: a session is expired when its connect window has passed without a stream', async (context) => {
  const steering = service.steering(context, 'a connect window lasts 60 s at least');
  const { client } = service;
  const { id } = await client.created({ expires_in_seconds: 60 });
  await steering.advance(50_000);
  expect((await client.session(id)).status).toBe('pending');
  await steering.advance(11_000);
  expect((await client.session(id)).status).toBe('expired');
});

test('3.1: an expired session refuses connections with connect_window_expired', async (context) => {
  const steering = service.steering(context, 'a connect window lasts 60 s at least');
  const { client } = service;
  const { token } = await client.created({ expires_in_seconds: 60 });
  await steering.advance(61_000);
  expect(reasonsIn((await client.refused(token)).said)).toEqual(['connect_window_expired']);
});

test('3.1: a running stream outlives the connect window', async (context) => {
  const steering = service.steering(context, 'a connect window lasts 60 s at least');
  const { client } = service;
  const { id, token } = await client.created({ expires_in_seconds: 60 });
  const stream = await client.works(token);
  await steering.advance(61_000);
  await stream.getTask();
  expect(stream.isClosed).toBe(false);
  const { status, active_stream_count } = await client.session(id);
  expect(active_stream_count).toBe(1);
  expect(status, 'not expired while a stream runs').not.toBe('expired');
  await client.refused(token);
  expect(stream.isClosed).toBe(false);
});

test('3.1: a session whose window passed under a stream is expired once that stream is over', async (context) => {
  const steering = service.steering(context, 'a connect window lasts 60 s at least');
  const { client } = service;
  const { id, token } = await client.created({ expires_in_seconds: 60 });
  const stream = await client.works(token);
  await steering.advance(61_000);
  await stream.end();
  expect((await client.sessionWhen(id, (seen) => seen.status === 'expired')).status).toBe('expired');
});

test('3.1: a used session stays used when its window passes', async (context) => {
  const steering = service.steering(context, 'a connect window lasts 60 s at least');
  const { client } = service;
  const { id, token } = await client.created({ single_use: true, expires_in_seconds: 60 });
  await (await client.works(token)).end();
  await client.sessionWhen(id, ({ status }) => status === 'used');
  await steering.advance(61_000);
  expect((await client.session(id)).status).toBe('used');
  expect(reasonsIn((await client.refused(token)).said)).toEqual(['session_already_used']);
});

test('3.1: an expired session stays expired', async (context) => {
  const steering = service.steering(context, 'a connect window lasts 60 s at least');
  const { client } = service;
  const { id, token } = await client.created({ single_use: true, expires_in_seconds: 60 });
  await steering.advance(61_000);
  expect((await client.session(id)).status).toBe('expired');
  await client.refused(token);
  await steering.advance(60_000);
  expect((await client.session(id)).status, 'a refused attempt uses nothing up').toBe('expired');
});

test('3.1: deleting a session stops its token at once', async () => {
  const { client } = service;
  const { id, token } = await client.created();
  await client.works(token);
  await client.revoke(id);
  await client.refused(token);
});

test('3.1: a running stream of a deleted session receives session_revoked and closes within the heartbeat interval', async () => {
  const { client } = service;
  const { id, token } = await client.created();
  const streams = [await client.open(token), await client.open(token)];
  await streams[0]?.run(makeTask());
  const stalls = watchStalls();
  const startedAt = performance.now();
  await client.revoke(id);
  for (const stream of streams) {
    await stream.closes(service.heartbeatMs + WAIT_MS);
    expect(performance.now() - startedAt).toBeLessThan(service.heartbeatMs + 1500 + 2 * stalls.ms());
    expect(stream.messages.at(-1)?.type).toBe('session_revoked');
  }
});

test('3.1: deleting a session does not affect the streams of other sessions', async () => {
  const { client } = service;
  const { id } = await client.created();
  const stream = await client.works((await client.created()).token);
  await client.revoke(id);
  await stream.getTask();
  expect(stream.isClosed).toBe(false);
});

test('3.2: a voice passes through created, pending, ready and failed only', async (context) => {
  const { client } = service;
  const voice = await client.cloned();
  const seen = [voice.processing_status as string];
  const look = async (): Promise<void> => {
    const path = `/saas/voice/m/${voice.voice_id}`;
    const { text } = await client.request('GET', path, { credential: client.target.jwt });
    seen.push(/"processing_status"\s*:\s*"([^"]*)"/.exec(text)?.[1] ?? 'none');
  };
  await look();
  const target = voice.samples[0];
  const form = new FormData();
  for (const [key, value] of Object.entries(target?.form_data ?? {})) form.append(key, String(value));
  form.append('file', new Blob([makeWav(makeSpeech(1))], { type: 'audio/wav' }), 'visitor.wav');
  await client.request('POST', target?.url ?? '', { body: form });
  await look();
  await service.steering(context, 'processing may take minutes').advance(600_000);
  await look();
  for (const status of seen) expect(['created', 'pending', 'ready', 'failed']).toContain(status);
  expect(seen.at(-1), 'processing comes to an end').toMatch(/^(ready|failed)$/);
});

test('3.3: when the account runs out of balance running streams are closed', async (context) => {
  const steering = service.steering(context, 'the account cannot be emptied from outside');
  const { client } = service;
  const streams = [
    await client.works((await client.created()).token),
    await client.works(client.target.apiKey),
  ];
  await steering.set({ account: 'out_of_balance' });
  for (const stream of streams) await stream.closes();
});

test('3.3: when the account is out of balance new connections are refused', async (context) => {
  const steering = service.steering(context, 'the account cannot be emptied from outside');
  const { client } = service;
  const { token } = await client.created();
  await steering.set({ account: 'out_of_balance' });
  await client.refused(token);
  await client.refused(client.target.apiKey);
  await steering.set({ account: 'ok' });
  await client.works(token);
});

test('3.3: when the account is blocked running streams are closed', async (context) => {
  const steering = service.steering(context, 'the account cannot be blocked from outside');
  const { client } = service;
  const stream = await client.works((await client.created()).token);
  await steering.set({ account: 'blocked' });
  await stream.closes();
});

test('3.3: when the account is blocked new connections are refused', async (context) => {
  const steering = service.steering(context, 'the account cannot be blocked from outside');
  const { client } = service;
  const { token } = await client.created();
  await steering.set({ account: 'blocked' });
  await client.refused(token);
  await client.refused(client.target.apiKey);
});
