import { createServer } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../../src/adapters/clock.ts';
import { findUnused } from '../../../src/backend/issuing/session-upkeep.ts';
import {
  createServiceClient,
  type ServiceClient,
  type ServiceOptions,
} from '../../../src/backend/service/service-client.ts';
import { ServiceFailure } from '../../../src/backend/service/service-failure.ts';
import type { TroubleKind } from '../../../src/backend/service/service-trouble.ts';
import { type Emulator, startEmulator } from '../../../src/emulator/server.ts';
import { asWall } from '../../../src/protocol/common/time.ts';
import { spokenWav } from '../../voice-recordings.ts';
import {
  answerJson,
  envelope,
  type FakeService,
  type Seen,
  sessionOf,
  startFakeService,
} from '../fake-service.ts';

const API_KEY = 'key-4711-never-shown';
const JWT = 'jwt.4711.never-shown';
const WALL = Date.UTC(2026, 0, 1);

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

function clientOf(url: string, more: Partial<ServiceOptions> = {}): ServiceClient {
  const client = createServiceClient({
    url,
    timeoutMs: 5000,
    apiKey: () => API_KEY,
    jwt: () => JWT,
    clock: { wall: () => asWall(WALL) },
    ...more,
  });
  closers.push(() => client.close());
  return client;
}

async function fakeService(answer: Parameters<typeof startFakeService>[0]): Promise<FakeService> {
  const server = await startFakeService(answer);
  closers.push(() => server.close());
  return server;
}

async function failureOf(work: Promise<unknown>): Promise<ServiceFailure> {
  const error = await work.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(ServiceFailure);
  return error as ServiceFailure;
}

describe('service client', () => {
  it('creates with the API key and the body of docs/service.md 4.1', async () => {
    const server = await fakeService((_, response) =>
      answerJson(response, 201, { ok: true, data: sessionOf({ something_new: 1 }) }),
    );
    const input = { intent: 's2s', expires_in_seconds: 60, single_use: true } as const;
    const session = await clientOf(server.url).createSession(input);
    expect(session.token).toBe('session-token-abcdef');
    const [seen] = server.seen as [Seen];
    expect([seen.method, seen.url]).toEqual(['POST', '/session-storage/v2/sessions']);
    expect(seen.headers).toMatchObject({
      authorization: `Bearer ${API_KEY}`,
      'content-type': 'application/json',
    });
    expect(JSON.parse(seen.body)).toEqual(input);
  });

  it.each<[string, number, unknown, Record<string, string>, TroubleKind, number | null]>([
    ['429', 429, '', { 'retry-after': '17' }, 'rate_limited', 17],
    [
      '429 until a date',
      429,
      '',
      { date: new Date(WALL).toUTCString(), 'retry-after': new Date(WALL + 90_000).toUTCString() },
      'rate_limited',
      90,
    ],
    ['429 with nonsense', 429, '', { 'retry-after': 'soon' }, 'rate_limited', null],
    ['503 for a day', 503, 'x', { 'retry-after': '86400' }, 'unavailable', 3600],
    ['500 without an envelope', 500, '<html>', {}, 'unavailable', null],
    ['401', 401, envelope(401, 'Unauthorized', 'no valid credential'), {}, 'unauthorized', null],
    ['403', 403, envelope(403, 'Forbidden', 'not for you'), {}, 'unauthorized', null],
    ['403 100050', 403, envelope(403, 'Some title', 'some detail', 100_050), {}, 'balance', null],
    ['403 balance in words', 403, envelope(403, 'Insufficient balance', 'top up'), {}, 'balance', null],
    ['403 blocked', 403, envelope(403, 'Account blocked', 'ask us'), {}, 'blocked', null],
    ['402', 402, '', {}, 'balance', null],
    [
      'the cap on unused sessions, named in type',
      403,
      envelope(403, 'Refused', 'no more', 1, 'https://x.example/pending_sessions_limit_reached'),
      {},
      'pending_limit',
      null,
    ],
    [
      'the same in 409 and words',
      409,
      envelope(409, 'Pending sessions limit', 'reached'),
      {},
      'pending_limit',
      null,
    ],
    [
      'the stream limit',
      403,
      envelope(403, 'Refused', 'session_limit_reached: 10'),
      {},
      'session_limit',
      null,
    ],
    ['422', 422, envelope(422, 'Validation error', 'intent: wrong'), {}, 'rejected', null],
    ['404', 404, envelope(404, 'Not found', 'nothing here'), {}, 'rejected', null],
    ['a redirect, which would carry the key elsewhere', 302, '', { location: '/x' }, 'rejected', null],
  ])('reads %s', async (_name, status, body, headers, kind, retryAfterS) => {
    const server = await fakeService((_, response) => answerJson(response, status, body, headers));
    const failure = await failureOf(clientOf(server.url).createSession({ intent: 's2s' }));
    expect(failure.trouble).toMatchObject({ kind, retryAfterS });
    expect(failure.status).toBe(status);
    expect(server.seen).toHaveLength(1);
  });

  it.each<[string, unknown, RegExp]>([
    ['no JSON', 'hello', /no JSON object/],
    ['another envelope', { ok: false }, /ok/],
    ['a session without a token', { ok: true, data: sessionOf({ token: undefined }) }, /data\.token/],
    ['a session for another product', { ok: true, data: sessionOf({ intent: 'tts' }) }, /intent/],
    ['an invalid date', { ok: true, data: sessionOf({ connect_by: 'tomorrow' }) }, /connect_by/],
  ])('rejects %s as a session', async (_name, body, where) => {
    const server = await fakeService((_, response) => answerJson(response, 201, body));
    const failure = await failureOf(clientOf(server.url).createSession({ intent: 's2s' }));
    expect(failure.trouble.kind).toBe('malformed');
    expect(failure.message).toMatch(where);
  });

  it('gives up when the service does not answer, or not completely', async () => {
    const silent = await fakeService(() => {});
    const client = clientOf(silent.url, { timeoutMs: 150 });
    expect((await failureOf(client.createSession({ intent: 's2s' }))).trouble.kind).toBe('timeout');
    const half = await fakeService((_, response) => {
      response.writeHead(201);
      response.write('{"ok":');
    });
    const slow = clientOf(half.url, { timeoutMs: 150 });
    expect((await failureOf(slow.createSession({ intent: 's2s' }))).trouble.kind).toBe('timeout');
    const cut = await fakeService((_, response) => void response.socket?.destroy());
    expect((await failureOf(clientOf(cut.url).createSession({ intent: 's2s' }))).trouble.kind).toBe(
      'unreachable',
    );
    const huge = await fakeService((_, response) => answerJson(response, 201, 'x'.repeat(5_000_000)));
    expect((await failureOf(clientOf(huge.url).createSession({ intent: 's2s' }))).trouble.kind).toBe(
      'malformed',
    );
  });

  it('reports a refused connection and an answer that is not HTTP', async () => {
    const closed = await startFakeService(() => {});
    await closed.close();
    const failure = await failureOf(clientOf(closed.url).listSessions());
    expect(failure.trouble.kind).toBe('unreachable');
    expect(failure.message).toBe(
      `cannot list sessions: no connection to ${closed.url}: nothing listens there`,
    );
    const server = createServer((socket) => void socket.resume().end('SSH-2.0-hello\r\n'));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    closers.push(() => new Promise<void>((resolve) => void server.close(() => resolve())));
    const address = server.address();
    const port = typeof address === 'object' ? address?.port : 0;
    const other = await failureOf(clientOf(`http://127.0.0.1:${port}`).listSessions());
    expect(other.trouble.kind).toBe('unreachable');
  });

  it('removes secrets from messages of the service', async () => {
    const server = await fakeService((_, response) =>
      answerJson(response, 422, envelope(422, 'Wrong key', `the key ${API_KEY} is no good`)),
    );
    const failure = await failureOf(clientOf(server.url).createSession({ intent: 's2s' }));
    expect(failure.message + failure.trouble.detail).not.toContain(API_KEY);
    expect(failure.trouble.detail).toBe('Wrong key: the key [redacted] is no good');
  });

  it('shortens session ids and removes tokens in messages of the service', async () => {
    const session = sessionOf({ id: 'session-id-that-is-long', token: 'tok-of-no-known-shape' });
    const said = `${session.id} (${session.token}), not other-session-id`;
    const server = await fakeService(({ method }, response) =>
      method === 'POST'
        ? answerJson(response, 201, { ok: true, data: session })
        : answerJson(response, 409, envelope(409, 'Too busy', said)),
    );
    const client = clientOf(server.url);
    await client.createSession({ intent: 's2s' });
    for (const failed of [client.deleteSession('other-session-id'), client.getSession('other-session-id')]) {
      const { message, trouble } = await failureOf(failed);
      expect(trouble.detail).toBe('Too busy: session-... ([redacted]), not other-se...');
      expect(message).not.toContain(session.id);
    }
  });

  it.each([
    [
      'cannot be read',
      () => {
        throw new Error('the secret file /etc/key does not exist');
      },
      /does not exist/,
    ],
    ['is empty', () => '', /empty/],
    ['holds a line break that would forge a header', () => 'abc\r\nx-evil: 1', /contains invalid characters/],
  ])('sends no request when the key %s', async (_name, apiKey, words) => {
    const server = await fakeService((_, response) => answerJson(response, 201, {}));
    const failure = await failureOf(clientOf(server.url, { apiKey }).createSession({ intent: 's2s' }));
    expect(failure.trouble.kind).toBe('misconfigured');
    expect(failure.message).toMatch(words);
    expect(server.seen).toHaveLength(0);
  });

  it('retries when the service has closed an idle connection', async () => {
    const server = await fakeService((_, response) => {
      answerJson(response, 201, { ok: true, data: sessionOf() });
      response.once('close', () => setTimeout(() => response.socket?.resetAndDestroy(), 0));
    });
    const client = clientOf(server.url);
    for (let time = 0; time < 5; time += 1) {
      await client.createSession({ intent: 's2s' });
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  });

  it('reads a list in any wrapping, and handles missing sessions and voices', async () => {
    let data: unknown = [sessionOf({ token: undefined })];
    const server = await fakeService(({ url }, response) => {
      if (url.includes('missing')) answerJson(response, 404, envelope(404, 'Not found', 'no such session'));
      else answerJson(response, 200, { ok: true, data });
    });
    const client = clientOf(server.url);
    expect(await client.listSessions()).toHaveLength(1);
    data = { items: data, total: 1 };
    expect(await client.listSessions({ clientReferenceId: 'a/b/c d' })).toHaveLength(1);
    expect(server.seen.at(-1)?.url).toBe('/session-storage/v2/sessions?client_reference_id=a%2Fb%2Fc%20d');
    expect(await client.getSession('missing')).toBeNull();
    expect(await client.deleteSession('missing')).toBe(false);
    await client.deleteSession('../a?b');
    expect(server.seen.at(-1)).toMatchObject({
      method: 'DELETE',
      url: '/session-storage/v2/sessions/..%2Fa%3Fb',
    });
  });

  it('uploads the fields first and the file last, without a credential', async () => {
    const server = await fakeService((_, response) => {
      response.writeHead(204);
      response.end();
    });
    const target = {
      item_id: 'i',
      blob_id: 'b',
      url: `${server.url}/bucket?x=1`,
      form_data: { key: 'a/b', policy: 'p"q' },
    };
    const file = { name: 'my "voice".wav', type: 'audio/wav', bytes: Buffer.from([0, 255, 13, 10, 45, 45]) };
    await clientOf(server.url).uploadSample(target, file);
    const [seen] = server.seen as [Seen];
    expect(seen.headers.authorization).toBeUndefined();
    expect(seen.headers['content-length']).toBe(String(seen.body.length));
    const boundary = /boundary=(.+)$/.exec(seen.headers['content-type'] ?? '')?.[1];
    const parts = seen.body.split(`--${boundary}`);
    expect(parts).toHaveLength(5);
    expect(parts[1]).toContain('name="key"\r\n\r\na/b\r\n');
    expect(parts[3]).toContain(
      'name="file"; filename="my %22voice%22.wav"\r\nContent-Type: audio/wav\r\n\r\n',
    );
    expect(parts[3]?.endsWith('\r\n\r\n\0\xff\r\n--\r\n')).toBe(true);
  });
});

describe('service client against the emulator', () => {
  let emulator: Emulator;
  const start = async (options: Parameters<typeof startEmulator>[0] = {}): Promise<ServiceClient> => {
    emulator = await startEmulator(options);
    closers.push(() => emulator.close());
    return clientOf(emulator.url, {
      apiKey: () => emulator.apiKey,
      jwt: () => emulator.jwt,
      clock: createSystemClock(),
    });
  };

  it('creates, gets, lists and revokes sessions', async () => {
    const client = await start();
    const made = await client.createSession({ intent: 's2s', client_reference_id: 'museum/kiosk/main' });
    await client.createSession({ intent: 's2s', client_reference_id: 'museum/other/main' });
    expect((await client.getSession(made.id))?.token).toBe(made.token);
    expect(await client.listSessions()).toHaveLength(2);
    const mine = await client.listSessions({ clientReferenceId: 'museum/kiosk/main' });
    expect(mine.map((session) => [session.id, session.token])).toEqual([[made.id, undefined]]);
    expect(await client.deleteSession(made.id)).toBe(true);
    expect((await client.getSession(made.id))?.status).toBe('revoked');
  });

  it('finds the unused sessions of a lane and no others', async () => {
    const client = await start();
    const reference = 'museum/kiosk/main';
    const made = [];
    for (const client_reference_id of [reference, reference, 'museum/other/main']) {
      made.push(await client.createSession({ intent: 's2s', client_reference_id }));
    }
    expect(await findUnused(client, { reference, sessionId: null })).toHaveLength(2);
    expect(await findUnused(client, { reference, sessionId: made[2]?.id ?? '' })).toEqual([]);
  });

  it('recognises the refusals of the emulator', async () => {
    const client = await start({ pending: 1 });
    await client.createSession({ intent: 's2s' });
    const refused = await failureOf(client.createSession({ intent: 's2s' }));
    expect(refused.trouble.kind).toBe('pending_limit');
    const wrong = clientOf(emulator.url, { apiKey: () => 'wrong' });
    expect((await failureOf(wrong.listSessions())).trouble.kind).toBe('unauthorized');
    const broke = await start({ balanceMs: 0 });
    expect((await failureOf(broke.createSession({ intent: 's2s' }))).trouble.kind).toBe('balance');
  });

  it('clones a voice: register, upload, ready', async () => {
    const client = await start({ voiceProcessingMs: 50 });
    const voice = await client.cloneVoice({
      data: { name: 'A voice', samples: [{ filename: 'a.wav', mime_type: 'audio/wav', item_id: 'one' }] },
    });
    const target = voice.samples.find(({ item_id }) => item_id === 'one');
    if (target === undefined) throw new Error('no upload target');
    await client.uploadSample(target, { name: 'a.wav', type: 'audio/wav', bytes: spokenWav(32) });
    await expect.poll(async () => (await client.getVoice(voice.voice_id))?.processing_status).toBe('ready');
    expect(await client.getVoice('11111111-1111-4111-8111-111111111111')).toBeNull();
  });
});
