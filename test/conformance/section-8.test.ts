import { expect, test } from 'vitest';
import { reasonsIn } from './client.ts';
import { converse, makeTask, transcriptionOf } from './conversation.ts';
import { useService } from './service.ts';
import { loadVoice, makeSilence } from './speech.ts';

const service = useService();

/** The metrics of the stream that was opened last. */
function numbersIn(record: Record<string, unknown> | undefined): string {
  return JSON.stringify(record ?? {});
}

test('8 audio chunk: 320 ms are recommended, other lengths work too', async () => {
  const { client } = service;
  for (const chunkMs of [100, 320, 640]) {
    const { stream } = await converse(client, (await client.created()).token, { chunkMs });
    expect(stream.of('validated_transcription').length).toBeGreaterThan(0);
  }
});

test('8 audio pacing: a second of audio per second keeps the stream', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  await stream.run(makeTask());
  await stream.speak(makeSilence(2), 48_000);
  expect(stream.isClosed).toBe(false);
  expect(stream.messages.filter((message) => message.type === 'error' && message.atMs > 1000)).toEqual([]);
});

test('8 get_task polling: once per 2 s is answered each time', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  await stream.run(makeTask());
  for (let count = 0; count < 2; count += 1) expect((await stream.getTask()).type).toBe('current_task');
});

test('8 unused legacy-created sessions: stay active for 1 minute', async (context) => {
  const steering = service.steering(context, 'a minute has to pass');
  const { client } = service;
  const { ws_url, publisher } = await client.legacy();
  await steering.advance(50_000);
  const url = new URL(ws_url);
  url.searchParams.set('token', publisher);
  const stream = await client.works(url.href);
  expect(stream.isClosed).toBe(false);
});

test('8 concurrent streams: running streams of all sessions count toward the limit', async (context) => {
  const steering = service.steering(context, 'the concurrent session limit is not shown');
  const { client } = service;
  await steering.set({ concurrent: 3 });
  await client.works((await client.created()).token);
  await client.works((await client.created()).token);
  await client.works(client.target.apiKey);
  const refusals = [
    await client.refused((await client.created()).token),
    await client.refused(client.target.apiKey),
  ];
  for (const { said } of refusals) expect(reasonsIn(said)).toEqual(['session_limit_reached']);
});

test('8 concurrent streams: several streams of one token count each', async (context) => {
  const steering = service.steering(context, 'the concurrent session limit is not shown');
  const { client } = service;
  await steering.set({ concurrent: 2 });
  const { token } = await client.created();
  await client.works(token);
  await client.works(token);
  expect(reasonsIn((await client.refused(token)).said)).toEqual(['session_limit_reached']);
});

test('8 concurrent streams: sessions without a running stream do not count', async (context) => {
  const steering = service.steering(context, 'the concurrent session limit is not shown');
  const { client } = service;
  await steering.set({ concurrent: 1 });
  const tokens = [];
  for (let count = 0; count < 3; count += 1) tokens.push((await client.created()).token);
  for (const token of tokens) {
    const stream = await client.works(token);
    await stream.end();
    await steering.advance(1000);
  }
});

test('8 concurrent streams: with single_use false one token runs several streams at once', async () => {
  const { client } = service;
  const { token } = await client.created();
  const streams = [await client.open(token), await client.open(token), await client.open(token)];
  await Promise.all(streams.map((stream) => stream.run(makeTask())));
  for (const stream of streams) expect(stream.isClosed).toBe(false);
});

test('8 audio pacing: sound that comes faster than real time is transcribed worse', async () => {
  const { client } = service;
  const voice = loadVoice();
  const sound = Buffer.concat([
    voice.sentence,
    voice.sentence,
    voice.sentence,
    makeSilence(1.6, voice.sampleRate),
  ]);
  const wordsAt = async (speed: number): Promise<string[]> => {
    const stream = await client.open((await client.created()).token);
    await stream.run(makeTask({ sampleRate: voice.sampleRate }));
    await stream.speak(sound, voice.sampleRate * 2, { speed });
    await stream.speak(makeSilence(1.6, voice.sampleRate), voice.sampleRate * 2);
    await stream.getTask();
    expect(stream.isClosed, `the stream continues at ${speed} times real time`).toBe(false);
    const texts = stream.of('validated_transcription').map((message) => transcriptionOf(message)['text']);
    return texts.join(' ').split(/\s+/);
  };
  const well = await wordsAt(1);
  const hasty = await wordsAt(4);
  expect(hasty, 'other words than at real time').not.toEqual(well);
  if (service.own) expect(hasty.length, `${hasty.join(' ')} / ${well.join(' ')}`).toBeLessThan(well.length);
});

test('8 audio pacing: the emulator notices audio that is sent faster than real time', async (context) => {
  const steering = service.steering(context, 'how fast a client sends is seen in /emulator/metrics only');
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  await stream.run(makeTask());
  const before = (await steering.metrics()).at(-1);
  for (let count = 0; count < 40; count += 1) stream.sendAudio(makeSilence(0.32));
  await stream.getTask();
  expect(numbersIn((await steering.metrics()).at(-1))).not.toBe(numbersIn(before));
});
