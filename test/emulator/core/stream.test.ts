import { describe, expect, test } from 'vitest';
import { phrase } from '../../../src/emulator/core/phrase-book.ts';
import { createHarness, sentence, soundOf, task, textOf } from './harness.ts';
import { concat, noise, pcm, speech } from './voice.ts';

const HZ = 24_000;

describe('a task', () => {
  test('is refused with the name of the field when it breaks a rule, and does not start', () => {
    const harness = createHarness();
    const stream = harness.open();
    const broken = task({
      input_stream: {
        content_type: 'audio',
        source: { type: 'ws', format: 'pcm_s16le', sample_rate: 8000, channels: 1 },
      },
    });
    harness.send(stream, 'set_task', broken);
    expect(harness.messages(stream)[0]?.data).toMatchObject({
      code: 'VALIDATION_ERROR',
      param: 'data.input_stream.source.sample_rate',
    });
    expect(harness.service.stream(stream)?.report.phase).toBe('idle');
  });

  test('counts get_task when it is sent too often', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.run(stream);
    for (const wait of [0, 1000, 2000, 1990]) {
      harness.pass(wait);
      harness.send(stream, 'get_task', {});
    }
    expect(harness.service.stream(stream)?.report.get_task).toEqual({ count: 4, too_often: 1 });
  });
});

describe('a sentence', () => {
  test('comes back at once, byte for byte, with echo', () => {
    const harness = createHarness({ translate: 'echo' });
    const stream = harness.open();
    harness.run(stream);
    const sound = concat(noise(0.5, HZ, 9000, 5), speech(1.3, HZ), noise(0.333, HZ, 30, 6));
    harness.speak(stream, sound);
    expect(soundOf(harness.messages(stream, 'output_audio_data')).equals(Buffer.from(pcm(sound)))).toBe(true);
  });

  test('comes back without digital silence when echoSilence is off', () => {
    const harness = createHarness({ translate: 'echo', echoSilence: false });
    const stream = harness.open();
    harness.run(stream);
    const said = noise(1.28, HZ, 9000, 5);
    harness.speak(stream, concat(new Int16Array(2 * 0.64 * HZ), said, new Int16Array(0.64 * HZ)));
    expect(soundOf(harness.messages(stream, 'output_audio_data')).equals(Buffer.from(pcm(said)))).toBe(true);
  });

  test('gets silence of its length and the usual texts with silence', () => {
    const harness = createHarness({ translate: 'silence' });
    const stream = harness.open();
    harness.run(stream);
    harness.speak(stream, sentence());
    harness.pass(3000);
    const sound = soundOf(harness.messages(stream, 'output_audio_data'));
    expect(sound.length).toBeGreaterThan(HZ * 2);
    expect(sound.every((byte) => byte === 0)).toBe(true);
    expect(harness.messages(stream, 'validated_transcription')).toHaveLength(1);
  });

  test('gets a text and a different voice in each target language', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.run(stream, task({}, ['es', 'ja']));
    harness.speak(stream, sentence());
    harness.pass(4000);
    const of = (language: string) =>
      soundOf(
        harness.messages(stream, 'output_audio_data').filter(({ data }) => data['language'] === language),
      );
    expect(of('es').length).toBeGreaterThan(HZ);
    expect(of('ja').length).toBe(of('es').length);
    expect(of('ja').equals(of('es'))).toBe(false);
    const order = harness.messages(stream, 'output_audio_data').map(({ data }) => data['language']);
    expect(order).toEqual(order.toSorted());
  });

  test('gets the next phrase when the client continues in a new stream', () => {
    const harness = createHarness();
    const { token } = harness.session({ client_reference_id: 'museum.kiosk-01' });
    for (const number of [0, 1]) {
      const stream = harness.open(token);
      harness.run(stream);
      harness.speak(stream, sentence());
      const text = String(textOf(harness.messages(stream, 'validated_transcription')[0]));
      expect(text.length).toBeGreaterThan(10);
      expect(phrase(number, 'en').startsWith(text)).toBe(true);
      harness.disconnect(stream);
    }
  });
});
