import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { readPhrases } from '../../src/emulator/own-phrases.ts';
import { type RequestEntry, requestLine } from '../../src/emulator/request-log.ts';
import type { Emulator } from '../../src/emulator/server.ts';
import { speakPlainly } from '../../src/protocol/plain-issues.ts';
import { ask, connect, createToken, streamUrl } from './client.ts';
import { task } from './core/harness.ts';
import { chunks, concat, noise, speech } from './core/voice.ts';
import { open, start } from './started-emulator.ts';

const SESSIONS = '/session-storage/v2/sessions';

/** Sends a request that no browser would send. */
function raw(emulator: Emulator, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const sent = request(`${emulator.url}${path}`, { headers }, (response) => {
      response.resume();
      response.once('end', () => resolve(response.statusCode ?? 0));
    });
    sent.once('error', reject).end();
  });
}

describe('the log of requests', () => {
  test('shows requests, and refusals with their reasons', async () => {
    const entries: RequestEntry[] = [];
    const emulator = await start({ onRequest: (entry) => entries.push(entry) });
    const { token } = await createToken(emulator, { single_use: true });
    const client = await open(emulator, streamUrl(emulator, token));
    client.send('set_task', { ...task(), pipeline: 1 });
    await client.next('error');
    client.socket.close(1000);
    await client.closed;
    await ask(emulator, 'POST', SESSIONS, { intent: 'x' });
    await expect(connect(streamUrl(emulator, token))).rejects.toThrow();
    const [created, stream, error, closed, refused, used] = entries;
    expect(created).toMatchObject({
      kind: 'http',
      method: 'POST',
      path: SESSIONS,
      status: 201,
      reason: null,
    });
    expect(stream).toMatchObject({
      kind: 'stream',
      status: 101,
      stream: emulator.reports()[0]?.id,
      reason: null,
    });
    expect(error).toMatchObject({
      kind: 'message',
      stream: emulator.reports()[0]?.id,
      reason: 'VALIDATION_ERROR',
    });
    expect(closed).toMatchObject({ kind: 'close', status: 1000, detail: 'by the client' });
    expect(refused).toMatchObject({ kind: 'http', status: 422, reason: 'validation_error' });
    expect(refused?.detail).toContain('intent');
    expect(used).toMatchObject({ kind: 'stream', status: 409, reason: 'session_already_used' });
    expect(entries).toHaveLength(6);
  });

  test('contains no credential, wherever a client puts one', async () => {
    const secrets = { jwt: 'aaaa.account.bbbb', key: 'my-very-own-key' };
    const entries: RequestEntry[] = [];
    const emulator = await start({
      apiKeys: [secrets.key],
      jwts: [secrets.jwt],
      clients: [{ id: 'legacy', secret: 'legacysecret' }],
      onRequest: (entry) => entries.push(entry),
    });
    const { token } = await createToken(emulator);
    const everything = [secrets.jwt, secrets.key, token, 'legacysecret', 'a-key-of-elsewhere-12345'];
    for (const secret of everything) {
      await raw(emulator, `/${secret}`, {});
      await raw(emulator, `${SESSIONS}/${secret}?token=${secret}&x=${secret}`, {
        Authorization: `Bearer ${secret}`,
      });
      await raw(emulator, `/webrtc/${secret}?token=${secret}`, {});
      await raw(emulator, '/nowhere', { Host: `${secret}.example` });
      await ask(emulator, secret.slice(0, 3).toUpperCase(), `/${secret}`).catch(() => {});
      await ask(emulator, 'POST', SESSIONS, { intent: secret, [secret]: secret }, secret);
      const url = `${emulator.wsUrl}/streaming-api/${secret}/v1/speech-to-text/stream?token=${secret}`;
      await connect(url).catch(() => {});
    }
    const client = await open(emulator, streamUrl(emulator, secrets.key));
    for (const secret of everything) client.send(secret, secret);
    client.socket.close(1000, token);
    await client.closed;
    const text = JSON.stringify(entries) + entries.map(requestLine).join('\n');
    expect(entries.length).toBeGreaterThan(25);
    for (const secret of everything.slice(0, 4)) expect(text).not.toContain(secret);
    const elsewhere = entries.filter(({ path }) => path?.includes('elsewhere') === true);
    expect(elsewhere).toEqual([]);
  });
});

describe('a reset', () => {
  test('ends the streams and clears faults, settings, sessions and voices', async () => {
    const emulator = await start();
    const fresh = (await ask(emulator, 'GET', '/emulator/settings')).json;
    const { id, token } = await createToken(emulator);
    const client = await open(emulator, streamUrl(emulator, token));
    await ask(emulator, 'POST', '/emulator/settings', { concurrent: 1, account: 'blocked', partials: false });
    await ask(emulator, 'POST', '/emulator/clock', { skew_ms: -5000 });
    emulator.fault({ kind: 'refuse', reason: 'forbidden', times: 100 });
    emulator.fault({ kind: 'drop', when: 'next_stream' });
    expect((await ask(emulator, 'POST', '/emulator/reset')).status).toBe(204);
    expect(await client.closed).toEqual({ code: 1001, reason: 'the emulator was reset' });
    expect((await ask(emulator, 'GET', '/emulator/settings')).json).toEqual(fresh);
    expect((await ask(emulator, 'GET', '/emulator/clock')).json).toMatchObject({ skew_ms: 0 });
    expect((await ask(emulator, 'GET', '/emulator/metrics')).json).toMatchObject({
      streams: [],
      sessions: { known: 0, pending: 0 },
    });
    expect((await ask(emulator, 'GET', `${SESSIONS}/${id}`)).status).toBe(404);
    await open(emulator);
  });
});

describe('faults', () => {
  test('are listed until they have happened, and can be cancelled one by one', async () => {
    const emulator = await start();
    const [drop = 0] = emulator.fault({ kind: 'drop', when: 'next_stream', after_ms: 60_000 });
    const [http = 0] = emulator.fault({ kind: 'http', route: 'create', status: 503, times: 3 });
    const [refuse = 0] = emulator.fault({ kind: 'refuse', reason: 'forbidden', times: 2 });
    emulator.fault({ kind: 'block_account' });
    const list = async () => (await ask(emulator, 'GET', '/emulator/faults')).json;
    expect(await list()).toMatchObject({
      waiting: [{ id: drop, kind: 'drop' }],
      ordered: [
        { id: refuse, kind: 'refuse', times: 2, of: 'forbidden' },
        { id: http, kind: 'http', times: 3, of: 'create' },
      ],
      lasting: { streams: [], skew_ms: 0, account: 'blocked' },
    });
    for (const id of [drop, http])
      expect((await ask(emulator, 'DELETE', `/emulator/faults/${id}`)).status).toBe(204);
    for (const id of [drop, http, 'x', 99_999]) {
      expect((await ask(emulator, 'DELETE', `/emulator/faults/${id}`)).status).toBe(404);
    }
    expect(await list()).toMatchObject({ waiting: [], ordered: [{ id: refuse }] });
    await ask(emulator, 'POST', '/emulator/settings', { account: 'ok' });
    expect((await ask(emulator, 'POST', SESSIONS, { intent: 's2s' })).status).toBe(201);
  });

  test('are listed with their end when they impair a connection', async () => {
    const emulator = await start();
    await open(emulator);
    emulator.fault({ kind: 'black_hole', for_ms: 60_000 });
    const { json } = await ask(emulator, 'GET', '/emulator/faults');
    const [strained] = (
      json as { lasting: { streams: { stream: string; heals_in_ms: number; link: object }[] } }
    ).lasting.streams;
    expect(strained?.stream).toBe(emulator.reports()[0]?.id);
    expect(strained?.heals_in_ms).toBeGreaterThan(50_000);
    expect(Object.keys(strained?.link ?? {})).toEqual(['deaf', 'read_bytes_per_s', 'mute']);
  });
});

describe('an own phrase book', () => {
  speakPlainly();
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-phrases-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const write = (text: string): string => {
    const file = join(folder, 'phrases.json');
    writeFileSync(file, text);
    return file;
  };

  test('replaces the phrases of the visitors', async () => {
    const book = [
      { en: 'One to Berlin.', es: 'Uno a Berlín.' },
      { en: 'Two to Rome.', es: 'Dos a Roma.' },
    ];
    const phrases = readPhrases(write(JSON.stringify(book)));
    const emulator = await start({ phrases, tooFast: 'tolerate' });
    const client = await open(emulator);
    for (const chunk of chunks(concat(speech(1.3, 24_000), noise(1.5, 24_000, 5)), 24_000))
      client.audio(chunk);
    await client.next('translated_transcription');
    const texts = emulator.reports()[0]?.texts.filter(({ type }) => !type.startsWith('partial'));
    expect(texts?.map(({ text }) => text)).toEqual(['One to Berlin.', 'Uno a Berlín.']);
  });

  test.each([
    ['{', 'is not JSON'],
    ['{}', 'cannot be used: must be a list'],
    ['[]', 'cannot be used: must not be empty'],
    ['[{}]', 'cannot be used: entry 1 must have a language'],
    ['[{"en":"x"},{"en":" "}]', 'entry 2, "en", must not be empty'],
    ['[{"English":"x"}]', 'must be a language in lower case'],
    [`[{"en":${JSON.stringify('x'.repeat(501))}}]`, 'must have at most 500 characters'],
  ])('is refused with the problem when it is %s', (text, words) => {
    expect(() => readPhrases(write(text))).toThrow(words);
    expect(() => readPhrases(write(text))).toThrow('give a list such as');
  });

  test('is named when the file does not exist', () => {
    expect(() => readPhrases(join(folder, 'none.json'))).toThrow(
      'none.json cannot be read (there is no such file or folder)',
    );
  });
});

describe('the sound of a stream', () => {
  const get = (emulator: Emulator, path: string) => fetch(`${emulator.url}/emulator/streams/${path}`);

  test('is served unchanged as WAV, in either direction', async () => {
    const emulator = await start({ translate: 'echo', recordBytes: 1_000_000, tooFast: 'tolerate' });
    const client = await open(emulator);
    const pcm = Buffer.from(Int16Array.from({ length: 7680 }, (_, at) => (at * 37) % 2000).buffer);
    client.audio(pcm);
    await expect.poll(() => emulator.recording().sent.byteLength).toBe(pcm.byteLength);
    for (const way of ['received', 'sent']) {
      const response = await get(emulator, `newest/sound?way=${way}`);
      const wav = Buffer.from(await response.arrayBuffer());
      expect(response.headers.get('content-type')).toBe('audio/wav');
      expect(wav.toString('latin1', 0, 4) + wav.toString('latin1', 8, 12)).toBe('RIFFWAVE');
      expect([wav.readUInt16LE(22), wav.readUInt32LE(24), wav.readUInt16LE(34)]).toEqual([1, 24_000, 16]);
      expect(wav.readUInt32LE(4)).toBe(wav.byteLength - 8);
      expect(wav.readUInt32LE(40)).toBe(pcm.byteLength);
      expect(wav.subarray(44).equals(pcm)).toBe(true);
    }
  });

  test('is refused with the remedy when it was not recorded or the stream is unknown', async () => {
    const emulator = await start();
    await open(emulator);
    expect((await get(emulator, 'unknown/sound')).status).toBe(404);
    expect((await get(emulator, 'newest/sound?way=up')).status).toBe(422);
    const none = await get(emulator, 'newest/sound');
    expect(none.status).toBe(404);
    expect(await none.text()).toContain('--set recordBytes=');
  });
});
