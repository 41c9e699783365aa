import { setTimeout as sleep } from 'node:timers/promises';
import { beforeAll, describe, expect, test } from 'vitest';
import { audioOf, type Conversation, converse, makeTask, within } from './conversation.ts';
import { useService } from './service.ts';
import { isNotFound, isTaskAnswer } from './stream.ts';

const service = useService();

test('4.7: the API key as query parameter token opens a stream', async () => {
  const { client } = service;
  const key = encodeURIComponent(client.target.apiKey);
  const path = '/streaming-api/Zm9vYmFy/v1/speech-to-speech/stream';
  await client.works(`${client.target.streaming}${path}?token=${key}`);
});

test('4.7 random_hash: any URL-safe string is accepted', async () => {
  const { client } = service;
  const { token } = await client.created();
  for (const hash of [
    'a',
    '0',
    'A-Z_a.z~09',
    'f'.repeat(64),
    '9f8b7c1e-1111-4222-8333-444455556666',
    'x'.repeat(200),
    'Az0-_'.repeat(400),
  ]) {
    await client.works(client.streamUrl(token, hash));
  }
});

test('4.7 random_hash: connections may share one', async () => {
  const { client } = service;
  const { token } = await client.created();
  await client.works(client.streamUrl(token, 'same'));
  await client.works(client.streamUrl(token, 'same'));
});

test('4.7: the token may be passed in the Authorization header', async () => {
  const { client } = service;
  const { token } = await client.created();
  for (const credential of [client.target.apiKey, token]) {
    await client.works(client.streamUrl(null), { Authorization: `Bearer ${credential}` });
  }
});

test('4.7: with an API key a session is created automatically and removed after the close', async () => {
  const { client } = service;
  const before = (await client.list()).map((session) => session.id);
  const stream = await client.works(client.target.apiKey);
  await stream.end();
  const left = async (): Promise<string[]> =>
    (await client.list()).map((session) => session.id).filter((id) => !before.includes(id));
  for (let tries = 0; tries < 400 && (await left()).length > 0; tries += 1) await sleep(50);
  expect(await left()).toEqual([]);
});

test('4.7: with a session token the stream opens by token=<token>', async () => {
  const { client } = service;
  const { token } = await client.created();
  expect((await (await client.open(token)).run(makeTask())).type).toBe('current_task');
});

test('4.7 set_task: the shown keys make a task', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  const answer = await stream.run(
    makeTask({ sampleRate: 16_000, channels: 2, outputRate: 48_000, outputChannels: 2 }),
  );
  expect(answer.type).toBe('current_task');
});

test('4.7 set_task: several translations are accepted', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  expect((await stream.run(makeTask({ targets: ['es', 'de', 'fr'] }))).type).toBe('current_task');
});

test('4.7 set_task: a task without its parts does not start a pipeline', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  const { input_stream, output_stream } = makeTask();
  stream.send('set_task', {});
  stream.send('set_task', { input_stream, output_stream });
  await stream.pass(3500);
  if (stream.isClosed) return;
  expect(isNotFound(await stream.getTask())).toBe(true);
});

test('4.7 get_task: is answered with and without a payload', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  expect(isTaskAnswer(await stream.getTask({}))).toBe(true);
  expect(isTaskAnswer(await stream.getTask(undefined))).toBe(true);
});

test('4.7 rule 1: set_task is not acknowledged directly', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  stream.send('set_task', makeTask());
  await stream.pass(1500);
  expect(stream.messages.map((message) => message.type)).toEqual([]);
});

test('4.7 rule 1: a task is live 2-3 seconds after set_task', async (context) => {
  const steering = service.steering(context, 'the usual set-up time is put back');
  const { client } = service;
  await steering.set({ setup_ms: 2500 });
  const { stream, early } = await within(900, async () => {
    const opened = await client.open((await client.created()).token);
    opened.send('set_task', makeTask());
    await opened.pass(1500);
    return { stream: opened, early: await opened.getTask() };
  });
  expect(isNotFound(early), 'at 1.5 s').toBe(true);
  expect((await stream.getTask()).type, 'at 3.5 s').toBe('current_task');
});

test('4.7 rule 2: get_task is NOT_FOUND without a task', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  expect(isNotFound(await stream.getTask())).toBe(true);
});

test('4.7 rule 2: an immediate get_task answers NOT_FOUND or the task', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  stream.send('set_task', makeTask());
  expect(isTaskAnswer(await stream.getTask())).toBe(true);
});

test('4.7 rule 2: once the pipeline has started get_task answers current_task', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  await stream.run(makeTask());
  expect((await stream.getTask()).type).toBe('current_task');
});

test('4.7: end_task always ends in a close', async () => {
  const { client } = service;
  for (const data of [{}, undefined, null, { force: true }, { eos_timeout: 1 }, { eos_timeout: 0 }]) {
    const fresh = await client.open((await client.created()).token);
    fresh.send('end_task', data);
    const running = await client.open((await client.created()).token);
    await running.run(makeTask());
    running.send('end_task', data);
    await fresh.closes();
    await running.closes();
  }
});

describe('audio', () => {
  let conversation: Conversation;
  beforeAll(async () => {
    const { client } = service;
    conversation = await converse(client, (await client.created()).token, { onTheClock: true });
  });

  test('4.7: messages are JSON objects of message_type and data', () => {
    expect(conversation.stream.junk).toEqual([]);
    expect(conversation.stream.misshapen).toEqual([]);
    expect(conversation.stream.messages.length).toBeGreaterThan(2);
  });

  test('4.7 input_audio_data: base64 chunks are recognised', () => {
    expect(conversation.stream.of('validated_transcription').length).toBeGreaterThan(0);
  });

  test('4.7 speech_generation: makes synthesized audio', () => {
    const sound = conversation.stream.of('output_audio_data').map(audioOf);
    expect(Buffer.concat(sound).length).toBeGreaterThan(0);
  });
});

test('4.7 rule 3: data sent as a JSON string is the same data', async (context) => {
  const steering = service.steering(context, 'the form of data is an option');
  await steering.set({ data_form: 'string' });
  const { client } = service;
  const { stream } = await converse(client, (await client.created()).token);
  expect(stream.messages.filter((message) => !message.dataWasString)).toEqual([]);
  const types = new Set(stream.messages.map((message) => message.type));
  for (const type of ['current_task', 'validated_transcription', 'output_audio_data'])
    expect(types).toContain(type);
  await steering.set({ data_form: 'object' });
  const plain = await client.open((await client.created()).token);
  await plain.run(makeTask());
  expect(plain.messages.filter((message) => message.dataWasString)).toEqual([]);
});

test('4.7: audio sent before a task is live breaks nothing', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  stream.sendAudio(new Uint8Array(15_360));
  expect((await stream.run(makeTask())).type).toBe('current_task');
});
