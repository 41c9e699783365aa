import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { PATHS } from './client.ts';
import { converse, makeTask, settles, transcriptionOf } from './conversation.ts';
import { useService } from './service.ts';
import { expectRefusal } from './shapes.ts';
import { makeSilence, makeSpeech } from './speech.ts';
import { isTaskAnswer } from './stream.ts';

/*
 * Sentences that leave something open, or require something of others than the service. The tests limit the choices of the
 * service, and check that a choice is consistent with the rest.
 */

const service = useService();
const SAMPLE = { filename: 'visitor.wav', mime_type: 'audio/wav' };

test('1: every address that the service gives is absolute and its own', async () => {
  const { client } = service;
  const { host } = new URL(client.target.base);
  const webrtc = (await client.created({ connection_type: 'webrtc' })).webrtc?.url ?? '';
  const { ws_url } = await client.legacy();
  const upload = (await client.cloned()).samples[0]?.url ?? '';
  for (const address of [webrtc, ws_url, upload]) {
    expect(URL.canParse(address), address).toBe(true);
    if (service.own) expect(new URL(address).host).toBe(host);
  }
});

test('1: the API key reaches every session of the account', async () => {
  const { client } = service;
  const sessions = [await client.created({ client_reference_id: 'one' }), await client.created()];
  const listed = (await client.list()).map(({ id }) => id);
  for (const { id, token } of sessions) {
    expect(listed).toContain(id);
    expect((await client.session(id)).token).toBe(token);
    expect((await client.revoke(id)).status).toBeLessThan(300);
    await client.refused(token);
  }
});

test('2.1 max_session_duration_seconds: is an integer, null or absent where none was requested', async () => {
  const session = await service.client.created();
  const value = session.max_session_duration_seconds ?? null;
  expect(value === null || Number.isInteger(value), JSON.stringify(session)).toBe(true);
});

test('2.1 webrtc: subscriber_keys are as many as were asked for, no two alike', async () => {
  const { webrtc } = await service.client.created({ connection_type: 'webrtc', subscriber_count: 5 });
  const keys = (webrtc?.subscriber_keys ?? []).map((key) => JSON.stringify(key));
  expect(new Set(keys).size).toBe(5);
});

test('2.2 labels: further keys are accepted unchanged, or refused with a message', async () => {
  const labels = { gender: 'female', accent: 'northern' };
  const answer = await service.client.clone({ name: 'Visitor 1', samples: [SAMPLE], labels });
  if (answer.status === 200) expect(answer.json).toMatchObject({ data: { labels } });
  else expectRefusal(answer, 'further labels');
});

test('3.1: in each state the status is a name, and a revoked session is shown as such or not at all', async () => {
  const { client } = service;
  const { id, token } = await client.created();
  const stream = await client.works(token);
  expect((await client.session(id)).status).toMatch(/^[a-z_]+$/);
  await stream.end();
  expect((await client.session(id)).status).toMatch(/^[a-z_]+$/);
  await client.revoke(id);
  const answer = await client.request('GET', PATHS.session(id), { credential: client.target.apiKey });
  if (answer.status !== 200) return void expectRefusal(answer, 'a revoked session');
  const { status } = (answer.json as { data: { status: string } }).data;
  expect(['pending', 'used', 'expired']).not.toContain(status);
});

test('3.2: processing_status begins with created or pending and never goes back', async (context) => {
  const steering = service.steering(context, 'processing takes its time');
  const { client } = service;
  const voice = await client.cloned();
  const order = ['created', 'pending', 'ready', 'failed'];
  const seen = [voice.processing_status];
  const target = voice.samples[0];
  const form = new FormData();
  for (const [key, value] of Object.entries(target?.form_data ?? {})) form.append(key, String(value));
  form.append('file', new Blob([makeSpeech(1) as Uint8Array<ArrayBuffer>]), 'visitor.wav');
  await client.request('POST', target?.url ?? '', { body: form });
  for (let look = 0; look < 6; look += 1) {
    const answer = await client.request('GET', PATHS.voice(voice.voice_id), {
      credential: client.target.jwt,
    });
    seen.push(
      (answer.json as { data: { processing_status: typeof voice.processing_status } }).data.processing_status,
    );
    await steering.advance(2000);
  }
  expect(['created', 'pending']).toContain(seen[0]);
  expect(['ready', 'failed']).toContain(seen.at(-1));
  const places = seen.map((status) => order.indexOf(status));
  expect(places, seen.join(' ')).toEqual([...places].sort((a, b) => a - b));
});

test('4.3: creation without a body, and with an empty one, answers an address and a publisher token', async () => {
  const { client } = service;
  for (const options of [{}, { json: {} }, { json: { data: {} } }]) {
    const answer = await client.request('POST', PATHS.legacy, {
      credential: client.target.apiKey,
      ...options,
    });
    expect([200, 201], answer.text.slice(0, 200)).toContain(answer.status);
    const { data } = answer.json as { data: { ws_url: string; publisher: string } };
    const url = new URL(data.ws_url);
    url.searchParams.set('token', data.publisher);
    await client.works(url.href);
  }
});

test('4.7 input_audio_data: sound of the declared rate and channels is recognised', async () => {
  const { client } = service;
  for (const [sampleRate, channels] of [
    [16_000, 1],
    [24_000, 2],
    [48_000, 1],
  ] as const) {
    const stream = await client.open((await client.created()).token);
    await stream.run(makeTask({ sampleRate, channels }));
    const mono = Buffer.concat([makeSpeech(1.6, sampleRate), makeSilence(1.6, sampleRate)]);
    const sound = Buffer.alloc(mono.length * channels);
    for (let at = 0; at < sound.length; at += 2) {
      sound.writeInt16LE(mono.readInt16LE(Math.floor(at / 2 / channels) * 2), at);
    }
    await stream.speak(sound, sampleRate * 2 * channels);
    const said = transcriptionOf(await stream.next('validated_transcription'));
    expect(said['text'], `${sampleRate} Hz, ${channels} channels`).toMatch(/\S/);
  }
});

test('4.7 input_audio_data: incomplete samples of the declared format break nothing', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  await stream.run(makeTask({ channels: 2 }));
  for (const bytes of [7, 1023, 7682]) stream.sendAudio(new Uint8Array(bytes));
  expect((await stream.getTask()).type).toBe('current_task');
  if (service.own) expect(stream.of('error').length).toBeGreaterThanOrEqual(3);
});

test('4.7 set_task: other options are accepted, or refused with a message, and the stream continues', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  await stream.run(makeTask());
  const from = stream.messages.length;
  stream.send('set_task', { ...makeTask({ pipeline: { glossary: ['kiosk'] } }), colour: 'blue' });
  stream.send('set_task', {
    ...makeTask(),
    input_stream: {
      content_type: 'video',
      source: { type: 'ws', format: 'h264', sample_rate: 24_000, channels: 1 },
    },
  });
  await stream.pass(2500);
  expect(isTaskAnswer(await stream.getTask())).toBe(true);
  for (const { type, data } of stream.messages.slice(from)) {
    if (type === 'error') expect(JSON.stringify(data)).toMatch(/[a-z]{4,}/);
  }
});

test('5 rule 3: no answer hands out the API key or the JWT', async () => {
  const { client } = service;
  const { apiKey, jwt } = client.target;
  const session = await client.created({ client_reference_id: 'kiosk' });
  const voice = await client.cloned();
  const answers = [
    await client.request('GET', PATHS.sessions, { credential: apiKey }),
    await client.request('GET', PATHS.session(session.id), { credential: apiKey }),
    await client.request('GET', PATHS.voice(voice.voice_id), { credential: jwt }),
    await client.request('POST', PATHS.sessions, { credential: `${apiKey}x`, json: {} }),
    await client.request('POST', PATHS.clone, { credential: jwt, json: { data: { name: jwt } } }),
  ];
  for (const { text } of [...answers, { text: JSON.stringify([session, voice]) }]) {
    expect(text).not.toContain(apiKey);
    expect(text).not.toContain(jwt);
  }
});

test('6: events come on the WebSocket only; a callback address is never called', async (context) => {
  if (!service.own) context.skip('a service elsewhere could not reach this machine anyway');
  const { client } = service;
  let calls = 0;
  const listener = createServer((_request, response) => {
    calls += 1;
    response.end();
  }).listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const url = `http://127.0.0.1:${(listener.address() as AddressInfo).port}/`;
  try {
    const { token, id } = await client.created({ callback_url: url, webhook_url: url });
    const { stream } = await converse(client, token, { pipeline: { callback_url: url } });
    await client.revoke(id);
    await stream.closes();
  } finally {
    listener.close();
  }
  expect(calls).toBe(0);
});

test('6 current_task: holds the parts of the task that was set', async () => {
  const stream = await service.client.open((await service.client.created()).token);
  const { data } = await stream.run(makeTask());
  expect(Object.keys(data)).toEqual(expect.arrayContaining(['input_stream', 'output_stream', 'pipeline']));
});

test('6 current_task: has the status running, for which some clients wait', async () => {
  const stream = await service.client.open((await service.client.created()).token);
  const { data } = await stream.run(makeTask());
  if (service.own || 'task_status' in data) expect(data['task_status']).toBe('running');
});

test('7: reasons without a specified number still differ in status and number', async () => {
  const { client } = service;
  const wrong = [
    (await client.created({ intent: 'stt' })).token,
    (await client.created({ connection_type: 'webrtc' })).token,
  ];
  const codes = new Set<number | null>();
  for (const token of wrong) {
    const { delivery, status, errorCode } = await client.refused(token);
    if (delivery !== 'http') continue;
    expect(status).toBeGreaterThanOrEqual(400);
    expect([202100, 202102]).not.toContain(errorCode);
    codes.add(errorCode);
  }
  expect([0, 2]).toContain(codes.size);
});

test('8: a burst of requests is answered each time, or refused with the envelope', async () => {
  const { client } = service;
  const answers = await Promise.all(Array.from({ length: 40 }, () => client.create({ intent: 's2s' })));
  for (const answer of answers) if (answer.status !== 201) expectRefusal(answer, 'burst');
});

test('9: another version in a path is refused with the envelope', async () => {
  const { client } = service;
  for (const path of [
    '/session-storage/v1/sessions',
    '/session-storage/v3/sessions',
    '/session-storage/v2/session',
  ]) {
    const answer = await client.request('POST', path, {
      credential: client.target.apiKey,
      json: { intent: 's2s' },
    });
    expectRefusal(answer, path);
  }
  const { token } = await client.created();
  const url = client.streamUrl(token).replace('/v1/', '/v2/');
  const refusal = await client.refused(url);
  expect(refusal.delivery).toBe('http');
});

test('6: further messages and their data are JSON objects, whatever their types', async () => {
  const { client } = service;
  const { id, token } = await client.created({ max_session_duration_seconds: 60 });
  const { stream } = await converse(client, token);
  await client.revoke(id);
  await stream.closes();
  await settles(stream, 50);
  expect([...stream.junk, ...stream.misshapen]).toEqual([]);
});
