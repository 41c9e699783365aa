import { describe, expect, test } from 'vitest';
import type { OutMessage } from '../../../src/emulator/core/outbox.ts';
import { chunks, concat, noise, speech } from './voice.ts';
import { createWorld, sentence, soundOf, task, type World } from './world.ts';

const HZ = 24_000;
const TARGETS = ['es', 'fr'];

function running(targets: readonly string[] = TARGETS, profile: 'spec' | 'live' = 'live'): [World, string] {
  const world = createWorld({}, profile);
  const stream = world.open();
  world.run(stream, task({}, targets));
  return [world, stream];
}

const audio = (world: World, stream: string): OutMessage[] => world.messages(stream, 'output_audio_data');
const msOf = (messages: readonly OutMessage[]): number => (soundOf(messages).length / 2 / HZ) * 1000;
const isLast = ({ data }: OutMessage): boolean => data['last_chunk'] === true;

/** What came of one sentence in one language. */
function spoken(world: World, stream: string, count: number, language: string): OutMessage[] {
  return audio(world, stream).filter(
    ({ data }) => data['language'] === language && String(data['transcription_id']).endsWith(`-${count}`),
  );
}

describe('a translation that is cut off', () => {
  test('after its first 200 ms, in all languages, without a last chunk; the next sentence is whole', () => {
    const [world, stream] = running();
    world.fault({ kind: 'cut_speech' });
    for (const seconds of [1.5, 1.5]) world.speak(stream, sentence(seconds));
    world.pass(6000);
    for (const language of TARGETS) {
      const cut = spoken(world, stream, 1, language);
      expect(msOf(cut)).toBe(200);
      expect(cut.some(isLast)).toBe(false);
      const whole = spoken(world, stream, 2, language);
      expect(msOf(whole)).toBeGreaterThan(1400);
      expect(isLast(whole.at(-1) as OutMessage)).toBe(true);
    }
    expect(world.messages(stream, 'translated_transcription')).toHaveLength(4);
  });

  test('in one language, within a chunk, with a last chunk', () => {
    const [world, stream] = running();
    world.fault({ kind: 'cut_speech', ms: 500, language: 'fr', last_chunk: true });
    world.speak(stream, sentence());
    world.pass(4000);
    expect(msOf(spoken(world, stream, 1, 'es'))).toBeGreaterThan(1400);
    const cut = spoken(world, stream, 1, 'fr');
    expect(msOf(cut)).toBe(500);
    expect(cut.map(isLast)).toEqual([false, false, true]);
  });

  test('one that is shorter than the cut is whole, as is one whose speech is at its end', () => {
    const [world, stream] = running(['es']);
    world.fault({ kind: 'cut_speech', ms: 60_000 });
    world.speak(stream, sentence());
    world.pass(4000);
    expect(audio(world, stream).filter(isLast)).toHaveLength(1);
  });

  test('in the middle of its speech', () => {
    const [world, stream] = running(['es']);
    world.fault({ kind: 'cut_speech', ms: 0, last_chunk: true, when: 'mid_output', after_ms: 500 });
    world.speak(stream, sentence(3));
    world.pass(6000);
    const out = audio(world, stream);
    expect(msOf(out)).toBeLessThan(2500);
    expect(out.filter(isLast)).toEqual([out.at(-1)]);
  });

  test('so many sentences, and no more; clear takes back the rest', () => {
    const [world, stream] = running(['es']);
    world.fault({ kind: 'cut_speech', times: 2 });
    for (let count = 0; count < 3; count++) world.speak(stream, sentence());
    world.pass(6000);
    expect([1, 2, 3].map((count) => msOf(spoken(world, stream, count, 'es')) > 200)).toEqual([
      false,
      false,
      true,
    ]);
    world.fault({ kind: 'cut_speech', times: 2 });
    world.fault({ kind: 'clear' });
    world.speak(stream, sentence());
    world.pass(6000);
    expect(msOf(spoken(world, stream, 4, 'es'))).toBeGreaterThan(200);
  });

  test('spec: cut as well, where nothing names the sentence', () => {
    const [world, stream] = running(TARGETS, 'spec');
    world.fault({ kind: 'cut_speech' });
    world.speak(stream, sentence());
    world.pass(6000);
    expect(msOf(audio(world, stream))).toBe(400);
    expect(audio(world, stream).every(({ data }) => Object.keys(data).length === 0)).toBe(true);
  });
});

describe('a zombie', () => {
  /** Types of what came after the acknowledgements of set_task. */
  const came = (world: World, stream: string): string[] =>
    world.messages(stream).flatMap(({ type }) => (type === 'task_status' ? [] : [type]));

  test('reads everything and says nothing, whatever it is asked, until it is over', () => {
    const [world, stream] = running();
    world.speak(stream, concat(noise(0.6, HZ, 60), speech(1, HZ)));
    const before = world.messages(stream).length;
    world.fault({ kind: 'zombie', for_ms: 10_000 });
    world.speak(stream, concat(noise(1, HZ, 60), speech(1, HZ), noise(1, HZ, 60)));
    world.send(stream, 'get_task', {});
    world.send(stream, 'nonsense', {});
    world.pass(4000);
    expect(world.messages(stream)).toHaveLength(before);
    expect(world.service.stream(stream)?.report).toMatchObject({ phase: 'running', frames_in: 15 });
    world.pass(3000);
    world.send(stream, 'get_task', {});
    expect(world.messages(stream)).toHaveLength(before + 1);
    world.speak(stream, sentence());
    world.pass(3000);
    expect(world.messages(stream, 'validated_transcription')).toHaveLength(1);
    expect(audio(world, stream).length).toBeGreaterThan(0);
  });

  test('that still answers get_task', () => {
    const [world, stream] = running();
    world.fault({ kind: 'zombie', except: 'get_task' });
    world.speak(stream, sentence());
    world.send(stream, 'get_task', {});
    world.pass(6000);
    expect(came(world, stream)).toEqual(['current_task']);
  });

  test('loses what it had to say, too', () => {
    const [world, stream] = running();
    world.fault({ kind: 'zombie', when: 'mid_output', for_ms: 30_000 });
    world.speak(stream, sentence());
    world.pass(40_000);
    const [world2, stream2] = running();
    world2.speak(stream2, sentence());
    world2.pass(40_000);
    expect(audio(world, stream).length).toBeLessThan(audio(world2, stream2).length);
  });

  test('is told by name when its session is revoked', () => {
    const [world, stream] = running();
    world.fault({ kind: 'zombie' });
    world.fault({ kind: 'revoke' });
    world.pass(2000);
    expect(came(world, stream)).toEqual(['session_revoked']);
  });

  test('clear wakes it', () => {
    const [world, stream] = running();
    world.fault({ kind: 'zombie' });
    world.fault({ kind: 'clear' });
    world.send(stream, 'get_task', {});
    expect(came(world, stream)).toEqual(['current_task']);
  });
});

describe('two target languages', () => {
  test('the second follows the first, and each ends for itself', () => {
    const [world, stream] = running();
    for (const seconds of [1.5, 1.5]) world.speak(stream, sentence(seconds));
    world.pass(6000);
    const order = audio(world, stream).map(
      ({ data }) => `${String(data['transcription_id']).slice(-1)} ${String(data['language'])}`,
    );
    const runs = order.filter((name, index) => name !== order[index - 1]);
    expect(runs).toEqual(['1 es', '1 fr', '2 es', '2 fr']);
    expect(audio(world, stream).filter(isLast)).toHaveLength(4);
  });

  test.each(['spec', 'live'] as const)('%s: a break between them', (profile) => {
    const whole = running(TARGETS, profile);
    const broken = running(TARGETS, profile);
    broken[0].fault({ kind: 'drop', when: 'between_languages' });
    for (const [world, stream] of [whole, broken]) {
      world.speak(stream, sentence());
      world.pass(6000);
    }
    const [all, first] = [whole, broken].map(([world, stream]) => msOf(audio(world, stream)));
    expect((first ?? 0) * 2).toBe(all);
    expect(broken[0].service.stream(broken[1])?.report.closed?.reason).toBe('reset');
  });

  test('with one language there is no between', () => {
    const [world, stream] = running(['es']);
    world.fault({ kind: 'drop', when: 'between_languages' });
    for (const seconds of [1.5, 1.5]) world.speak(stream, sentence(seconds));
    world.pass(6000);
    expect(world.service.stream(stream)?.report.phase).toBe('running');
  });

  test('between two sentences is not between two languages', () => {
    const [world, stream] = running();
    world.speak(stream, sentence());
    world.pass(6000);
    world.fault({ kind: 'drop', when: 'between_languages' });
    world.pass(3000);
    expect(world.service.stream(stream)?.report.phase).toBe('running');
    for (const pcm of chunks(sentence(), HZ)) world.service.hear(stream, pcm, 20_480, world.now());
    world.pass(6000);
    expect(world.service.stream(stream)?.report.phase).toBe('closed');
  });
});
