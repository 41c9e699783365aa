import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { limit, rejected, understood } from '../../service-events.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';

/** Capture times of the sounds that were sent since. */
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
  ])('%s in the middle of a sentence: the whole sentence is replayed to the next one', (_, happen) => {
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

  it('does not replay speech that was spoken', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(5);
    lane.hush(4);
    lane.speak(5);
    lane.hush(4);
    lane.understands('a');
    lane.hear('a', 1000, true);
    lane.speak(3);
    lane.end();
    // A pause followed both sentences when the service sent their finals; the third had begun.
    expect(lane.state.counts.takenBack).toBe(3);
  });

  it('replays speech that was transcribed and not yet spoken', () => {
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

  it('replays the open sentence, and not the one before it that the service ended earlier than the lane', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(5);
    lane.hush(2);
    lane.speak(6);
    lane.understands('a');
    lane.hear('a', 1000, true);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(6);
  });

  it('replays the last 1.5 s when a service without timestamps has cut running speech', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(30);
    lane.understands('a');
    lane.hear('a', 1000, true);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(5);
  });

  it('replays at most what the backlog can hold, also after long speech without a pause', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(400);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(93);
    // The service has not reacted to the rest: it is lost.
    expect(lane.accounts).toMatchObject({ held: 93, lost: 307 });
    lane.speak(40);
    expect(lane.accounts).toMatchObject({ held: 93, lost: 347 });
  });

  it('does not replay old audio that was never spoken: it was not speech', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(5);
    lane.hush(Math.ceil(LANE_DEFAULTS.replayMs / CHUNK_MS));
    lane.end();
    expect(lane.state.counts.takenBack).toBe(0);
  });

  it('from a service without ids: the next sound settles the transcribed speech', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(5);
    lane.hush(4);
    lane.understands(null);
    lane.hear(null, 1000);
    lane.speak(4);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(4);
  });

  it('while the microphone was lost: the inserted silence ended the sentence', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(5);
    lane.pass(3000);
    lane.understands('a');
    lane.hear('a', 500, true);
    lane.end();
    expect(lane.state.counts.takenBack).toBe(0);
  });

  it('twice in a row: nothing is lost', () => {
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

  it('replays muted chunks as silence', () => {
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

  it('while its task is changed: speech that the old task had not spoken is replayed to the next stream', () => {
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

  it('replays a sentence for its second language only, when the first was spoken', () => {
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

  it('does not replay speech that is missing only in a language that was removed', () => {
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

  it('separates the speech before and after that', () => {
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

  it('replays speech that is missing in a language that goes on because the service refused the order', () => {
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

  it('inserts a pause between a sentence spoken in one language and speech spoken in none', () => {
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

  it('replays a sentence whose translation was cut off on a live stream, unless more than half of it came', () => {
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

  it('does not replay a translation that is delayed behind an answer to a ping', () => {
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
