import { once } from 'node:events';
import { connect as connectSocket } from 'node:net';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { type Emulator, startEmulator } from '../../src/emulator/server.ts';
import { mp3Of, PAGE, spokenWav, wavOf } from '../voice-recordings.ts';
import { ask, connect, createToken, streamUrl } from './client.ts';

const SESSIONS = '/session-storage/v2/sessions';
let emulator: Emulator;

beforeAll(async () => {
  emulator = await startEmulator({ setupMs: 0, pending: 5000, voiceProcessingMs: 1000 });
});
afterEach(() => {
  emulator.fault({ kind: 'clear' });
});
afterAll(() => emulator.close());

const create = (body: unknown = { intent: 's2s' }) => ask(emulator, 'POST', SESSIONS, body);

describe('requests', () => {
  test('end only their connection when they are not HTTP', async () => {
    const socket = connectSocket(Number(new URL(emulator.url).port), '127.0.0.1');
    socket.on('error', () => {});
    socket.resume();
    socket.write('\x16\x03\x01\x00\xff nonsense\r\n\r\n');
    await once(socket, 'close');
    expect((await create()).status).toBe(201);
  });
});

describe('http faults', () => {
  test('send a status as often as ordered, with Retry-After', async () => {
    emulator.fault({ kind: 'http', status: 429, retry_after_s: 7, times: 2 });
    const answers = [await create(), await create(), await create()];
    expect(answers.map(({ status }) => status)).toEqual([429, 429, 201]);
    expect(answers[0]?.headers.get('retry-after')).toBe('7');
    expect(answers[0]?.json).toMatchObject({ ok: false, errors: [{ status: 429 }] });
  });

  test.each([
    [403, 'forbidden'],
    [429, 'rate_limit_exceeded'],
    [500, 'unavailable'],
    [503, 'unavailable'],
  ])('send with the status %i the reason %s', async (status, reason) => {
    emulator.fault({ kind: 'http', status });
    const answer = await create();
    expect(answer.status).toBe(status);
    expect(answer.json).toMatchObject({ errors: [{ status, detail: `${reason}: on demand` }] });
  });

  test('send a refusal of section 7 at creation', async () => {
    emulator.fault({ kind: 'http', reason: 'pending_sessions_limit_reached' });
    const { json } = await create();
    expect(JSON.stringify(json)).toContain('pending_sessions_limit_reached');
  });

  test('reset, time out, send an invalid answer, or answer slowly', async () => {
    emulator.fault({ kind: 'http', answer: 'reset' });
    await expect(create()).rejects.toThrow();
    emulator.fault({ kind: 'http', answer: 'timeout', ms: 150 });
    await expect(create()).rejects.toThrow();
    emulator.fault({ kind: 'http', answer: 'garbage' });
    await expect(create()).rejects.toThrow('JSON');
    emulator.fault({ kind: 'http', answer: 'slow', ms: 150 });
    const before = performance.now();
    expect((await create()).status).toBe(201);
    expect(performance.now() - before).toBeGreaterThan(140);
  });

  test('do not hit other requests', async () => {
    emulator.fault({ kind: 'http', route: 'voice' });
    expect((await create()).status).toBe(201);
    expect((await ask(emulator, 'GET', '/saas/voice/m/x', undefined, emulator.jwt)).status).toBe(503);
  });

  test('change only the timestamps with clock_skew', async () => {
    emulator.fault({ kind: 'clock_skew', ms: -3_600_000 });
    const { json } = await create();
    const { created_at, token } = (json as { data: { created_at: string; token: string } }).data;
    expect(Date.now() - Date.parse(created_at)).toBeGreaterThan(3_590_000);
    const client = await connect(streamUrl(emulator, token));
    client.socket.close();
  });
});

describe('steering', () => {
  test('orders a fault, and explains an invalid one', async () => {
    const good = await ask(emulator, 'POST', '/emulator/faults', { kind: 'revoke', when: 'mid_speech' });
    expect([good.status, good.json]).toEqual([202, { ok: true, ids: [expect.any(Number)] }]);
    const list = await ask(emulator, 'GET', '/emulator/faults');
    expect(list.json).toMatchObject({ waiting: [{ kind: 'revoke', when: 'mid_speech' }] });
    expect((await ask(emulator, 'DELETE', '/emulator/faults')).status).toBe(204);
    expect((await ask(emulator, 'GET', '/emulator/faults')).json).toMatchObject({ waiting: [] });
    const bad = await ask(emulator, 'POST', '/emulator/faults', { kind: 'nap' });
    expect(bad.status).toBe(422);
  });

  test('advances the clock past a connect window', async () => {
    const { id } = await createToken(emulator, { expires_in_seconds: 60 });
    await ask(emulator, 'POST', '/emulator/clock', { advance_s: 61 });
    const { json } = await ask(emulator, 'GET', `${SESSIONS}/${id}`);
    expect(json).toMatchObject({ data: { status: 'expired' } });
    expect((await ask(emulator, 'POST', '/emulator/clock', { advance_s: -1 })).status).toBe(422);
  });

  test('shows, changes and checks settings', async () => {
    const change = await ask(emulator, 'POST', '/emulator/settings', {
      data_form: 'string',
      account: 'blocked',
    });
    expect(change.json).toMatchObject({ data_form: 'string', account: 'blocked' });
    expect((await create()).status).toBe(403);
    await ask(emulator, 'POST', '/emulator/settings', { data_form: 'object', account: 'ok' });
    expect((await create()).status).toBe(201);
    expect((await ask(emulator, 'POST', '/emulator/settings', { nonsense: 1 })).status).toBe(422);
  });

  test('lists every stream in metrics and streams, without tokens', async () => {
    const { token } = await createToken(emulator, { client_reference_id: 'museum.kiosk-01' });
    const client = await connect(streamUrl(emulator, token));
    const metrics = await ask(emulator, 'GET', '/emulator/metrics');
    const streams = await ask(emulator, 'GET', '/emulator/streams');
    for (const { json } of [metrics, streams]) {
      expect(json).toMatchObject({
        streams: expect.arrayContaining([
          expect.objectContaining({
            client_reference_id: 'museum.kiosk-01',
            pacing_violations: 0,
            billed_ms: expect.any(Number),
          }),
        ]),
      });
      expect(JSON.stringify(json)).not.toContain(token);
    }
    client.socket.close();
  });

  test('serves a page without other resources', async () => {
    const response = await fetch(`${emulator.url}/emulator`);
    const html = await response.text();
    expect(response.headers.get('content-type')).toContain('text/html');
    expect(response.headers.get('content-security-policy')).toContain("default-src 'none'");
    expect(html).not.toMatch(/(src|href)="(?!data:)/);
    expect(html).not.toMatch(/https?:\/\//);
  });
});

describe('voice samples', () => {
  const sample = { filename: 'visitor.wav', mime_type: 'audio/wav' };
  interface Target {
    url: string;
    form_data: Record<string, string>;
  }
  async function clone(): Promise<{ id: string; target: Target }> {
    const body = { data: { name: 'Visitor', samples: [sample] } };
    const { json } = await ask(emulator, 'POST', '/saas/voice/clone', body, emulator.jwt);
    const { voice_id: id, samples } = (json as { data: { voice_id: string; samples: Target[] } }).data;
    return { id, target: samples[0] as Target };
  }
  async function upload(
    target: Target,
    change: (form: FormData) => void = () => {},
    file: Blob = new Blob([spokenWav(12)]),
  ) {
    const form = new FormData();
    for (const [key, value] of Object.entries(target.form_data)) form.append(key, value);
    form.append('file', file, 'visitor.wav');
    change(form);
    const response = await fetch(target.url, { method: 'POST', body: form });
    return { status: response.status, text: await response.text() };
  }
  const status = async (id: string) =>
    (
      (await ask(emulator, 'GET', `/saas/voice/m/${id}`, undefined, emulator.jwt)).json as {
        data: { processing_status: string };
      }
    ).data.processing_status;

  test('are refused when there are two files', async () => {
    const { id, target } = await clone();
    const answer = await upload(target, (form) => form.append('file', new Blob(['x']), 'b.wav'));
    expect(answer).toEqual({ status: 403, text: expect.stringContaining('one file') });
    expect(await status(id)).toBe('created');
    expect((await upload(target)).status).toBe(204);
  });

  test('have a target that works once and expires', async () => {
    const once = await clone();
    await upload(once.target);
    expect((await upload(once.target)).status).toBe(403);
    const late = await clone();
    await emulator.advance(3_600_001);
    expect((await upload(late.target)).text).toContain('expired');
  });

  test.each([
    ['a web page', PAGE, /is a web page, not a recording/],
    ['one second', spokenWav(1), /is only 1\.0 s long/],
    ['silence', wavOf(Buffer.alloc(48_000 * 31)), /holds digital silence/],
    ['no promised sound', wavOf(spokenWav(31).subarray(44), 0), /a header that promises no sound/],
    ['MP3 as WAV', mp3Of(31), /the sample is audio\/mpeg, not audio\/wav/],
  ])('fail in processing with %s', async (_what, bytes, words) => {
    const { id, target } = await clone();
    expect((await upload(target, undefined, new Blob([bytes]))).status).toBe(204);
    await emulator.advance(1000);
    const { json } = await ask(emulator, 'GET', `/saas/voice/m/${id}`, undefined, emulator.jwt);
    expect(json).toMatchObject({
      data: { processing_status: 'failed', processing_result: { errors: [expect.stringMatching(words)] } },
    });
  });

  test('fail in processing with the fault voice_failed', async () => {
    const { id, target } = await clone();
    emulator.fault({ kind: 'voice_failed' });
    await upload(target);
    await emulator.advance(1000);
    expect(await status(id)).toBe('failed');
  });

  test('are refused without a form, or at an unknown target', async () => {
    const { target } = await clone();
    const post = async (url: string, body: string, type: string) =>
      (await fetch(url, { method: 'POST', body, headers: { 'content-type': type } })).status;
    expect(await post(target.url, 'x', 'text/plain')).toBe(400);
    expect(await post(target.url, 'x', 'multipart/form-data')).toBe(400);
    expect(await post(target.url, 'no parts here', 'multipart/form-data; boundary=b')).toBe(400);
    expect(
      await post(
        target.url,
        '--b\r\nContent-Disposition: form-data; name="a"\r\n\r\ncut',
        'multipart/form-data; boundary=b',
      ),
    ).toBe(400);
    expect((await upload({ ...target, url: `${emulator.url}/emulator-uploads/nowhere` })).status).toBe(404);
  });
});
