import { describe, expect, test } from 'vitest';
import type { OutMessage } from '../../../src/emulator/core/outbox.ts';
import { createHarness, type Harness, task } from './harness.ts';
import { concat, noise, speech } from './voice.ts';

const HZ = 24_000;

interface Word {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}
interface Segment extends Omit<Word, 'word'> {
  readonly text: string;
  readonly start_timestamp: number;
  readonly end_timestamp: number;
  readonly words: readonly Word[];
}

function segmentsOf(message: OutMessage | undefined): Segment[] {
  const { transcription } = (message?.data ?? {}) as { transcription?: { segments?: Segment[] } };
  return transcription?.segments ?? [];
}

/** The stretch of audio that a transcript covers, by its own times. */
function spanOf(message: OutMessage | undefined): [number, number] {
  const segments = segmentsOf(message);
  return [segments[0]?.start ?? Number.NaN, segments.at(-1)?.end ?? Number.NaN];
}

const room = (seconds: number): Int16Array => noise(seconds, HZ, 60);

/** A stream with a running task, in the live profile by default. */
function running(choices: Parameters<typeof createHarness>[0] = {}, given = task()): [Harness, string] {
  const harness = createHarness(choices, 'live');
  const stream = harness.open();
  harness.run(stream, given);
  return [harness, stream];
}

const validated = (harness: Harness, stream: string): OutMessage[] =>
  harness.messages(stream, 'validated_transcription');

describe('the times of a transcript', () => {
  test('count from the first sample that the running task took, not from the first that was sent', () => {
    const harness = createHarness({}, 'live');
    const stream = harness.open();
    harness.speak(stream, room(0.96));
    harness.send(stream, 'set_task', task());
    harness.speak(stream, room(3.2));
    expect(harness.service.stream(stream)?.report).toMatchObject({ phase: 'running', frames_discarded: 11 });
    // The pipeline ran for the last two chunks of the 3.2 s after set_task.
    harness.speak(stream, concat(room(1), speech(2, HZ), room(1.28)));
    const [start, end] = spanOf(validated(harness, stream)[0]);
    expect(start).toBeCloseTo(0.64 + 1, 1);
    expect(end).toBeCloseTo(0.64 + 3, 1);
  });

  test('match the start and end of the voice, within a frame of 20 ms', () => {
    const [harness, stream] = running();
    harness.speak(stream, concat(room(1.6), speech(2, HZ), room(1.28)));
    const [start, end] = spanOf(validated(harness, stream)[0]);
    expect(Math.abs(start - 1.6)).toBeLessThanOrEqual(0.041);
    // The last syllable ends in 40 ms without voice.
    expect(Math.abs(end - 3.56)).toBeLessThanOrEqual(0.041);
  });

  test('continue over sentences and a pause, without overlap', () => {
    const [harness, stream] = running();
    harness.speak(stream, concat(room(0.64), speech(1.28, HZ), room(1.28)));
    harness.send(stream, 'pause_task', {});
    harness.speak(stream, speech(1.6, HZ));
    harness.send(stream, 'set_task', task());
    harness.speak(stream, concat(room(0.64), speech(1.28, HZ), room(1.28)));
    const [first, second] = validated(harness, stream).map(spanOf);
    expect(second?.[0]).toBeCloseTo(3.2 + 0.64, 1);
    expect(second?.[0]).toBeGreaterThan(first?.[1] ?? Number.NaN);
  });

  test('end a partial text with the heard voice, and never decrease', () => {
    const [harness, stream] = running();
    harness.speak(stream, concat(room(0.64), speech(3.2, HZ), room(1.28)));
    const ends = harness.messages(stream, 'partial_transcription').map((message) => spanOf(message)[1]);
    expect(ends.length).toBeGreaterThan(4);
    expect(ends).toEqual(ends.toSorted((a, b) => a - b));
    expect(ends[0]).toBeLessThan(1.7);
    expect(ends.at(-1)).toBeLessThanOrEqual(spanOf(validated(harness, stream)[0])[1]);
  });

  test('fill the sentence with words and segments, equally in texts and translations', () => {
    const [harness, stream] = running({}, task({}, ['es', 'ja']));
    harness.speak(stream, concat(room(0.64), speech(5.4, HZ), room(1.28)));
    harness.pass(2000);
    const texts = [...validated(harness, stream), ...harness.messages(stream, 'translated_transcription')];
    expect(texts).toHaveLength(3);
    for (const message of texts) {
      const segments = segmentsOf(message);
      const words = segments.flatMap(({ words: said }) => said);
      const [start, end] = spanOf(message);
      expect([start, end]).toEqual(spanOf(texts[0]));
      expect([words[0]?.start, words.at(-1)?.end]).toEqual([start, end]);
      for (const [index, word] of words.entries()) {
        expect(word.end).toBeGreaterThan(word.start);
        expect(word.start).toBe(index === 0 ? start : words[index - 1]?.end);
      }
      const data = message.data['transcription'] as { text: string };
      expect(words.map(({ word }) => word).join('')).toBe(data.text.replaceAll(' ', ''));
    }
    expect(segmentsOf(texts[0]).length).toBeGreaterThan(1);
  });

  test('match the timestamps of the service clock', () => {
    const [harness, stream] = running();
    const began = harness.service.clockAt(harness.now()) / 1000;
    harness.speak(stream, concat(room(1.6), speech(2, HZ), room(1.28)));
    const [segment] = segmentsOf(validated(harness, stream)[0]);
    // A chunk of 320 ms was recorded before it was sent.
    expect(segment?.start_timestamp).toBeCloseTo(began - 0.32 + (segment?.start ?? 0), 2);
  });

  test.each([
    ['spec', {}],
    ['live', { segments: 'none' as const }],
  ] as const)('are missing with %s and %j', (profile, choices) => {
    const harness = createHarness(choices, profile);
    const stream = harness.open();
    harness.run(stream);
    harness.speak(stream, concat(room(0.64), speech(1.28, HZ), room(1.28)));
    harness.pass(1000);
    const texts = harness.messages(stream).filter(({ type }) => type.endsWith('_transcription'));
    expect(texts.length).toBeGreaterThan(3);
    for (const { data } of texts) expect(data['transcription']).not.toHaveProperty('segments');
  });

  test('come without words and timestamps with `times`', () => {
    const [harness, stream] = running({ segments: 'times' });
    harness.speak(stream, concat(room(0.64), speech(1.28, HZ), room(1.28)));
    const [segment] = segmentsOf(validated(harness, stream)[0]);
    expect(Object.keys(segment ?? {})).toEqual(['text', 'start', 'end']);
  });
});

describe('zero after another set_task', () => {
  test('stays when the languages change', () => {
    const [harness, stream] = running();
    harness.speak(stream, concat(room(0.64), speech(1.28, HZ), room(1.28)));
    harness.send(stream, 'set_task', task({}, ['de']));
    harness.speak(stream, concat(room(0.64), speech(1.28, HZ), room(1.28)));
    expect(spanOf(validated(harness, stream)[1])[0]).toBeCloseTo(3.2 + 0.64, 1);
  });

  test('stays when the format changes', () => {
    const source = { type: 'ws', format: 'pcm_s16le', sample_rate: 48_000, channels: 1 };
    const [harness, stream] = running();
    harness.speak(stream, room(1.92));
    harness.send(stream, 'set_task', task({ input_stream: { content_type: 'audio', source } }));
    harness.speak(stream, concat(noise(1.28, 48_000, 60), speech(1.28, 48_000), noise(1.28, 48_000, 60)));
    expect(spanOf(validated(harness, stream)[0])[0]).toBeCloseTo(1.92 + 1.28, 1);
  });
});

describe('a long sentence without a pause', () => {
  const long = concat(room(0.64), speech(10, HZ), room(1.28));
  const ids = (messages: OutMessage[]) =>
    messages.map(({ data }) => (data['transcription'] as { transcription_id?: string }).transcription_id);

  test('becomes two adjacent sentences with different ids, both translated and spoken', () => {
    const [harness, stream] = running();
    harness.speak(stream, long);
    harness.pass(5000);
    const texts = validated(harness, stream);
    const [first, second] = texts.map(spanOf);
    expect(texts).toHaveLength(2);
    expect(first?.[1]).toBeGreaterThan(0.64 + 6);
    expect(first?.[1]).toBeLessThan(0.64 + 8);
    expect(second?.[0]).toBe(first?.[1]);
    expect(second?.[1]).toBeCloseTo(10.6, 1);
    expect(new Set(ids(texts)).size).toBe(2);
    expect(ids(harness.messages(stream, 'translated_transcription'))).toEqual(ids(texts));
    const spoken = harness.messages(stream, 'output_audio_data').map(({ data }) => data['transcription_id']);
    expect([...new Set(spoken)]).toEqual(ids(texts));
  });

  test('is cut at the lengths that the task sets', () => {
    const advanced = { force_split_min_seconds: 3, force_split_min_characters: 0, min_sentence_seconds: 2 };
    const transcription = { source_language: 'en', sentence_splitter: { advanced } };
    const translations = [{ target_language: 'es', speech_generation: {} }];
    const [harness, stream] = running({}, task({ pipeline: { transcription, translations } }));
    harness.speak(stream, long);
    expect(validated(harness, stream).length).toBeGreaterThanOrEqual(3);
  });

  test('stays one sentence in spec, and in live without the rule', () => {
    const spec = createHarness();
    const stream = spec.open();
    spec.run(stream);
    spec.speak(stream, long);
    expect(validated(spec, stream)).toHaveLength(1);
    const [live, other] = running({ forceSplitMs: 0 });
    live.speak(other, long);
    expect(validated(live, other)).toHaveLength(1);
  });
});
