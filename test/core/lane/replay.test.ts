import { describe, expect, it } from 'vitest';
import { FORGOTTEN_AFTER_MS } from '../../../src/core/replay/log.ts';
import { CHUNK_MS, World } from './world.ts';

/** When the sounds were captured that went out since. */
function sentSince(world: World, from: number): number[] {
  return world
    .all('send_audio')
    .slice(from)
    .flatMap(({ capturedAt }) => (capturedAt === null ? [] : [capturedAt]));
}

describe('a stream that breaks off', () => {
  it.each([
    ['by a revocation', (world: World) => world.says({ message_type: 'session_revoked', data: {} })],
    [
      'by its limit, without a warning',
      (world: World) => world.says({ message_type: 'max_duration_reached', data: {} }),
    ],
    ['by a reset', (world: World) => world.end(1006)],
  ])('%s in the middle of a sentence: the whole sentence is said to the next one', (_, happen) => {
    const world = new World().goLive();
    world.hush(3);
    world.speak(8);
    const sentence = sentSince(world, 3);
    happen(world);
    expect(world.state.counts.takenBack).toBe(8);
    expect(world.accounts).toMatchObject({ captured: 11, sent: 3, held: 8 });
    world.comeBack();
    world.hush(20);
    expect(sentSince(world, 11).slice(0, 8)).toEqual(sentence);
    expect(world.accounts).toMatchObject({ held: 0, lost: 0, dropped: 0 });
  });

  it('does not say again what it had spoken', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    world.speak(5);
    world.hush(4);
    world.speak(5);
    world.hush(4);
    world.understands('a');
    world.hear('a', 1000, true);
    world.speak(3);
    world.end();
    // Both sentences had a pause after them when the service understood; the third had begun.
    expect(world.state.counts.takenBack).toBe(3);
  });

  it('says again what was understood and not yet spoken', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    world.speak(5);
    world.hush(4);
    world.understands('a');
    world.speak(5);
    world.hush(4);
    world.understands('b');
    world.hear('a', 1000, true);
    world.end();
    expect(world.state.counts.takenBack).toBe(8);
    expect(world.state.hold.chunks.filter(({ voiced }) => voiced)).toHaveLength(5);
  });

  it('says the sentence that was under way again, and not the one before it that the service had ended sooner than we did', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    world.speak(5);
    world.hush(2);
    world.speak(6);
    world.understands('a');
    world.hear('a', 1000, true);
    world.end();
    expect(world.state.counts.takenBack).toBe(6);
  });

  it('says nothing again of what a service without times has cut in a room where it is never quiet', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    world.speak(30);
    world.understands('a');
    world.hear('a', 1000, true);
    world.end();
    expect(world.state.counts.takenBack).toBe(0);
  });

  it('remembers no more than the hold takes, however long somebody speaks without a breath', () => {
    const world = new World().goLive();
    world.speak(400);
    world.end();
    expect(world.state.counts.takenBack).toBe(90);
    expect(world.accounts).toMatchObject({ held: 90, lost: 0 });
    world.speak(40);
    expect(world.accounts).toMatchObject({ held: 93, lost: 37 });
  });

  it('forgets what was said long ago and never spoken: it was no speech', () => {
    const world = new World().goLive();
    world.speak(5);
    world.hush(Math.ceil(FORGOTTEN_AFTER_MS / CHUNK_MS));
    world.end();
    expect(world.state.counts.takenBack).toBe(0);
  });

  it('whose service names no sentences: what was understood is spoken with the next sound', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    world.speak(5);
    world.hush(4);
    world.understands(null);
    world.hear(null, 1000);
    world.speak(4);
    world.end();
    expect(world.state.counts.takenBack).toBe(4);
  });

  it('while the microphone was lost: the silence in its place ended the sentence', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    world.speak(5);
    world.pass(3000);
    world.understands('a');
    world.hear('a', 500, true);
    world.end();
    expect(world.state.counts.takenBack).toBe(0);
  });

  it('twice in a row: still nothing is lost', () => {
    const world = new World().goLive();
    world.speak(6);
    world.end();
    world.comeBack();
    world.speak(2);
    world.end();
    world.comeBack();
    world.hush(30);
    expect(world.accounts).toMatchObject({ captured: 38, held: 0, lost: 0, dropped: 0 });
    const on = (stream: number) => world.all('send_audio').filter((sent) => sent.stream === stream);
    const said = on(1).map(({ capturedAt }) => capturedAt);
    expect(said).toHaveLength(6);
    expect(
      on(2)
        .slice(0, 2)
        .map(({ capturedAt }) => capturedAt),
    ).toEqual(said.slice(0, 2));
    const again = on(3).map(({ capturedAt }) => capturedAt ?? 0);
    expect(again.slice(0, 6)).toEqual(said);
    expect(again.slice(0, 8)).toEqual(again.slice(0, 8).toSorted((a, b) => a - b));
  });

  it('gives muted chunks back as silence', () => {
    const world = new World().goLive();
    world.speak(2);
    world.orders({ muted: true });
    world.speak(1);
    world.orders({ muted: false });
    world.speak(2);
    world.end();
    expect(world.accounts).toMatchObject({ captured: 5, sent: 0, silenced: 0, held: 5 });
    world.comeBack();
    world.hush(10);
    expect(world.accounts).toMatchObject({ silenced: 1, lost: 0 });
  });

  it('while its task is changed: what the old task had not spoken is said to the next stream', () => {
    const world = new World().goLive();
    world.pass(3000);
    world.speak(4);
    world.orders({ targets: ['fr'] });
    world.speak(2);
    world.end();
    expect(world.accounts.held).toBe(6);
  });
});

describe('a lane with two languages', () => {
  const TWO = { orders: { echo: 'off', targets: ['es', 'fr'] } } as const;
  const sound = (world: World, sentence: string, language: string, ms: number, last = true): void =>
    world.hear(`${sentence}/${language}`, ms, last, world.stream, sentence, language);

  it('says the second language of a sentence to the next stream, and leaves the first one out', () => {
    const world = new World(TWO).goLive();
    world.speak(5);
    world.hush(4);
    world.understands('a');
    sound(world, 'a', 'es', 1000);
    world.end();
    expect(world.state.counts.takenBack).toBe(8);
    world.comeBack();
    world.hush(20);
    world.understands('b');
    const before = world.all('play').length;
    sound(world, 'b', 'es', 1000);
    expect(world.all('play')).toHaveLength(before);
    expect(world.state.counts.repeatsMuted).toBe(1);
    sound(world, 'b', 'fr', 1000);
    world.pass(2000);
    expect(world.all('play').length).toBeGreaterThan(before);
  });

  it('puts a pause of its own between a sentence said in one language and what was said in none', () => {
    const world = new World(TWO).goLive();
    world.speak(20);
    world.says({
      message_type: 'validated_transcription',
      data: {
        transcription: {
          transcription_id: 'a',
          language: 'en',
          text: 'so',
          segments: [{ start: 0, end: 3.2 }],
        },
      },
    });
    sound(world, 'a', 'es', 1000);
    world.end();
    world.comeBack();
    world.pass(10_000);
    const next = world.all('send_audio').filter(({ stream }) => stream === world.stream);
    const wire = next.map(({ pcm }) => (pcm === null ? '.' : 's')).join('');
    expect(wire).toMatch(/^s{10}\.{3}s{10}/);
  });

  it('says a sentence once more whose translation was cut off, while the stream goes on, and tells of a longer cut', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    const translate = (id: string): void =>
      world.says({
        message_type: 'translated_transcription',
        data: { transcription: { transcription_id: id, language: 'es', text: 'x'.repeat(60) } },
      });
    world.speak(5);
    world.hush(4);
    world.understands('a');
    translate('a');
    world.hear('a', 200);
    world.pass(9000);
    expect(world.state.counts.saidAgain).toBe(1);
    world.hush(20);
    expect(world.wire.match(/s/g)).toHaveLength(29 + 8);
    world.understands('b');
    translate('b');
    world.hear('b', 3900, true);
    world.speak(5);
    world.hush(4);
    world.understands('c');
    translate('c');
    world.hear('c', 2500);
    world.pass(9000);
    expect(world.state.counts.saidAgain).toBe(1);
    expect(world.last('notify')).toMatchObject({
      kind: 'audio_cut',
      detail: { language: 'es', played_ms: 2500, expected_ms: 3900 },
    });
  });

  it('tells once that the service gives times that cannot be true', () => {
    const world = new World({ orders: { echo: 'off' } }).goLive();
    for (const id of ['a', 'b']) {
      world.speak(5);
      world.hush(4);
      const segments = [{ start: 5, end: 500 }];
      const transcription = { transcription_id: id, language: 'en', text: 'so', segments };
      world.says({ message_type: 'validated_transcription', data: { transcription } });
    }
    expect(world.notes.filter((kind) => kind === 'times_refused')).toHaveLength(1);
  });
});
