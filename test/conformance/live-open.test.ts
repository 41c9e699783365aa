import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { PATHS } from './client.ts';
import { audioOf, makeTask, settles } from './conversation.ts';
import { useService } from './service.ts';
import { loadVoice, makeSilence, makeWav } from './speech.ts';

/* Facts of public clients that leave the service a choice, or require something of clients. */

const service = useService({ profile: 'live' });

/** A task whose input or output has another format. */
function formatted(input: string, output: string): Record<string, unknown> {
  const source = { type: 'ws', format: input, sample_rate: loadVoice().sampleRate, channels: 1 };
  const target = { type: 'ws', format: output };
  return {
    ...makeTask(),
    input_stream: { content_type: 'audio', source },
    output_stream: { content_type: 'audio', target },
  };
}

test('live wire: wav is accepted with its header, zlib_pcm_s16le comes compressed, further formats are refused', async () => {
  const { client } = service;
  const voice = loadVoice();
  const stream = await client.open((await client.created()).token);
  await stream.run(formatted('wav', 'zlib_pcm_s16le'));
  const sound = Buffer.concat([voice.sentence, makeSilence(1.6, voice.sampleRate)]);
  await stream.speak(makeWav(sound, voice.sampleRate), voice.sampleRate * 2);
  await stream.next('validated_transcription');
  const { data } = await stream.next('output_audio_data');
  await settles(stream, 200);
  expect(data['data']).toMatch(/^[A-Za-z0-9+/]+={0,2}$/);
  const pcm = stream.of('output_audio_data').map((message) => inflateSync(audioOf(message)));
  expect(pcm.every((bytes) => bytes.length % 2 === 0)).toBe(true);
  expect(Buffer.concat(pcm).length).toBeGreaterThan(24_000);
  const other = await client.open((await client.created()).token);
  other.send('set_task', formatted('mp3', 'pcm_s16le'));
  const error = await other.next('error');
  expect(error.data).toMatchObject({ code: 'VALIDATION_ERROR' });
});

test('live wire: frames of unknown types, without a type and empty ones may come, and the stream continues', async (context) => {
  const steering = service.steering(context, 'when such frames come is not known');
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  await stream.run(makeTask());
  const before = stream.messages.length;
  for (const form of ['empty', 'no_type', 'unknown_type']) await steering.malform(form);
  expect((await stream.getTask()).type).toBe('current_task');
  expect(stream.misshapen).toHaveLength(2);
  expect(stream.messages.slice(before).map(({ type }) => type)).toContain('weather_report');
});

test('live limits: a task runs, and speech comes back, in the order of the observed times', async (context) => {
  const steering = service.steering(context, 'the usual set-up time is put back');
  await steering.set({ setup_ms: 2100 });
  const { client } = service;
  const voice = loadVoice();
  const stream = await client.open((await client.created()).token);
  const setAt = stream.elapsedMs();
  stream.send('set_task', makeTask({ sampleRate: voice.sampleRate }));
  const runs = await stream.next(
    ({ type, data }) => type === 'task_status' && data['task_status'] === 'running',
  );
  expect(runs.atMs - setAt).toBeGreaterThan(1000);
  expect(runs.atMs - setAt).toBeLessThan(8000);
  const spokenAt = stream.elapsedMs();
  const sound = Buffer.concat([voice.sentence, makeSilence(1.6, voice.sampleRate)]);
  await stream.speak(sound, voice.sampleRate * 2, { onTheClock: true });
  const speech = await stream.next('output_audio_data');
  expect(speech.atMs - spokenAt, 'after its first word').toBeGreaterThan(1600);
  expect(speech.atMs - spokenAt).toBeLessThan(12_000);
});

test('live http: temporary sessions are read, listed and deleted by the pattern of creation', async () => {
  const { client } = service;
  const session = await client.created({ client_reference_id: `pattern-${Date.now()}` });
  expect((await client.session(session.id)).id).toBe(session.id);
  const listed = await client.list(session.client_reference_id ?? '');
  expect(listed.map(({ id }) => id)).toEqual([session.id]);
  expect((await client.revoke(session.id)).status).toBe(204);
  const gone = await client.request('GET', PATHS.session(session.id), {
    credential: client.target.apiKey,
  });
  expect(gone.status).toBe(404);
});
