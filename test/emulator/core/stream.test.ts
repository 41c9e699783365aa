import { describe, expect, test } from 'vitest';
import { phrase } from '../../../src/emulator/core/phrase-book.ts';
import { createHarness, sentence, soundOf, task, textOf } from './harness.ts';
import { concat, noise, pcm, speech } from './voice.ts';

const HZ = 24_000;

describe('a task', () => {
  test('answers get_task with NOT_FOUND until the pipeline runs (4.7 rule 2)', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.send(stream, 'get_task', {});
    harness.send(stream, 'set_task', task());
    harness.pass(2499);
    harness.send(stream, 'get_task', {});
    harness.pass(1);
    harness.send(stream, 'get_task', {});
    const answers = harness.messages(stream).map(({ type, data }) => [type, data['code']]);
    expect(answers).toEqual([
      ['error', 'NOT_FOUND'],
      ['error', 'NOT_FOUND'],
      ['current_task', undefined],
    ]);
    expect(harness.messages(stream, 'current_task')[0]?.data).toMatchObject(task());
  });

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

  test('may have formats beyond the specification in the live profile', () => {
    const zlib = task({
      output_stream: { content_type: 'audio', target: { type: 'ws', format: 'zlib_pcm_s16le' } },
    });
    const spec = createHarness();
    const [strict] = [spec.open()];
    spec.run(strict, zlib);
    expect(spec.messages(strict, 'error')[0]?.data['param']).toBe('output_stream.target.format');
    const live = createHarness({}, 'live');
    const stream = live.open();
    live.run(stream, zlib);
    live.speak(stream, sentence());
    live.pass(3000);
    expect(live.messages(stream, 'output_audio_data').every(({ packed }) => packed === true)).toBe(true);
  });

  test('takes effect at once when the pipeline is running', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.run(stream);
    harness.send(stream, 'set_task', task({}, ['de', 'fr']));
    harness.speak(stream, sentence());
    harness.pass(3000);
    const languages = harness
      .messages(stream, 'translated_transcription')
      .map(({ data }) => (data['transcription'] as { language: string }).language);
    expect(languages).toEqual(['de', 'fr']);
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
  test('gets partial, final and translated text, then speech, in this sequence', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.run(stream);
    harness.speak(stream, sentence());
    harness.pass(3000);
    const order = harness.messages(stream).map(({ type }) => type);
    expect([...new Set(order)]).toEqual([
      'partial_transcription',
      'validated_transcription',
      'translated_transcription',
      'output_audio_data',
    ]);
    expect(order).toEqual(
      order.toSorted((a, b) => [...new Set(order)].indexOf(a) - [...new Set(order)].indexOf(b)),
    );
    expect(textOf(harness.messages(stream, 'validated_transcription')[0])).toBe('Good morning, I would');
    expect(textOf(harness.messages(stream, 'translated_transcription')[0])).toBe('Buenos días, quisiera');
  });

  test('gets speech of its length, at the requested rate and channels', () => {
    const harness = createHarness();
    const stream = harness.open();
    const target = { type: 'ws', format: 'pcm_s16le', sample_rate: 16_000, channels: 2 };
    harness.run(stream, task({ output_stream: { content_type: 'audio', target } }));
    harness.speak(stream, sentence(2));
    harness.pass(3000);
    const seconds = soundOf(harness.messages(stream, 'output_audio_data')).length / (16_000 * 2 * 2);
    expect(seconds).toBeGreaterThan(1.9);
    expect(seconds).toBeLessThan(2.7);
  });

  test('live: gets 24 kHz mono in 200 ms chunks, with ids and a marked last chunk', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    const target = { type: 'ws', format: 'pcm_s16le', sample_rate: 48_000, channels: 2 };
    harness.run(stream, task({ output_stream: { content_type: 'audio', target } }));
    harness.speak(stream, sentence());
    harness.pass(3000);
    const speechOut = harness.messages(stream, 'output_audio_data');
    expect(new Set(speechOut.slice(0, -1).map(({ pcm: sound }) => sound?.length))).toEqual(new Set([9600]));
    expect(speechOut.map(({ data }) => data['last_chunk'])).toEqual([
      ...Array(speechOut.length - 1).fill(false),
      true,
    ]);
    const ids = harness.messages(stream).flatMap(({ data }) => {
      const transcription = data['transcription'] as { transcription_id?: string } | undefined;
      return transcription?.transcription_id ?? (data['transcription_id'] as string | undefined) ?? [];
    });
    expect(new Set(ids).size).toBe(1);
  });

  test('is sent as a burst, faster than real time, and the next sentence follows it', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.run(stream);
    harness.speak(stream, concat(sentence(2), sentence(1)));
    harness.pass(5000);
    const times = harness.seen.flatMap(({ at, effect }) =>
      effect.type === 'send' && effect.message.type === 'output_audio_data'
        ? [{ at, id: String(effect.message.data['transcription_id']) }]
        : [],
    );
    const first = times.filter(({ id }) => id.endsWith('-1'));
    const second = times.filter(({ id }) => id.endsWith('-2'));
    expect((first.at(-1)?.at ?? 0) - (first[0]?.at ?? 0)).toBeLessThan(2000 / 3);
    expect(second[0]?.at).toBeGreaterThan(first.at(-1)?.at ?? Number.NaN);
  });

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

  test('is discarded and counted before the pipeline runs', () => {
    const harness = createHarness();
    const stream = harness.open();
    harness.send(stream, 'set_task', task());
    harness.speak(stream, sentence());
    expect(harness.messages(stream, 'validated_transcription')).toEqual([]);
    expect(harness.service.stream(stream)?.report.frames_discarded).toBeGreaterThan(5);
  });
});
