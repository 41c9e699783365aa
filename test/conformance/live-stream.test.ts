import { expect, test } from 'vitest';
import { audioOf, converse, makeTask } from './conversation.ts';
import { useService } from './service.ts';
import { makeSilence, makeSpeech } from './speech.ts';
import type { Message, Stream } from './stream.ts';

/* Facts marked C or O in docs/service.md 10: basics of the protocol and the client's commands. */

const service = useService({ profile: 'live' });
const SECOND = 48_000;

async function open(): Promise<Stream> {
  return service.client.open((await service.client.created()).token);
}

const coded = (type: 'error' | 'warning', code: string) => (message: Message) =>
  message.type === type && message.data['code'] === code;

/** Expects that the service answers `act` with this error and the stream continues. */
async function expectObjection(stream: Stream, code: string, act: () => void): Promise<void> {
  const from = stream.messages.length;
  act();
  await stream.next(coded('error', code), { from });
  await stream.getTask();
  expect(stream.isClosed).toBe(false);
}

test('live wire: the smallest set_task names no output rate and no preprocessing', async () => {
  const stream = await open();
  const format = { type: 'ws', format: 'pcm_s16le' };
  const answer = await stream.run({
    input_stream: { content_type: 'audio', source: { ...format, sample_rate: 24_000, channels: 1 } },
    output_stream: { content_type: 'audio', target: format },
    pipeline: {
      transcription: { source_language: 'en' },
      translations: [{ target_language: 'es', speech_generation: {} }],
    },
  });
  expect(answer.type).toBe('current_task');
});

test('live wire: the optional keys of a pipeline are accepted', async () => {
  const stream = await open();
  const desired = { desired_queue_level_ms: 5000, max_queue_level_ms: 20_000, auto_tempo: true };
  const pipeline = {
    transcription: { source_language: 'en', segment_confirmation_silence_threshold: 0.5 },
    allowed_message_types: ['partial_transcription', 'validated_transcription', 'pipeline_timings'],
    translation_queue_configs: { global: { ...desired, min_tempo: 1, max_tempo: 1.2 } },
  };
  expect((await stream.run(makeTask({ pipeline }))).type).toBe('current_task');
});

test('live wire: input accepts 16000 to 48000 Hz and 1 to 2 channels', async () => {
  const taken = [
    [16_000, 1],
    [48_000, 2],
  ] as const;
  for (const [sampleRate, channels] of taken) {
    expect((await (await open()).run(makeTask({ sampleRate, channels }))).type).toBe('current_task');
  }
  const refused = [
    [15_999, 1],
    [48_001, 1],
    [24_000, 0],
    [24_000, 3],
  ] as const;
  for (const [sampleRate, channels] of refused) {
    const stream = await open();
    await expectObjection(stream, 'VALIDATION_ERROR', () => {
      stream.send('set_task', makeTask({ sampleRate, channels }));
    });
  }
});

test('live wire: the silence threshold is 0.3 to 2.0 s', async () => {
  const withThreshold = (seconds: number) =>
    makeTask({
      pipeline: { transcription: { source_language: 'en', segment_confirmation_silence_threshold: seconds } },
    });
  for (const seconds of [0.3, 2]) {
    expect((await (await open()).run(withThreshold(seconds))).type).toBe('current_task');
  }
  for (const seconds of [0.29, 2.01]) {
    const stream = await open();
    await expectObjection(stream, 'VALIDATION_ERROR', () => stream.send('set_task', withThreshold(seconds)));
  }
});

test('live wire: a sentence is confirmed only by silence heard after it', async () => {
  const stream = await open();
  await stream.run(makeTask());
  await stream.speak(makeSpeech(1.6), SECOND);
  await stream.pass(1500);
  expect(stream.of('validated_transcription'), 'while nothing is sent').toEqual([]);
  await stream.speak(makeSilence(1.3), SECOND);
  await stream.next('validated_transcription');
});

test('live wire: the silence threshold of the task decides when a sentence ends', async () => {
  const stream = await open();
  await stream.run(
    makeTask({
      pipeline: { transcription: { source_language: 'en', segment_confirmation_silence_threshold: 2 } },
    }),
  );
  await stream.speak(Buffer.concat([makeSpeech(1.6), makeSilence(1.2)]), SECOND);
  await stream.pass(500);
  expect(stream.of('validated_transcription'), 'after 1.2 s of silence').toEqual([]);
  await stream.speak(makeSilence(1.3), SECOND);
  await stream.next('validated_transcription');
});

test('live wire: default_low, default_high and voice_cloning are voices', async () => {
  for (const speech_generation of [
    { voice_id: 'default_low' },
    { voice_id: 'default_high' },
    { voice_cloning: true },
  ]) {
    const stream = await open();
    await stream.run(
      makeTask({ pipeline: { translations: [{ target_language: 'es', speech_generation }] } }),
    );
    expect(stream.of('warning')).toEqual([]);
    expect(stream.messages.filter(coded('error', 'VALIDATION_ERROR'))).toEqual([]);
  }
});

test('live wire: a missing voice causes a warning, and another one speaks', async () => {
  const { client } = service;
  const speech_generation = { voice_id: '00000000-0000-4000-8000-000000000000' };
  const pipeline = { translations: [{ target_language: 'es', speech_generation }] };
  const { stream } = await converse(client, (await client.created()).token, { pipeline });
  await stream.next(coded('warning', 'VOICE_NOT_FOUND'));
  expect(Buffer.concat(stream.of('output_audio_data').map(audioOf)).some((byte) => byte !== 0)).toBe(true);
});

test('live commands: set_task again changes the settings', async () => {
  const stream = await open();
  await stream.run(makeTask({ targets: ['es'] }));
  await stream.pass(2100);
  const answer = await stream.run(makeTask({ targets: ['fr'] }));
  expect(JSON.stringify(answer.data)).toContain('"fr"');
  expect(JSON.stringify(answer.data)).not.toContain('"es"');
});

test('live commands: set_task comes at most once per 2 s', async () => {
  const stream = await open();
  stream.send('set_task', makeTask());
  await expectObjection(stream, 'RATE_LIMIT_EXCEEDED', () => stream.send('set_task', makeTask()));
});

test('live commands: get_task comes at most once per 2 s, counted apart from set_task', async () => {
  const stream = await open();
  stream.send('set_task', makeTask());
  await stream.getTask({ exclude_hidden: true });
  expect(stream.messages.filter(coded('error', 'RATE_LIMIT_EXCEEDED'))).toEqual([]);
  await expectObjection(stream, 'RATE_LIMIT_EXCEEDED', () => stream.send('get_task', {}));
});

test('live commands: input_audio_data of less than 1 KB or more than 512 KB of base64 is refused', async () => {
  const stream = await open();
  await stream.run(makeTask());
  // Both are whole samples: 762 and 393222 bytes.
  for (const chars of [1016, 512 * 1024 + 8]) {
    await expectObjection(stream, 'VALIDATION_ERROR', () =>
      stream.sendAudio(new Uint8Array((chars / 4) * 3)),
    );
  }
  const from = stream.messages.length;
  stream.sendAudio(new Uint8Array(768));
  await stream.pass(300);
  expect(stream.messages.slice(from).filter(coded('error', 'VALIDATION_ERROR'))).toEqual([]);
});

test('live commands: pause_task pauses, set_task resumes', async () => {
  const stream = await open();
  await stream.run(makeTask());
  stream.send('pause_task', {});
  expect((await stream.getTask()).data['task_status']).toBe('paused');
  const resumed = await stream.run(makeTask());
  expect(resumed.data['task_status']).toBe('running');
});

test('live commands: while paused no audio is needed and nothing is billed', async (context) => {
  const steering = service.steering(
    context,
    'a minute has to pass; bills are seen in /emulator/metrics only',
  );
  const stream = await open();
  await stream.run(makeTask());
  stream.send('pause_task', {});
  await stream.getTask();
  const before = Number((await steering.metrics()).at(-1)?.['billed_ms']);
  await steering.advance(60_000);
  expect((await stream.getTask()).data['task_status']).toBe('paused');
  expect(Number((await steering.metrics()).at(-1)?.['billed_ms']) - before).toBeLessThan(1000);
});

test('live commands: pause_task comes at most once per 3 s', async () => {
  const stream = await open();
  await stream.run(makeTask());
  stream.send('pause_task', {});
  await expectObjection(stream, 'RATE_LIMIT_EXCEEDED', () => stream.send('pause_task', {}));
});

test('live commands: interrupt_task and flush_task are known under both names', async () => {
  const stream = await open();
  await stream.run(makeTask());
  for (const name of ['interrupt_task', 'flush_task']) {
    stream.send(name, { languages: ['global'], pause_task: false });
    expect((await stream.getTask()).type).toBe('current_task');
  }
  expect(stream.messages.filter(coded('error', 'VALIDATION_ERROR'))).toEqual([]);
});

test('live commands: tts_task speaks a text of up to 2048 characters', async () => {
  const stream = await open();
  await stream.run(makeTask());
  stream.send('tts_task', { text: 'Buenos días', language: 'es', translate_text: false });
  await stream.next(
    (message) => message.type === 'output_audio_data' && audioOf(message).some((byte) => byte !== 0),
  );
  await expectObjection(stream, 'VALIDATION_ERROR', () => {
    stream.send('tts_task', { text: 'x'.repeat(2049), language: 'es' });
  });
});

test('live commands: tts_task comes up to 60 times a minute', async () => {
  const stream = await open();
  await stream.run(makeTask());
  const say = (times: number): void => {
    for (let count = 0; count < times; count += 1) stream.send('tts_task', { text: 'Sí', language: 'es' });
  };
  say(60);
  await stream.getTask();
  expect(stream.messages.filter(coded('error', 'RATE_LIMIT_EXCEEDED'))).toEqual([]);
  await expectObjection(stream, 'RATE_LIMIT_EXCEEDED', () => say(1));
});

test('live commands: end_task brings the end event and then the close', async () => {
  for (const data of [{}, { eos_timeout: 1 }, { eos_timeout: 30 }, { force: true }]) {
    const stream = await open();
    await stream.run(makeTask());
    stream.send('end_task', data);
    await stream.closes();
    expect(stream.messages.at(-1)?.type).toMatch(/^(eos|end_of_stream)$/);
  }
});

test('live commands: after end_task the service finishes pending speech', async () => {
  const stream = await open();
  await stream.run(makeTask());
  await stream.speak(Buffer.concat([makeSpeech(1.6), makeSilence(1)]), SECOND);
  await stream.next('validated_transcription');
  const spoken = stream.of('output_audio_data').length;
  stream.send('end_task', { eos_timeout: 20 });
  await stream.closes();
  expect(stream.of('output_audio_data').length).toBeGreaterThan(spoken);
});

test('live commands: end_task ends in a close whatever its eos_timeout', async () => {
  for (const data of [{ eos_timeout: 0 }, { eos_timeout: 31 }, { eos_timeout: 'soon' }, null]) {
    const stream = await open();
    stream.send('end_task', data);
    await stream.closes();
  }
});
