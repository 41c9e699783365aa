import { describe, expect, it } from 'vitest';
import { reportLane } from '../../../../src/device/lane/lane-report.ts';
import { laneStatus } from '../../../../src/device/status/status-rules.ts';
import { finished } from '../../../service-events.ts';
import { LaneHarness } from '../lane-harness.ts';

const EOS = finished();
const TWO = { options: { echo: 'off', targets: ['es', 'fr'] } } as const;
const ONE = { options: { echo: 'off' } } as const;

const events = (lane: LaneHarness): readonly Readonly<Record<string, unknown>>[] =>
  lane
    .all('notify')
    .filter(({ kind }) => kind === 'unspoken')
    .map(({ detail }) => detail);
const reasons = (lane: LaneHarness): readonly string[] =>
  laneStatus(lane.state, lane.now).reasons.map(({ code, detail }) => `${code}:${detail}`);

/** A visitor speaks, and the service sends the transcript without sound. */
function unanswered(lane: LaneHarness, id: string, chunks: number): void {
  lane.speak(chunks);
  lane.hush(4);
  lane.understands(id);
}
/** A visitor speaks and is translated into these languages. */
function answered(lane: LaneHarness, id: string, languages: readonly string[]): void {
  unanswered(lane, id, 5);
  for (const language of languages) lane.hear(`${id}/${language}`, 1500, true, lane.stream, id, language);
}
const forget = (lane: LaneHarness): void => lane.hush(100);

describe('speech that a service receives and does not speak', () => {
  it('is reported once when the session ends, with its length and sentences', () => {
    const lane = new LaneHarness(ONE).goLive();
    unanswered(lane, 'a', 10);
    unanswered(lane, 'b', 5);
    forget(lane);
    expect(events(lane)).toEqual([]);
    lane.end();
    expect(events(lane)).toEqual([{ language: 'es', unspoken_ms: 4800, sentences: 2 }]);
    lane.comeBack();
    lane.end();
    expect(events(lane)).toHaveLength(1);
  });

  it('is reported every ten minutes while the session goes on', () => {
    const lane = new LaneHarness(ONE).goLive();
    for (let minute = 0; minute < 21; minute++) {
      unanswered(lane, `s${minute}`, 10);
      answered(lane, `t${minute}`, ['es']);
      lane.hush(167);
    }
    expect(events(lane).length).toBe(2);
    expect(events(lane)[0]).toMatchObject({ language: 'es', sentences: 10 });
  });

  it('is counted by language', () => {
    const lane = new LaneHarness(TWO).goLive();
    answered(lane, 'a', ['es']);
    forget(lane);
    lane.end();
    expect(events(lane)).toEqual([{ language: 'fr', unspoken_ms: 1600, sentences: 1 }]);
    expect(lane.state.counts.unspokenMs).toBe(1600);
    const report = reportLane('main', lane.state, { capture: '', playback: '' }, () => null);
    expect(report).toMatchObject({ unspoken_ms: 1600, speech_lost_ms: 0, speech_dropped_ms: 0 });
  });

  it('is not reported in a healthy session, nor when the missing speech is sent again', () => {
    const lane = new LaneHarness(TWO).goLive();
    for (const id of ['a', 'b', 'c']) answered(lane, id, ['es', 'fr']);
    unanswered(lane, 'd', 8);
    lane.end();
    expect(lane.state.counts.takenBack).toBeGreaterThan(7);
    lane.comeBack();
    lane.hush(20);
    answered(lane, 'e', ['es', 'fr']);
    lane.stop();
    lane.says(EOS);
    expect(events(lane)).toEqual([]);
  });

  it('makes the lane degraded after 20 s, until sound of the language arrives', () => {
    const lane = new LaneHarness(TWO).goLive();
    for (let i = 0; lane.state.counts.unspokenMs < 16_000; i++) {
      answered(lane, `s${i}`, ['es']);
      forget(lane);
    }
    expect(reasons(lane)).toEqual([]);
    for (let i = 0; lane.state.counts.unspokenMs < 20_000; i++) {
      answered(lane, `t${i}`, ['es']);
      forget(lane);
    }
    expect(reasons(lane)).toEqual(['unspoken:fr']);
    lane.hear('x/fr', 400, false, lane.stream, 'x', 'fr');
    expect(reasons(lane)).toEqual([]);
  });

  it('is counted when the service speaks a language that was not requested', () => {
    const lane = new LaneHarness(ONE).goLive();
    for (let i = 0; i < 15; i++) answered(lane, `s${i}`, ['pl']);
    expect(reasons(lane)).toEqual(['unspoken:es']);
    answered(lane, 'right', ['es-MX']);
    expect(reasons(lane)).toEqual([]);
  });

  it('is counted without a reaction of the service once the service reacts to later speech', () => {
    const lane = new LaneHarness(ONE).goLive();
    lane.speak(10);
    forget(lane);
    expect(lane.state.counts.unspokenMs).toBe(0);
    lane.understands('later');
    lane.step({ type: 'pong', stream: lane.stream });
    expect(lane.state.counts.unspokenMs).toBe(3200);
  });

  it('is removed from the status at a new start', () => {
    const lane = new LaneHarness(ONE).goLive();
    for (let i = 0; i < 15; i++) answered(lane, `s${i}`, ['pl']);
    lane.stop();
    lane.says(EOS);
    lane.start();
    expect(reasons(lane)).toEqual([]);
  });

  it('is reported when the lane is started again before its stream has ended', () => {
    const lane = new LaneHarness(TWO).goLive();
    answered(lane, 'a', ['es']);
    lane.stop();
    lane.start();
    expect(events(lane)).toEqual([{ language: 'fr', unspoken_ms: 1600, sentences: 1 }]);
  });

  it('is not sent to the next stream for a language that has not been spoken for long', () => {
    const lane = new LaneHarness(TWO).goLive();
    for (let i = 0; lane.state.counts.unspokenMs < 20_000; i++) {
      answered(lane, `s${i}`, ['es']);
      forget(lane);
    }
    answered(lane, 'last', ['es']);
    const counted = lane.state.counts.unspokenMs;
    const known = lane.state.unspoken.find(({ language }) => language === 'fr')?.sentences ?? 0;
    lane.end();
    expect(lane.state.counts.takenBack).toBe(0);
    expect(lane.state.counts.unspokenMs).toBe(counted + 1600);
    expect(events(lane).at(-1)).toMatchObject({ language: 'fr', sentences: known + 1 });
  });

  it('is counted as two sentences when a pause is between them', () => {
    const lane = new LaneHarness(TWO).goLive();
    for (let i = 0; lane.state.counts.unspokenMs < 20_000; i++) {
      answered(lane, `s${i}`, ['es']);
      forget(lane);
    }
    const counted = lane.state.counts.unspokenMs;
    const known = lane.state.unspoken.find(({ language }) => language === 'fr')?.sentences ?? 0;
    answered(lane, 'last but one', ['es']);
    answered(lane, 'last', ['es']);
    lane.end();
    expect(lane.state.counts.unspokenMs).toBe(counted + 2 * 1600);
    expect(events(lane).at(-1)).toMatchObject({ language: 'fr', sentences: known + 2 });
  });
});

describe('a sentence that was cut off', () => {
  it('is sent again only in a pause of the visitor’s speech', () => {
    const lane = new LaneHarness(ONE).goLive();
    lane.speak(5);
    lane.hush(4);
    lane.understands('a');
    lane.translates('a', 60);
    lane.hear('a', 200);
    const cutAt = lane.all('send_audio').length;
    lane.speak(40);
    expect(lane.state.counts.saidAgain).toBe(0);
    expect(
      lane
        .all('send_audio')
        .slice(cutAt)
        .every(({ pcm }) => pcm !== null),
    ).toBe(true);
    lane.hush(12);
    expect(lane.state.counts.saidAgain).toBe(1);
  });
});
