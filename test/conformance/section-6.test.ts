import { beforeAll, describe, expect, test } from 'vitest';
import { watchStalls } from '../stalls.ts';
import { audioOf, type Conversation, converse, makeTask, transcriptionOf } from './conversation.ts';
import { useService } from './service.ts';
import { WAIT_MS } from './stream.ts';

const service = useService();
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/;

describe('one sentence', () => {
  let conversation: Conversation;
  beforeAll(async () => {
    const { client } = service;
    conversation = await converse(client, (await client.created()).token);
  });

  test('6 current_task: answers get_task while a task is live', () => {
    expect(conversation.stream.of('current_task').length).toBeGreaterThan(0);
  });

  test('6 output_audio_data: data.data is base64 audio', () => {
    const messages = conversation.stream.of('output_audio_data');
    expect(messages.length).toBeGreaterThan(0);
    for (const message of messages) expect(message.data['data']).toMatch(BASE64);
    expect(Buffer.concat(messages.map(audioOf)).some((byte) => byte !== 0)).toBe(true);
  });

  test('6 output_audio_data: holds whole samples of the declared output format', () => {
    for (const message of conversation.stream.of('output_audio_data')) {
      expect(audioOf(message).length % 2).toBe(0);
    }
  });

  test('6 partial_transcription: has transcription.text and transcription.language', () => {
    const partials = conversation.stream.of('partial_transcription').map(transcriptionOf);
    expect(partials.length).toBeGreaterThan(0);
    for (const partial of partials) {
      expect(partial['text']).toBeTypeOf('string');
      expect(partial['language']).toBe('en');
    }
  });

  test('6 partial_transcription: comes while the sentence is spoken, before the final one', () => {
    const { stream } = conversation;
    const partial = stream.messages.findIndex((message) => message.type === 'partial_transcription');
    const final = stream.messages.findIndex((message) => message.type === 'validated_transcription');
    expect(partial).toBeGreaterThanOrEqual(0);
    expect(partial).toBeLessThan(final);
  });

  test('6 validated_transcription: has transcription.text and transcription.language', () => {
    const finals = conversation.stream.of('validated_transcription').map(transcriptionOf);
    expect(finals.length).toBeGreaterThan(0);
    for (const final of finals) {
      expect(String(final['text']).trim()).not.toBe('');
      expect(final['language']).toBe('en');
    }
  });
});

test('6 output_audio_data: follows the declared sample rate and channels', async () => {
  const { client } = service;
  /** Bytes of the translation of the same sentence. */
  const bytesAt = async (outputRate: number, outputChannels: number): Promise<number> => {
    const declared = { outputRate, outputChannels };
    const { stream } = await converse(client, (await client.created()).token, declared);
    const messages = stream.of('output_audio_data').map(audioOf);
    for (const sound of messages) expect(sound.length % (2 * outputChannels), 'whole samples').toBe(0);
    return Buffer.concat(messages).length;
  };
  const plain = await bytesAt(24_000, 1);
  for (const [rate, channels] of [
    [48_000, 1],
    [24_000, 2],
  ] as const) {
    const ratio = (await bytesAt(rate, channels)) / plain;
    expect(ratio, `${rate} Hz, ${channels} channels: twice the bytes`).toBeGreaterThan(1.4);
    expect(ratio).toBeLessThan(2.8);
  }
});

test('6: silence makes no transcription', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  await stream.run(makeTask());
  await stream.speak(new Uint8Array(24_000 * 2 * 2), 48_000);
  expect(stream.of('validated_transcription')).toEqual([]);
  expect(stream.of('partial_transcription')).toEqual([]);
});

test('6 max_duration_reached: comes when a stream reaches max_session_duration_seconds', async (context) => {
  const steering = service.steering(context, 'the shortest maximum is 60 s');
  const { client } = service;
  const stream = await client.works((await client.created({ max_session_duration_seconds: 60 })).token);
  await steering.advance(50_000);
  expect(stream.of('max_duration_reached')).toEqual([]);
  expect(stream.isClosed).toBe(false);
  await steering.advance(11_000);
  await stream.next('max_duration_reached');
});

test('6 max_duration_reached: the connection then closes', async (context) => {
  const steering = service.steering(context, 'the shortest maximum is 60 s');
  const { client } = service;
  const { id, token } = await client.created({ max_session_duration_seconds: 60 });
  const stream = await client.open(token);
  await stream.run(makeTask());
  await steering.advance(61_000);
  await stream.closes();
  expect(stream.messages.at(-1)?.type).toBe('max_duration_reached');
  expect((await client.sessionWhen(id, (seen) => seen.active_stream_count === 0)).active_stream_count).toBe(
    0,
  );
});

test('6 max_duration_reached: counts for each stream from its own start', async (context) => {
  const steering = service.steering(context, 'the shortest maximum is 60 s');
  const { client } = service;
  const { token } = await client.created({ max_session_duration_seconds: 60 });
  const first = await client.works(token);
  await steering.advance(40_000);
  const second = await client.works(token);
  await steering.advance(25_000);
  await first.closes();
  await second.getTask();
  expect(second.isClosed).toBe(false);
  await steering.advance(40_000);
  await second.closes();
});

test('6 session_revoked: comes when the session is deleted while a stream runs', async () => {
  const { client } = service;
  const { id, token } = await client.created();
  const stream = await client.works(token);
  await client.revoke(id);
  await stream.next('session_revoked', { timeoutMs: service.heartbeatMs + WAIT_MS });
});

test('6 session_revoked: the connection closes within the heartbeat interval', async () => {
  const { client } = service;
  const { id, token } = await client.created();
  const stream = await client.works(token);
  const stalls = watchStalls();
  const startedAt = performance.now();
  await client.revoke(id);
  await stream.closes(service.heartbeatMs + WAIT_MS);
  expect(performance.now() - startedAt).toBeLessThan(service.heartbeatMs + 1500 + 2 * stalls.ms());
});
