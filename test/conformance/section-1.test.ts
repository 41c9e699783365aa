import { expect, test } from 'vitest';
import { converse } from './conversation.ts';
import { useService } from './service.ts';
import { expectRefusal } from './shapes.ts';
import { isTaskAnswer } from './stream.ts';

const service = useService();

test('1: an API key buys a token that opens a real-time stream', async () => {
  const { client } = service;
  const session = await client.created();
  const stream = await client.open(session.token);
  expect(isTaskAnswer(await stream.getTask())).toBe(true);
});

test('1: a session token is restricted: it creates no sessions', async () => {
  const { client } = service;
  const session = await client.created();
  expectRefusal(await client.create({ intent: 's2s' }, session.token), 'create with a session token');
});

test('1: the token is not the API key and does not hold it', async () => {
  const { client } = service;
  const session = await client.created();
  expect(JSON.stringify(session)).not.toContain(client.target.apiKey);
});

test('1: tokens are sold for s2s, stt and tts', async () => {
  for (const intent of ['s2s', 'stt', 'tts']) {
    expect((await service.client.created({ intent })).intent).toBe(intent);
  }
});

test('1: tokens are sold for ws, and for webrtc with s2s', async () => {
  for (const connection_type of ['ws', 'webrtc']) {
    const session = await service.client.created({ connection_type });
    expect(session.connection_type).toBe(connection_type);
  }
});

test('1: a stream opened with a session token is billed like one opened with the API key', async (context) => {
  const steering = service.steering(context, 'bills are seen in /emulator/metrics only');
  const { client } = service;
  const before = (await steering.metrics()).length;
  const byToken = await client.works((await client.created()).token);
  const byKey = await client.works(client.target.apiKey);
  await steering.advance(90_000);
  await Promise.all([byToken.end(), byKey.end()]);
  const bills = (await steering.metrics()).slice(before).map((stream) => Number(stream['billed_ms']));
  expect(bills).toHaveLength(2);
  for (const bill of bills) expect(bill).toBeGreaterThanOrEqual(90_000);
  const [first = 0, second = 0] = bills;
  expect(Math.abs(first - second)).toBeLessThan(5000);
});

test('1: one connection takes audio and gives transcriptions and synthesized translation', async () => {
  const { client } = service;
  const { stream } = await converse(client, (await client.created()).token);
  expect(stream.of('validated_transcription').length).toBeGreaterThan(0);
  expect(stream.of('output_audio_data').length).toBeGreaterThan(0);
});
