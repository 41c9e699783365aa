import { describe, expect, test } from 'vitest';
import type { OutMessage } from '../../../src/emulator/core/outbox.ts';
import { PART_INTERVAL_MS } from '../../../src/emulator/core/translation-parts.ts';
import { createHarness, type Harness, sentence, task } from './harness.ts';

function running(choices: Parameters<typeof createHarness>[0]): [Harness, string] {
  const harness = createHarness(choices, 'live');
  const stream = harness.open();
  harness.run(stream, task());
  return [harness, stream];
}

interface Transcript {
  readonly transcription: {
    readonly text: string;
    readonly translation_part_id: number;
    readonly segments: readonly { readonly start: number; readonly end: number }[];
  };
}

const textsOf = (harness: Harness, stream: string): Transcript['transcription'][] =>
  harness
    .messages(stream, 'translated_transcription')
    .map(({ data }) => (data as unknown as Transcript).transcription);
const audioOf = (harness: Harness, stream: string): OutMessage[] =>
  harness.messages(stream, 'output_audio_data');
const atOf = (harness: Harness, type: string): number[] =>
  harness.seen.flatMap(({ at, effect }) =>
    effect.type === 'send' && effect.message.type === type ? [at] : [],
  );

describe('a translation in parts', () => {
  test('has a text, times and a last chunk for each part, one after the other', () => {
    const [harness, stream] = running({ translationParts: 3 });
    harness.speak(stream, sentence(4));
    harness.pass(8000);
    const texts = textsOf(harness, stream);
    expect(texts.map(({ translation_part_id }) => translation_part_id)).toEqual([0, 1]);
    expect(texts.every(({ text }) => text.length > 5)).toBe(true);
    const [one, two] = texts.map(({ segments }) => [segments[0]?.start ?? 0, segments.at(-1)?.end ?? 0]);
    expect(one?.[1]).toBe(two?.[0]);
    expect((two?.[1] ?? 0) - (one?.[0] ?? 0)).toBeCloseTo(4, 1);
    const audio = audioOf(harness, stream);
    const last = audio.filter(({ data }) => data['last_chunk'] === true);
    expect(last.map(({ data }) => data['translation_part_id'])).toEqual(['0', '1']);
    expect(audio.at(-1)).toBe(last[1]);
    const [first = 0, second = 0] = atOf(harness, 'translated_transcription');
    expect(second - first).toBe(PART_INTERVAL_MS);
  });

  test('is whole when the sentence is short', () => {
    const [harness, stream] = running({ translationParts: 3 });
    harness.speak(stream, sentence(1.5));
    harness.pass(8000);
    expect(textsOf(harness, stream)).toHaveLength(1);
    expect(audioOf(harness, stream).filter(({ data }) => data['last_chunk'] === true)).toHaveLength(1);
  });
});
