import { describe, expect, test } from 'vitest';
import { chunks, concat, noise, speech } from './voice.ts';
import { createWorld, sentence, task } from './world.ts';

const HZ = 24_000;

describe('commands of a live service', () => {
  test('are unknown to the specification, end_task is not', () => {
    const world = createWorld();
    const stream = world.open();
    world.run(stream);
    for (const type of ['pause_task', 'tts_task', 'interrupt_task', 'flush_task']) {
      world.send(stream, type, { text: 'x', language: 'es' });
    }
    expect(world.messages(stream, 'error')).toHaveLength(4);
    world.send(stream, 'end_task', {});
    expect(world.close(stream)).toMatchObject({ code: 1000 });
  });

  test('a pause stops billing, sound and the wait for sound; set_task goes on', () => {
    const world = createWorld({}, 'live');
    const stream = world.open();
    world.run(stream);
    const billed = () => world.service.reports(world.now())[0]?.billed_ms ?? 0;
    world.send(stream, 'pause_task', {});
    const before = billed();
    world.pass(60_000);
    expect(billed()).toBe(before);
    world.send(stream, 'get_task', {});
    expect(world.messages(stream, 'current_task').at(-1)?.data['task_status']).toBe('paused');
    world.send(stream, 'set_task', task());
    world.speak(stream, sentence());
    expect(world.messages(stream, 'validated_transcription')).toHaveLength(1);
    expect(billed()).toBeGreaterThan(before + 3000);
  });

  test('interrupt drops the speech that waits', () => {
    const world = createWorld({}, 'live');
    const stream = world.open();
    world.run(stream);
    world.speak(stream, sentence());
    expect(world.messages(stream, 'validated_transcription')).toHaveLength(1);
    world.send(stream, 'interrupt_task', { languages: ['global'] });
    const before = world.messages(stream, 'output_audio_data').length;
    world.pass(5000);
    expect(world.messages(stream, 'output_audio_data').length).toBe(before);
  });

  test('tts_task speaks what nobody said', () => {
    const world = createWorld({}, 'live');
    const stream = world.open();
    world.run(stream);
    world.send(stream, 'tts_task', { text: 'El museo cierra a las seis', language: 'es' });
    world.pass(3000);
    expect(world.messages(stream, 'output_audio_data').at(-1)?.data).toMatchObject({
      language: 'es',
      last_chunk: true,
    });
  });

  test('ten seconds without audio: SERVICE_TIMEOUT, then 1008', () => {
    const world = createWorld({}, 'live');
    const stream = world.open();
    world.run(stream);
    const ran = world.now();
    world.pass(10_000);
    expect(world.messages(stream, 'error').at(-1)?.data['code']).toBe('SERVICE_TIMEOUT');
    world.pass(400);
    expect(world.close(stream)).toMatchObject({ code: 1008, at: ran + 10_300 });
  });

  test('a client that goes quiet is warned once before it is given up', () => {
    const world = createWorld({}, 'live');
    const stream = world.open();
    world.run(stream);
    world.speak(stream, noise(1, HZ, 50));
    world.pass(3500);
    expect(world.messages(stream, 'warning')).toEqual([]);
    world.pass(4000);
    expect(world.messages(stream, 'warning').map(({ data }) => data['code'])).toEqual([
      'AUDIO_STREAM_STALLED',
    ]);
  });

  test('faster than real time is warned about, and the stream goes on', () => {
    const world = createWorld({}, 'live');
    const stream = world.open();
    world.run(stream);
    world.speak(stream, noise(8, HZ, 50), 320);
    expect(world.messages(stream, 'warning')).toEqual([]);
    for (const chunk of chunks(noise(8, HZ, 50), HZ)) world.service.hear(stream, chunk, 20_000, world.now());
    world.pass(0);
    expect(world.messages(stream, 'warning').map(({ data }) => data['code'])).toEqual([
      'AUDIO_STREAM_TOO_FAST',
    ]);
    expect(world.service.stream(stream)?.report.pacing_violations).toBeGreaterThan(10);
    expect(world.close(stream)).toBeNull();
  });
});

describe('the end', () => {
  test('end_task finishes what was said, then closes', () => {
    const world = createWorld({}, 'live');
    const stream = world.open();
    world.run(stream);
    world.speak(stream, concat(noise(0.6, HZ, 60), speech(1.5, HZ)));
    world.send(stream, 'end_task', { eos_timeout: 20 });
    expect(world.close(stream)).toBeNull();
    world.pass(4000);
    const order = world.messages(stream).map(({ type }) => type);
    expect(order.filter((type) => type === 'output_audio_data').length).toBeGreaterThan(5);
    expect(order.at(-1)).toBe('end_of_stream');
    expect(world.close(stream)).toMatchObject({ code: 1000 });
  });

  test.each([
    [{ force: true }, 0],
    [{ eos_timeout: 1 }, 1000],
  ])('end_task %j ends within %i ms even with speech outstanding', (data, within) => {
    const world = createWorld({ speechDelayMs: 30_000 }, 'live');
    const stream = world.open();
    world.run(stream);
    world.speak(stream, sentence());
    const asked = world.now();
    world.send(stream, 'end_task', data);
    world.pass(5000);
    expect((world.close(stream)?.at ?? Number.NaN) - asked).toBeLessThanOrEqual(within);
  });

  test.each([{ eos_timeout: 'x' }, { eos_timeout: 99 }, 7, 'x'])(
    'an end_task with %j ends the stream too',
    (data) => {
      const world = createWorld();
      const stream = world.open();
      world.send(stream, 'end_task', data);
      world.pass(11_000);
      expect(world.close(stream)).not.toBeNull();
    },
  );

  test('messages that make no sense are answered, and end the stream at last', () => {
    const world = createWorld();
    const stream = world.open();
    for (let count = 0; count < 1100; count++)
      world.service.receive(stream, { message_type: 'dance' }, world.now());
    world.pass(0);
    expect(world.messages(stream, 'error')).toHaveLength(1000);
    expect(world.close(stream)).toMatchObject({ code: 1008 });
  });
});
