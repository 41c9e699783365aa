import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/lane-options.ts';
import { limit, rejected, understood } from '../../service-events.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

/** When the sounds were captured that went out since. */
function sentSince(lane: LaneHarness, from: number): number[] {
  return lane
    .all('send_audio')
    .slice(from)
    .flatMap(({ capturedAt }) => (capturedAt === null ? [] : [capturedAt]));
}

describe('a stream that breaks off', () => {
  it.each([
    ['by a revocation', (lane: LaneHarness) => lane.says(limit('revoked'))],
    ['by its limit, without a warning', (lane: LaneHarness) => lane.says(limit('max_duration'))],
    ['by a reset', (lane: LaneHarness) => lane.end()],
  ])('%s in the middle of a sentence: the whole sentence is said to the next one', (_, happen) => {
    const lane = new LaneHarness().goLive();
    lane.hush(3);
    lane.speak(8);
    const sentence = sentSince(lane, 3);
    happen(lane);
    expect(lane.state.counts.takenBack).toBe(8);
    expect(lane.accounts).toMatchObject({ captured: 11, sent: 3, held: 8 });
    lane.comeBack();
    lane.hush(20);
    expect(sentSince(lane, 11).slice(0, 8)).toEqual(sentence);
    expect(lane.accounts).toMatchObject({ held: 0, lost: 0, dropped: 0 });
  });

  it('does not say again what it had spoken', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(5);
    lane.hush(4);
    lane.speak(5);
    lane.hush(4);
    lane.understands('a');
    lane.hear('a', 1000, true);
    lane.speak(3);
    lane.end();
    // Both sentences had a pause after them when the service understood; the third had begun.
    expect(lane.state.counts.takenBack).toBe(3);
  });

  it('says again what was understood and not yet spoken', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(5);
    lane.hush(4);
    lane.understands('a');
    lane.speak(5);
    lane.hush(4);
    lane.understands('b');
    lane.hear('a', 1000, true);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(8);
    expect(lane.state.backlog.chunks.filter(({ voiced }) => voiced)).toHaveLength(5);
  });

  it('says the sentence that was under way again, and not the one before it that the service had ended sooner than we did', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(5);
    lane.hush(2);
    lane.speak(6);
    lane.understands('a');
    lane.hear('a', 1000, true);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(6);
  });

  it('says the last 1.5 s again when a service without times has cut running speech', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(30);
    lane.understands('a');
    lane.hear('a', 1000, true);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(5);
  });

  it('remembers no more than the hold takes, however long somebody speaks without a breath', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(400);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(93);
    // The service has not reacted to the rest: it is lost.
    expect(lane.accounts).toMatchObject({ held: 93, lost: 307 });
    lane.speak(40);
    expect(lane.accounts).toMatchObject({ held: 93, lost: 347 });
  });

  it('forgets what was said long ago and never spoken: it was no speech', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(5);
    lane.hush(Math.ceil(LANE_DEFAULTS.replayMs / CHUNK_MS));
    lane.end();
    expect(lane.state.counts.takenBack).toBe(0);
  });

  it('whose service names no sentences: what was understood is spoken with the next sound', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(5);
    lane.hush(4);
    lane.understands(null);
    lane.hear(null, 1000);
    lane.speak(4);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(4);
  });

  it('while the microphone was lost: the silence in its place ended the sentence', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(5);
    lane.pass(3000);
    lane.understands('a');
    lane.hear('a', 500, true);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(0);
  });

  it('twice in a row: still nothing is lost', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(6);
    lane.end();
    lane.comeBack();
    lane.speak(2);
    lane.end();
    lane.comeBack();
    lane.hush(30);
    expect(lane.accounts).toMatchObject({ captured: 38, held: 0, lost: 0, dropped: 0 });
    const on = (stream: number) => lane.all('send_audio').filter((sent) => sent.stream === stream);
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
    const lane = new LaneHarness().goLive();
    lane.speak(2);
    lane.options({ muted: true });
    lane.speak(1);
    lane.options({ muted: false });
    lane.speak(2);
    lane.end();
    expect(lane.accounts).toMatchObject({ captured: 5, sent: 0, silenced: 0, held: 5 });
    lane.comeBack();
    lane.hush(10);
    expect(lane.accounts).toMatchObject({ silenced: 1, lost: 0 });
  });

  it('while its task is changed: what the old task had not spoken is said to the next stream', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(3000);
    lane.speak(4);
    lane.options({ targets: ['fr'] });
    lane.speak(2);
    lane.end();
    expect(lane.accounts.held).toBe(6);
  });
});

describe('a lane with two languages', () => {
  const TWO = { options: { echo: 'off', targets: ['es', 'fr'] } } as const;
  const sound = (lane: LaneHarness, sentence: string, language: string, ms: number, last = true): void =>
    lane.hear(`${sentence}/${language}`, ms, last, lane.stream, sentence, language);

  it('says the second language of a sentence to the next stream, and leaves the first one out', () => {
    const lane = new LaneHarness(TWO).goLive();
    lane.speak(5);
    lane.hush(4);
    lane.understands('a');
    sound(lane, 'a', 'es', 1000);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(8);
    lane.comeBack();
    lane.hush(20);
    lane.understands('b');
    const before = lane.all('play').length;
    sound(lane, 'b', 'es', 1000);
    expect(lane.all('play')).toHaveLength(before);
    sound(lane, 'b', 'fr', 1000);
    lane.pass(2000);
    expect(lane.all('play').length).toBeGreaterThan(before);
  });

  it('does not say again what is missing in a language only that nobody wants any more', () => {
    const lane = new LaneHarness(TWO).goLive();
    lane.speak(5);
    lane.hush(4);
    lane.understands('a');
    sound(lane, 'a', 'es', 1000);
    lane.speak(3);
    lane.options({ targets: ['es'] });
    lane.end();
    expect(lane.state.counts.takenBack).toBe(3);
    expect(lane.accounts).toMatchObject({ held: 3, lost: 0 });
  });

  it('keeps apart what stood on both sides of that', () => {
    const lane = new LaneHarness(TWO).goLive();
    const span = (id: string, start: number, end: number): void =>
      lane.says(understood({ id, span: { fromMs: start * 1000, toMs: end * 1000 } }));
    lane.speak(12);
    span('a', 0, 1.28);
    span('b', 1.28, 2.56);
    sound(lane, 'b', 'es', 1000);
    lane.options({ targets: ['es'] });
    lane.end();
    expect(lane.state.backlog.chunks.map(({ seq, apart = false }) => [seq, apart])).toEqual([
      ...[0, 1, 2, 3].map((seq) => [seq, false]),
      [8, true],
      ...[9, 10, 11].map((seq) => [seq, false]),
    ]);
  });

  it('says again what is missing in a language that the service speaks on, because it has refused the order', () => {
    const lane = new LaneHarness(TWO).goLive();
    lane.pass(3000);
    lane.options({ source: 'xx', targets: ['es'] });
    lane.says(rejected());
    lane.until(() => lane.all('send_task').length === 3, 3000);
    lane.taskRuns();
    expect(lane.phase).toBe('live');
    lane.speak(5);
    lane.hush(4);
    lane.understands('a');
    sound(lane, 'a', 'es', 1000);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(8);
  });

  it('puts a pause of its own between a sentence said in one language and what was said in none', () => {
    const lane = new LaneHarness(TWO).goLive();
    lane.speak(20);
    lane.says(understood({ id: 'a', span: { fromMs: 0, toMs: 3200 } }));
    sound(lane, 'a', 'es', 1000);
    lane.end();
    lane.comeBack();
    lane.pass(10_000);
    const next = lane.all('send_audio').filter(({ stream }) => stream === lane.stream);
    const wire = next.map(({ pcm }) => (pcm === null ? '.' : 's')).join('');
    expect(wire).toMatch(/^s{10}\.{3}s{10}/);
  });

  it('says a sentence once more whose translation was cut off, while the stream goes on, and not when more than half came', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(5);
    lane.hush(4);
    lane.understands('a');
    lane.translates('a', 60);
    lane.hear('a', 200);
    lane.pass(9000);
    expect(lane.state.counts.saidAgain).toBe(1);
    lane.hush(20);
    expect(lane.wire.match(/s/g)).toHaveLength(29 + 8);
    lane.understands('b');
    lane.translates('b', 60);
    lane.hear('b', 3900, true);
    lane.speak(5);
    lane.hush(4);
    lane.understands('c');
    lane.translates('c', 60);
    lane.hear('c', 2500);
    lane.pass(9000);
    expect(lane.state.counts.saidAgain).toBe(1);
  });

  it('says nothing again of a translation that is stuck on the way behind an answer to a ping', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(5);
    lane.hush(4);
    lane.understands('a');
    lane.translates('a', 60);
    lane.hear('a', 200);
    lane.pongs = false;
    lane.pass(9000);
    expect(lane.phase).toBe('live');
    lane.pongs = true;
    lane.step({ type: 'pong', stream: lane.stream });
    lane.hear('a', 3700, true);
    lane.pass(12_000);
    expect(lane.state.counts.saidAgain).toBe(0);
    expect(lane.notes).not.toContain('unspoken');
  });
});
