import { describe, expect, test } from 'vitest';
import type { OutMessage } from '../../../src/emulator/core/outbox.ts';
import { createHarness, type Harness, sentence, soundOf, task } from './harness.ts';
import { chunks, concat, noise, speech } from './voice.ts';

const HZ = 24_000;
const TARGETS = ['es', 'fr'];

function running(targets: readonly string[] = TARGETS, profile: 'spec' | 'live' = 'live'): [Harness, string] {
  const harness = createHarness({}, profile);
  const stream = harness.open();
  harness.run(stream, task({}, targets));
  return [harness, stream];
}

const audio = (harness: Harness, stream: string): OutMessage[] =>
  harness.messages(stream, 'output_audio_data');
const msOf = (messages: readonly OutMessage[]): number => (soundOf(messages).length / 2 / HZ) * 1000;
const isLast = ({ data }: OutMessage): boolean => data['last_chunk'] === true;

/** The speech of one sentence in one language. */
function spoken(harness: Harness, stream: string, count: number, language: string): OutMessage[] {
  return audio(harness, stream).filter(
    ({ data }) => data['language'] === language && String(data['transcription_id']).endsWith(`-${count}`),
  );
}

describe('cut_speech', () => {
  test('cuts after 200 ms in all languages without a last chunk, and keeps the next sentence whole', () => {
    const [harness, stream] = running();
    harness.fault({ kind: 'cut_speech' });
    for (const seconds of [1.5, 1.5]) harness.speak(stream, sentence(seconds));
    harness.pass(6000);
    for (const language of TARGETS) {
      const cut = spoken(harness, stream, 1, language);
      expect(msOf(cut)).toBe(200);
      expect(cut.some(isLast)).toBe(false);
      const whole = spoken(harness, stream, 2, language);
      expect(msOf(whole)).toBeGreaterThan(1400);
      expect(isLast(whole.at(-1) as OutMessage)).toBe(true);
    }
    expect(harness.messages(stream, 'translated_transcription')).toHaveLength(4);
  });

  test('cuts one language within a chunk, with a last chunk', () => {
    const [harness, stream] = running();
    harness.fault({ kind: 'cut_speech', ms: 500, language: 'fr', last_chunk: true });
    harness.speak(stream, sentence());
    harness.pass(4000);
    expect(msOf(spoken(harness, stream, 1, 'es'))).toBeGreaterThan(1400);
    const cut = spoken(harness, stream, 1, 'fr');
    expect(msOf(cut)).toBe(500);
    expect(cut.map(isLast)).toEqual([false, false, true]);
  });

  test('keeps a sentence whole when it is shorter than the cut, or when its speech is at its end', () => {
    const [harness, stream] = running(['es']);
    harness.fault({ kind: 'cut_speech', ms: 60_000 });
    harness.speak(stream, sentence());
    harness.pass(4000);
    expect(audio(harness, stream).filter(isLast)).toHaveLength(1);
  });

  test('cuts in the middle of the speech', () => {
    const [harness, stream] = running(['es']);
    harness.fault({ kind: 'cut_speech', ms: 0, last_chunk: true, when: 'mid_output', after_ms: 500 });
    harness.speak(stream, sentence(3));
    harness.pass(6000);
    const out = audio(harness, stream);
    expect(msOf(out)).toBeLessThan(2500);
    expect(out.filter(isLast)).toEqual([out.at(-1)]);
  });

  test('cuts the ordered number of sentences, and clear cancels the rest', () => {
    const [harness, stream] = running(['es']);
    harness.fault({ kind: 'cut_speech', times: 2 });
    for (let count = 0; count < 3; count++) harness.speak(stream, sentence());
    harness.pass(6000);
    expect([1, 2, 3].map((count) => msOf(spoken(harness, stream, count, 'es')) > 200)).toEqual([
      false,
      false,
      true,
    ]);
    harness.fault({ kind: 'cut_speech', times: 2 });
    harness.fault({ kind: 'clear' });
    harness.speak(stream, sentence());
    harness.pass(6000);
    expect(msOf(spoken(harness, stream, 4, 'es'))).toBeGreaterThan(200);
  });

  test('cuts in spec, where the sentence has no id', () => {
    const [harness, stream] = running(TARGETS, 'spec');
    harness.fault({ kind: 'cut_speech' });
    harness.speak(stream, sentence());
    harness.pass(6000);
    expect(msOf(audio(harness, stream))).toBe(400);
    expect(audio(harness, stream).every(({ data }) => Object.keys(data).length === 0)).toBe(true);
  });
});

describe('a zombie', () => {
  /** Types of the messages after the acknowledgements of set_task. */
  const came = (harness: Harness, stream: string): string[] =>
    harness.messages(stream).flatMap(({ type }) => (type === 'task_status' ? [] : [type]));

  test('reads everything and sends nothing until it ends', () => {
    const [harness, stream] = running();
    harness.speak(stream, concat(noise(0.6, HZ, 60), speech(1, HZ)));
    const before = harness.messages(stream).length;
    harness.fault({ kind: 'zombie', for_ms: 10_000 });
    harness.speak(stream, concat(noise(1, HZ, 60), speech(1, HZ), noise(1, HZ, 60)));
    harness.send(stream, 'get_task', {});
    harness.send(stream, 'nonsense', {});
    harness.pass(4000);
    expect(harness.messages(stream)).toHaveLength(before);
    expect(harness.service.stream(stream)?.report).toMatchObject({ phase: 'running', frames_in: 15 });
    harness.pass(3000);
    harness.send(stream, 'get_task', {});
    expect(harness.messages(stream)).toHaveLength(before + 1);
    harness.speak(stream, sentence());
    harness.pass(3000);
    expect(harness.messages(stream, 'validated_transcription')).toHaveLength(1);
    expect(audio(harness, stream).length).toBeGreaterThan(0);
  });

  test('still answers get_task with except', () => {
    const [harness, stream] = running();
    harness.fault({ kind: 'zombie', except: 'get_task' });
    harness.speak(stream, sentence());
    harness.send(stream, 'get_task', {});
    harness.pass(6000);
    expect(came(harness, stream)).toEqual(['current_task']);
  });

  test('also loses its waiting messages', () => {
    const [harness, stream] = running();
    harness.fault({ kind: 'zombie', when: 'mid_output', for_ms: 30_000 });
    harness.speak(stream, sentence());
    harness.pass(40_000);
    const [world2, stream2] = running();
    world2.speak(stream2, sentence());
    world2.pass(40_000);
    expect(audio(harness, stream).length).toBeLessThan(audio(world2, stream2).length);
  });

  test('sends session_revoked when its session is revoked', () => {
    const [harness, stream] = running();
    harness.fault({ kind: 'zombie' });
    harness.fault({ kind: 'revoke' });
    harness.pass(2000);
    expect(came(harness, stream)).toEqual(['session_revoked']);
  });

  test('ends with clear', () => {
    const [harness, stream] = running();
    harness.fault({ kind: 'zombie' });
    harness.fault({ kind: 'clear' });
    harness.send(stream, 'get_task', {});
    expect(came(harness, stream)).toEqual(['current_task']);
  });
});

describe('two target languages', () => {
  test('are spoken one after the other, each with its own end', () => {
    const [harness, stream] = running();
    for (const seconds of [1.5, 1.5]) harness.speak(stream, sentence(seconds));
    harness.pass(6000);
    const order = audio(harness, stream).map(
      ({ data }) => `${String(data['transcription_id']).slice(-1)} ${String(data['language'])}`,
    );
    const runs = order.filter((name, index) => name !== order[index - 1]);
    expect(runs).toEqual(['1 es', '1 fr', '2 es', '2 fr']);
    expect(audio(harness, stream).filter(isLast)).toHaveLength(4);
  });

  test.each(['spec', 'live'] as const)('%s: can be interrupted between the languages', (profile) => {
    const whole = running(TARGETS, profile);
    const broken = running(TARGETS, profile);
    broken[0].fault({ kind: 'drop', when: 'between_languages' });
    for (const [harness, stream] of [whole, broken]) {
      harness.speak(stream, sentence());
      harness.pass(6000);
    }
    const [all, first] = [whole, broken].map(([harness, stream]) => msOf(audio(harness, stream)));
    expect((first ?? 0) * 2).toBe(all);
    expect(broken[0].service.stream(broken[1])?.report.closed?.reason).toBe('reset');
  });

  test('are required for a fault with between_languages', () => {
    const [harness, stream] = running(['es']);
    harness.fault({ kind: 'drop', when: 'between_languages' });
    for (const seconds of [1.5, 1.5]) harness.speak(stream, sentence(seconds));
    harness.pass(6000);
    expect(harness.service.stream(stream)?.report.phase).toBe('running');
  });

  test('do not count as between_languages between two sentences', () => {
    const [harness, stream] = running();
    harness.speak(stream, sentence());
    harness.pass(6000);
    harness.fault({ kind: 'drop', when: 'between_languages' });
    harness.pass(3000);
    expect(harness.service.stream(stream)?.report.phase).toBe('running');
    for (const pcm of chunks(sentence(), HZ)) harness.service.hear(stream, pcm, 20_480, harness.now());
    harness.pass(6000);
    expect(harness.service.stream(stream)?.report.phase).toBe('closed');
  });
});
