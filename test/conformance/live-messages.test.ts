import { beforeAll, describe, expect, test } from 'vitest';
import { audioOf, type Conversation, converse, makeTask, settles, transcriptionOf } from './conversation.ts';
import { useService } from './service.ts';
import { makeSilence, makeSpeech } from './speech.ts';
import type { Message } from './stream.ts';

/* Facts marked C or O in docs/service.md 10: messages of the server. */

const service = useService({ profile: 'live' });
const TRANSCRIPTS = [
  'partial_transcription',
  'validated_transcription',
  'partial_translated_transcription',
  'translated_transcription',
];
const ALL_TYPES = [...TRANSCRIPTS, 'pipeline_timings', 'tts_buffer_stats'];
const CHUNK_BYTES = 9600;

const keyOf = (part: Record<string, unknown>): string =>
  [part['transcription_id'], part['translation_part_id'], part['language']].map(String).join('/');

function warned(code: string): (message: Message) => boolean {
  return (message) => message.type === 'warning' && message.data['code'] === code;
}

describe('one sentence into two languages', () => {
  let conversation: Conversation;
  let texts: Message[];
  let audio: Message[];

  beforeAll(async () => {
    const { client } = service;
    const options = { targets: ['es', 'de'], outputRate: 48_000, outputChannels: 2, onTheClock: true };
    const pipeline = { allowed_message_types: ALL_TYPES };
    conversation = await converse(client, (await client.created()).token, { ...options, pipeline });
    await settles(conversation.stream, 1500);
    texts = conversation.stream.messages.filter((message) => TRANSCRIPTS.includes(message.type));
    audio = conversation.stream.of('output_audio_data');
  });

  test('live messages: the four transcripts have one shape', () => {
    expect(new Set(texts.map((message) => message.type))).toEqual(new Set(TRANSCRIPTS));
    for (const message of texts) {
      expect(transcriptionOf(message)).toMatchObject({
        transcription_id: expect.any(String),
        language: expect.stringMatching(message.type.includes('translated') ? /^(es|de)$/ : /^en$/),
        text: expect.any(String),
        segments: expect.any(Array),
      });
    }
  });

  test('live messages: a transcript has the times of its audio and of each word', () => {
    for (const message of texts) {
      const segments = transcriptionOf(message)['segments'] as Record<string, unknown>[];
      let before = 0;
      for (const { text, start, end, start_timestamp, end_timestamp, words } of segments) {
        expect(text).toEqual(expect.any(String));
        expect(start).toBeGreaterThanOrEqual(before);
        before = Number(end);
        expect(before).toBeGreaterThan(Number(start));
        expect(Number(end_timestamp) - Number(start_timestamp)).toBeCloseTo(before - Number(start), 2);
        expect((words as { word: string; start: number; end: number }[])[0]).toMatchObject({
          word: expect.any(String),
          start,
          end: expect.any(Number),
        });
      }
      expect(segments.length).toBeGreaterThan(0);
    }
  });

  test('live messages: partials carry the whole text so far', () => {
    const partials = conversation.stream
      .of('partial_transcription')
      .map((m) => String(transcriptionOf(m)['text']));
    const final = String(
      transcriptionOf(conversation.stream.of('validated_transcription')[0] as Message)['text'],
    );
    const words = (text: string): string[] => text.toLowerCase().match(/[\p{L}\d']+/gu) ?? [];
    const last = words(partials.at(-1) ?? '');
    expect(partials.length).toBeGreaterThan(1);
    expect(last.length, 'grows').toBeGreaterThanOrEqual(words(partials[0] ?? '').length);
    expect(last[0], 'begins where the sentence begins').toBe(words(final)[0]);
  });

  test('live messages: partials come about 4 times a second', () => {
    const partials = conversation.stream.of('partial_transcription');
    const seconds = ((partials.at(-1)?.atMs ?? 0) - (partials[0]?.atMs ?? 0)) / 1000;
    const rate = (partials.length - 1) / Math.max(seconds, 0.001);
    expect(rate).toBeGreaterThan(1.5);
    expect(rate).toBeLessThan(7);
  });

  test('live messages: one validated transcript per sentence', () => {
    const ids = conversation.stream
      .of('validated_transcription')
      .map((m) => transcriptionOf(m)['transcription_id']);
    expect(ids.length).toBeGreaterThan(0);
    expect(new Set(ids).size).toBe(ids.length);
  });

  test('live messages: one translated transcript per id, part and language', () => {
    const keys = conversation.stream.of('translated_transcription').map((m) => keyOf(transcriptionOf(m)));
    expect(new Set(keys).size).toBe(keys.length);
    expect(new Set(keys.map((key) => key.split('/')[2]))).toEqual(new Set(['es', 'de']));
  });

  test('live messages: one transcription_id runs through texts and audio of a sentence', () => {
    const [validated] = conversation.stream.of('validated_transcription').map(transcriptionOf);
    const id = validated?.['transcription_id'];
    for (const type of TRANSCRIPTS) {
      const ids = conversation.stream.of(type).map((m) => transcriptionOf(m)['transcription_id']);
      expect(ids, type).toContain(id);
    }
    expect(audio.map((message) => message.data['transcription_id'])).toContain(id);
  });

  test('live messages: audio data is flat, with ids, language, last_chunk and chunk_generation_delta', () => {
    expect(audio.length).toBeGreaterThan(0);
    for (const message of audio) {
      expect(message.data).toMatchObject({
        transcription_id: expect.any(String),
        language: expect.stringMatching(/^(es|de)$/),
        last_chunk: expect.any(Boolean),
        data: expect.any(String),
        chunk_generation_delta: expect.any(Number),
      });
    }
    expect(new Set(audio.map((message) => message.data['language']))).toEqual(new Set(['es', 'de']));
  });

  test('live messages: audio is 24000 Hz mono in chunks of 200 ms, whatever format was requested', () => {
    const sizes = audio.map((message) => audioOf(message).length);
    expect(Math.max(...sizes)).toBe(CHUNK_BYTES);
    expect(sizes.filter((size) => size === CHUNK_BYTES).length).toBeGreaterThan(sizes.length / 2);
    const spanish = audio.filter((message) => message.data['language'] === 'es').map(audioOf);
    const ratio = Buffer.concat(spanish).length / conversation.sentence.length;
    expect(ratio, 'length against what was said').toBeGreaterThan(0.35);
    expect(ratio).toBeLessThan(3);
  });

  test('live messages: a sentence comes as a burst, after its text', () => {
    for (const language of ['es', 'de']) {
      const chunks = audio.filter((message) => message.data['language'] === language);
      const lastsMs = Buffer.concat(chunks.map(audioOf)).length / 48;
      const tookMs = (chunks.at(-1)?.atMs ?? 0) - (chunks[0]?.atMs ?? 0);
      expect(tookMs).toBeLessThan(lastsMs);
      const text = conversation.stream
        .of('translated_transcription')
        .find((message) => transcriptionOf(message)['language'] === language);
      expect(text?.atMs).toBeLessThanOrEqual(chunks[0]?.atMs ?? 0);
    }
  });

  test('live messages: last_chunk true ends a part, or never comes', () => {
    const ended = new Set<string>();
    for (const message of audio) {
      const key = keyOf(message.data);
      expect(ended, 'no chunk after the last').not.toContain(key);
      if (message.data['last_chunk'] === true) ended.add(key);
    }
  });

  test('live messages: the part id is a number in texts and a string in audio', () => {
    const inTexts = conversation.stream
      .of('translated_transcription')
      .map((message) => transcriptionOf(message)['translation_part_id']);
    expect(new Set(inTexts.map((id) => typeof id))).toEqual(new Set(['number']));
    const inAudio = audio.map((message) => message.data['translation_part_id']);
    expect(new Set(inAudio.map((id) => typeof id))).toEqual(new Set(['string']));
    expect(new Set(inAudio)).toEqual(new Set(inTexts.map(String)));
  });

  test('live messages: current_task is the task as set plus its task_status', () => {
    const task = conversation.stream.of('current_task')[0]?.data ?? {};
    expect(task['task_status']).toBe('running');
    expect(task).toMatchObject({
      pipeline: { translations: [{ target_language: 'es' }, { target_language: 'de' }] },
    });
  });

  test('live messages: task_status acknowledges a command', () => {
    const pushes = conversation.stream.of('task_status');
    expect(pushes.length).toBeGreaterThan(0);
    for (const { data } of pushes) {
      expect(data).toMatchObject({ command: expect.any(String), event: expect.any(String) });
      expect(['running', 'paused', 'unknown']).toContain(data['task_status']);
    }
  });

  test('live messages: pipeline_timings and tts_buffer_stats come on request', () => {
    expect(conversation.stream.of('pipeline_timings').length).toBeGreaterThan(0);
    expect(conversation.stream.of('tts_buffer_stats').length).toBeGreaterThan(0);
  });
});

test('live messages: by default only the three usual kinds of transcripts come', async () => {
  const { client } = service;
  const { stream } = await converse(client, (await client.created()).token);
  const types = new Set(stream.messages.map((message) => message.type));
  for (const type of ['partial_transcription', 'validated_transcription', 'translated_transcription']) {
    expect(types).toContain(type);
  }
  for (const type of ['partial_translated_transcription', 'pipeline_timings', 'tts_buffer_stats']) {
    expect(types).not.toContain(type);
  }
});

test('live messages: a task that allows some kinds of transcripts gets no others', async () => {
  const { client } = service;
  const pipeline = { allowed_message_types: ['validated_transcription'] };
  const { stream } = await converse(client, (await client.created()).token, { pipeline });
  expect(stream.of('partial_transcription')).toEqual([]);
  expect(stream.of('translated_transcription')).toEqual([]);
});

test('live messages: an error has code, desc and param', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  const answer = await stream.getTask();
  expect(answer.data).toMatchObject({ code: 'NOT_FOUND', desc: expect.any(String) });
  expect(answer.data).toHaveProperty('param');
});

test('live messages: a flushed backlog causes a warning (too fast), and the stream continues', async () => {
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  await stream.run(makeTask());
  for (let count = 0; count < 30; count += 1) stream.sendAudio(makeSpeech(0.32));
  const warning = await stream.next(warned('AUDIO_STREAM_TOO_FAST'));
  expect(warning.data['message']).toBeTypeOf('string');
  expect((await stream.getTask()).type).toBe('current_task');
});

test('live messages: audio at half speed causes a warning (too slow)', async (context) => {
  service.steering(context, 'saves the time');
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  await stream.run(makeTask());
  for (let count = 0; count < 30; count += 1) {
    stream.sendAudio(makeSilence(0.32));
    await stream.pass(640);
  }
  await stream.next(warned('AUDIO_STREAM_TOO_SLOW'));
  expect((await stream.getTask()).type).toBe('current_task');
});

test('live messages: a pause in the audio causes a warning (stalled)', async (context) => {
  service.steering(context, 'saves the time');
  const { client } = service;
  const stream = await client.open((await client.created()).token);
  await stream.run(makeTask());
  stream.sendAudio(makeSilence(0.32));
  await stream.pass(8000);
  stream.sendAudio(makeSilence(0.32));
  await stream.next(warned('AUDIO_STREAM_STALLED'));
  expect((await stream.getTask()).type).toBe('current_task');
});
