import { describe, expect, test } from 'vitest';
import { createHarness, sentence, task } from './harness.ts';
import { chunks, concat, noise, speech } from './voice.ts';

const HZ = 24_000;

describe('commands of a live service', () => {
  test('are unknown in spec, except end_task', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.run(stream);
    for (const type of ['pause_task', 'tts_task', 'interrupt_task', 'flush_task']) {
      harness.send(stream, type, { text: 'x', language: 'es' });
    }
    expect(harness.messages(stream, 'error')).toHaveLength(4);
    harness.send(stream, 'end_task', {});
    expect(harness.close(stream)).toMatchObject({ code: 1000 });
  });

  test('pause billing, sound and the audio timeout with pause_task, and resume with set_task', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.run(stream);
    const billed = () => harness.service.reports(harness.now())[0]?.billed_ms ?? 0;
    harness.send(stream, 'pause_task', {});
    const before = billed();
    harness.pass(60_000);
    expect(billed()).toBe(before);
    harness.send(stream, 'get_task', {});
    expect(harness.messages(stream, 'current_task').at(-1)?.data['task_status']).toBe('paused');
    harness.send(stream, 'set_task', task());
    harness.speak(stream, sentence());
    expect(harness.messages(stream, 'validated_transcription')).toHaveLength(1);
    expect(billed()).toBeGreaterThan(before + 3000);
  });

  test('drop the waiting speech with interrupt_task', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.run(stream);
    harness.speak(stream, sentence());
    expect(harness.messages(stream, 'validated_transcription')).toHaveLength(1);
    harness.send(stream, 'interrupt_task', { languages: ['global'] });
    const before = harness.messages(stream, 'output_audio_data').length;
    harness.pass(5000);
    expect(harness.messages(stream, 'output_audio_data').length).toBe(before);
  });

  test('speak a text of the client with tts_task', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.run(stream);
    harness.send(stream, 'tts_task', { text: 'El museo cierra a las seis', language: 'es' });
    harness.pass(3000);
    expect(harness.messages(stream, 'output_audio_data').at(-1)?.data).toMatchObject({
      language: 'es',
      last_chunk: true,
    });
  });

  test('give the text of tts_task its own id during a sentence', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.run(stream);
    const sound = sentence(4);
    harness.speak(stream, sound.subarray(0, sound.length / 2));
    harness.send(stream, 'tts_task', { text: 'El museo cierra a las seis', language: 'es' });
    harness.speak(stream, sound.subarray(sound.length / 2));
    harness.pass(5000);
    const namesOf = (type: string): Set<unknown> =>
      new Set(
        harness
          .messages(stream, type)
          .map(({ data }) => (data['transcription'] ?? data) as { transcription_id: unknown })
          .map(({ transcription_id }) => transcription_id),
      );
    const said = [...namesOf('validated_transcription')];
    expect(said).toHaveLength(1);
    expect([...namesOf('partial_transcription')]).toEqual(said);
    const spoken = namesOf('output_audio_data');
    expect(spoken.size).toBe(2);
    expect(spoken).toContain(said[0]);
  });

  test('sends SERVICE_TIMEOUT after ten seconds without audio, then closes with 1008', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.run(stream);
    const ran = harness.now();
    harness.pass(10_000);
    expect(harness.messages(stream, 'error').at(-1)?.data['code']).toBe('SERVICE_TIMEOUT');
    harness.pass(400);
    expect(harness.close(stream)).toMatchObject({ code: 1008, at: ran + 10_300 });
  });

  test('warns once before the timeout when a client sends no audio', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.run(stream);
    harness.speak(stream, noise(1, HZ, 50));
    harness.pass(3500);
    expect(harness.messages(stream, 'warning')).toEqual([]);
    harness.pass(4000);
    expect(harness.messages(stream, 'warning').map(({ data }) => data['code'])).toEqual([
      'AUDIO_STREAM_STALLED',
    ]);
  });

  test('warns about audio faster than real time, and the stream continues', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.run(stream);
    harness.speak(stream, noise(8, HZ, 50), 320);
    expect(harness.messages(stream, 'warning')).toEqual([]);
    for (const chunk of chunks(noise(8, HZ, 50), HZ))
      harness.service.hear(stream, chunk, 20_000, harness.now());
    harness.pass(0);
    expect(harness.messages(stream, 'warning').map(({ data }) => data['code'])).toEqual([
      'AUDIO_STREAM_TOO_FAST',
    ]);
    expect(harness.service.stream(stream)?.report.pacing_violations).toBeGreaterThan(10);
    expect(harness.close(stream)).toBeNull();
  });
});

describe('the end', () => {
  test('comes after end_task has finished the speech', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.run(stream);
    harness.speak(stream, concat(noise(0.6, HZ, 60), speech(1.5, HZ)));
    harness.send(stream, 'end_task', { eos_timeout: 20 });
    expect(harness.close(stream)).toBeNull();
    harness.pass(4000);
    const order = harness.messages(stream).map(({ type }) => type);
    expect(order.filter((type) => type === 'output_audio_data').length).toBeGreaterThan(5);
    expect(order.at(-1)).toBe('end_of_stream');
    expect(harness.close(stream)).toMatchObject({ code: 1000 });
  });

  test.each([
    [{ force: true }, 0],
    [{ eos_timeout: 1 }, 1000],
  ])('comes after end_task %j within %i ms, even with outstanding speech', (data, within) => {
    const harness = createHarness({ speechDelayMs: 30_000 }, 'live');
    const stream = harness.open();
    harness.run(stream);
    harness.speak(stream, sentence());
    const asked = harness.now();
    harness.send(stream, 'end_task', data);
    harness.pass(5000);
    expect((harness.close(stream)?.at ?? Number.NaN) - asked).toBeLessThanOrEqual(within);
  });

  test.each([{ eos_timeout: 'x' }, { eos_timeout: 99 }, 7, 'x'])(
    'also comes after an end_task with %j',
    (data) => {
      const harness = createHarness();
      const stream = harness.open();
      harness.send(stream, 'end_task', data);
      harness.pass(11_000);
      expect(harness.close(stream)).not.toBeNull();
    },
  );

  test('comes after too many invalid messages, each of which is answered', () => {
    const harness = createHarness();
    const stream = harness.open();
    for (let count = 0; count < 1100; count++)
      harness.service.receive(stream, { message_type: 'dance' }, harness.now());
    harness.pass(0);
    expect(harness.messages(stream, 'error')).toHaveLength(1000);
    expect(harness.close(stream)).toMatchObject({ code: 1008 });
  });
});
