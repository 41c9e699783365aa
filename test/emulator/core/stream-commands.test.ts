import { describe, expect, test } from 'vitest';
import { createHarness, sentence } from './harness.ts';

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
});

describe('the end', () => {
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
