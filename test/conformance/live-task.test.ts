import { expect, test } from 'vitest';
import { audioOf, makeTask, settles, transcriptionOf } from './conversation.ts';
import { useService } from './service.ts';
import { makeSilence, makeSpeech } from './speech.ts';
import type { Message, Stream } from './stream.ts';

/* Facts of public clients: options of a task and their effects. */

const service = useService({ profile: 'live' });
const RATE = 24_000;
const LOW = 110;
const HIGH = 230;

async function open(): Promise<Stream> {
  const { client } = service;
  return client.open((await client.created()).token);
}

/** Sets a task that must be refused. @returns the error */
async function refused(pipeline: Record<string, unknown>, base = makeTask()): Promise<Message['data']> {
  const stream = await open();
  const task = { ...base, pipeline: { ...(base['pipeline'] as object), ...pipeline } };
  stream.send('set_task', task);
  return (await stream.next('error')).data;
}

const queue = (global: Record<string, unknown>) => ({ translation_queue_configs: { global } });
const toward = (...targets: object[]) => targets.map((target) => ({ speech_generation: {}, ...target }));

/** Sends a sentence with a voice of this pitch, and the silence that confirms it. */
async function say(stream: Stream, pitch: number, seconds = 2): Promise<void> {
  await stream.speak(makeSpeech(seconds, RATE, pitch), RATE * 2);
  await stream.speak(makeSilence(1.6), RATE * 2);
}

const languagesOf = (stream: Stream, type: string): unknown[] =>
  stream.of(type).map((message) => transcriptionOf(message)['language']);

/** A text for which the emulator's speech has a known length. */
const LONG = 'a'.repeat(150);

/** Time for a service to read a few messages (ms), seconds shorter than the speech, so that a part is still unspoken. */
const READ_MS = 3000;

type Sent = readonly [type: string, data: object];

/**
 * A stream with this task whose service has read all lists of messages quickly, one after the other. On a busy machine a part of the
 * speech may be over by then; in this case it tries again.
 */
async function readAtOnce(task: Record<string, unknown>, ...lists: (readonly Sent[])[]): Promise<Stream> {
  for (;;) {
    const stream = await open();
    await stream.run(task);
    const sentAt = performance.now();
    for (const list of lists) {
      for (const [type, data] of list) stream.send(type, data);
      await stream.sync();
    }
    if (performance.now() - sentAt < READ_MS) return stream;
    await stream.end();
  }
}
const ttsOf = (language: string) => ['tts_task', { text: LONG, language, translate_text: false }] as const;

test('live wire: unknown languages are refused in every field', async () => {
  expect(await refused({ transcription: { source_language: 'tlh' } })).toMatchObject({
    code: 'VALIDATION_ERROR',
    desc: expect.stringContaining('tlh'),
  });
  expect(await refused({ translations: toward({ target_language: 'qya' }) })).toMatchObject({
    code: 'VALIDATION_ERROR',
    desc: expect.stringContaining('qya'),
  });
  expect(
    await refused({ transcription: { source_language: 'auto', detectable_languages: ['en', 'tlh'] } }),
  ).toMatchObject({ code: 'VALIDATION_ERROR' });
  expect(
    await refused({ translations: toward({ target_language: 'es', allowed_source_languages: ['xx'] }) }),
  ).toMatchObject({ code: 'VALIDATION_ERROR' });
  const stream = await open();
  const targets = ['es-mx', 'pt-br', 'zh-hant', 'en-us'].map((target_language) => ({ target_language }));
  expect((await stream.run(makeTask({ pipeline: { translations: toward(...targets) } }))).type).toBe(
    'current_task',
  );
});

test('live wire: queue levels and tempos are checked', async () => {
  const wrong = [
    { desired_queue_level_ms: 8000, max_queue_level_ms: 8000 },
    { desired_queue_level_ms: 8000, max_queue_level_ms: 6000 },
    { desired_queue_level_ms: 1999 },
    { max_queue_level_ms: 3999, desired_queue_level_ms: 2000 },
    { min_tempo: 1.5, max_tempo: 1.2 },
    { auto_tempo: 'yes' },
  ];
  for (const global of wrong) {
    const { code, param } = await refused(queue(global));
    expect([code, param], JSON.stringify(global)).toEqual([
      'VALIDATION_ERROR',
      expect.stringContaining('translation_queue_configs'),
    ]);
  }
  const stream = await open();
  const right = { desired_queue_level_ms: 2000, max_queue_level_ms: 4000, min_tempo: 2, max_tempo: 2 };
  expect((await stream.run(makeTask({ pipeline: queue(right) }))).type).toBe('current_task');
});

test('live wire: above the highest level older speech is dropped down to the desired one', async (context) => {
  const steering = service.steering(context, 'how much was dropped is seen in /emulator/metrics only');
  const rules = { desired_queue_level_ms: 2000, max_queue_level_ms: 12_000, auto_tempo: false };
  const six = Array.from({ length: 6 }, () => ttsOf('es'));
  const stream = await readAtOnce(makeTask({ pipeline: queue(rules) }), six);
  await stream.pass(6000);
  await settles(stream, 300);
  const spokenMs = Buffer.concat(stream.of('output_audio_data').map(audioOf)).length / 48;
  const droppedMs = Number((await steering.metrics()).at(-1)?.['speech_dropped_ms']);
  expect(droppedMs).toBeGreaterThan(9000);
  expect(spokenMs).toBeGreaterThan(9000);
  expect(Math.abs(spokenMs + droppedMs - 6 * 9750), `${spokenMs} spoken, ${droppedMs} dropped`).toBeLessThan(
    50,
  );
});

test('live wire: with auto_tempo speech becomes faster when more than desired waits', async () => {
  const lengths: number[] = [];
  for (const auto_tempo of [false, true]) {
    const stream = await open();
    const rules = { desired_queue_level_ms: 2000, max_queue_level_ms: 60_000, auto_tempo };
    await stream.run(makeTask({ pipeline: queue({ ...rules, min_tempo: 1.5, max_tempo: 1.5 }) }));
    for (let count = 0; count < 2; count += 1) {
      stream.send('tts_task', { text: LONG, language: 'es', translate_text: false });
      await stream.pass(1500);
    }
    await stream.pass(4000);
    await settles(stream, 300);
    lengths.push(Buffer.concat(stream.of('output_audio_data').map(audioOf)).length);
  }
  const [plain = 0, faster = 0] = lengths;
  expect(faster / plain, 'the first at its pace, the second 1.5 times faster').toBeCloseTo(
    (1 + 1 / 1.5) / 2,
    1,
  );
});

test('live wire: output_stream null asks for texts and gets no speech', async () => {
  const stream = await open();
  await stream.run({ ...makeTask(), output_stream: null });
  await say(stream, LOW);
  await stream.next('translated_transcription');
  await settles(stream, 300);
  expect(stream.of('output_audio_data')).toEqual([]);
  expect(stream.of('error')).toEqual([]);
});

test('live wire: with source auto each transcript has its language, and one stream serves both directions', async () => {
  const stream = await open();
  await stream.run(
    makeTask({
      pipeline: {
        transcription: { source_language: 'auto', detectable_languages: ['en', 'es'] },
        translations: toward(
          { target_language: 'es', allowed_source_languages: ['en'] },
          { target_language: 'en-us', allowed_source_languages: ['es'] },
        ),
      },
    }),
  );
  for (const pitch of [LOW, HIGH, LOW]) await say(stream, pitch);
  await settles(stream, 300);
  const heard = languagesOf(stream, 'validated_transcription');
  expect(heard).toHaveLength(3);
  for (const language of heard) expect(['en', 'es']).toContain(language);
  const translated = languagesOf(stream, 'translated_transcription');
  expect(translated).toEqual(heard.map((language) => (language === 'en' ? 'es' : 'en-us')));
  expect(new Set(stream.of('output_audio_data').map(({ data }) => data['language']))).toEqual(
    new Set(translated),
  );
  if (service.own) expect(heard).toEqual(['en', 'es', 'en']);
  for (const [index, partial] of stream.of('partial_transcription').entries()) {
    expect(heard, `partial ${index}`).toContain(transcriptionOf(partial)['language']);
  }
});

test('live wire: allowed_source_languages excludes all other languages', async () => {
  const stream = await open();
  await stream.run(
    makeTask({
      pipeline: {
        translations: toward(
          { target_language: 'es', allowed_source_languages: ['en'] },
          { target_language: 'de', allowed_source_languages: ['fr'] },
        ),
      },
    }),
  );
  await say(stream, LOW);
  await stream.next('output_audio_data');
  await settles(stream, 300);
  expect(new Set(languagesOf(stream, 'translated_transcription'))).toEqual(new Set(['es']));
});

test('live commands: pause_task is acknowledged with task_status paused', async () => {
  const stream = await open();
  await stream.run(makeTask());
  const from = stream.messages.length;
  stream.send('pause_task', {});
  const { data } = await stream.next('task_status', { from });
  expect(data).toMatchObject({ command: 'pause_task', event: expect.any(String), task_status: 'paused' });
  expect(Object.keys(data).sort()).toEqual(['command', 'event', 'task_status']);
});

test('live commands: task_status says running, paused or unknown', async () => {
  const stream = await open();
  await stream.run(makeTask());
  stream.send('pause_task', {});
  await stream.pass(2500);
  stream.send('set_task', makeTask());
  await stream.pass(2500);
  stream.send('end_task', {});
  await stream.closes();
  const words = stream.of('task_status').map(({ data }) => data['task_status']);
  expect(words.length).toBeGreaterThanOrEqual(4);
  for (const word of words) expect(['running', 'paused', 'unknown']).toContain(word);
});

test('live commands: interrupt_task drops unspoken translations, in all languages or in one', async () => {
  for (const [languages, left] of [
    [['global'], []],
    [['es'], ['de']],
  ] as const) {
    const task = makeTask({ targets: ['es', 'de'], pipeline: queue({ auto_tempo: false }) });
    const interrupt = ['interrupt_task', { languages, pause_task: false }] as const;
    const stream = await readAtOnce(task, [ttsOf('es'), ttsOf('de')], [interrupt]);
    const isAnswer = ({ type, data }: Message) =>
      type === 'task_status' && data['command'] === 'interrupt_task';
    await stream.next(isAnswer);
    await stream.pass(4000);
    await settles(stream, 300);
    // On a busy machine a part was spoken before: only messages after the answer count.
    const later = stream.messages.slice(stream.messages.findIndex(isAnswer));
    const spoken = later
      .filter(({ type }) => type === 'output_audio_data')
      .map(({ data }) => data['language']);
    expect([...new Set(spoken)]).toEqual(left);
  }
});

test('live commands: interrupt_task is refused without a task, and for a language that is not a target', async () => {
  const stream = await open();
  stream.send('interrupt_task', { languages: ['global'] });
  expect((await stream.next('error')).data).toMatchObject({ code: 'NOT_FOUND' });
  await stream.run(makeTask());
  const from = stream.messages.length;
  stream.send('flush_task', { languages: ['ja'] });
  expect((await stream.next('error', { from })).data).toMatchObject({ code: 'VALIDATION_ERROR' });
});

test('live messages: pipeline_timings has the seconds of each part, tts_buffer_stats the level of each language', async () => {
  const stream = await open();
  const allowed_message_types = ['pipeline_timings', 'tts_buffer_stats', 'validated_transcription'];
  await stream.run(makeTask({ targets: ['es', 'de'], pipeline: { allowed_message_types } }));
  await say(stream, LOW);
  const timings = (await stream.next('pipeline_timings')).data;
  const id = transcriptionOf(await stream.next('validated_transcription'))['transcription_id'];
  expect(timings).toEqual({
    transcription_id: id,
    timings: Object.fromEntries(
      [
        'partial_transcription',
        'validated_transcription',
        'translated_transcription',
        'prepared_tts_task',
        'sent_tts_task',
        'tts',
        'sent_to_nats',
        'total',
      ].map((part) => [part, expect.any(Number)]),
    ),
  });
  const level = { current_queue_level_ms: expect.any(Number), max_queue_level_ms: 20_000 };
  const timestamp = expect.any(Number);
  expect((await stream.next('tts_buffer_stats')).data).toEqual({
    stats: { es: level, de: level, timestamp },
    timestamp,
  });
});
