import { describe, expect, it } from 'vitest';
import { LaneHarness as AskingLane, ends } from './asking-lane.ts';
import { behave } from './behaviour.ts';
import { begin, live, lost, partial, say, sentS, told, wait, whole } from './interim-texts.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import { hearScored, UNSURE } from './scored-sound.ts';

const EOS = { message_type: 'eos', data: {} } as const;

describe('a sentence that was left out when its stream ends', () => {
  it('is told when its stream breaks off, where it cannot be said again', () => {
    const lane = live();
    begin(lane, 'b', 4, true);
    say(lane, 'c', 3, true);
    lane.end();
    lane.comeBack();
    wait(lane);
    expect(told(lane)).toMatchObject([lost(4)]);
  });

  it('is told by itself where an outage follows that loses speech as well', () => {
    const lane = new LaneHarness().goLive();
    begin(lane, 'b', 4, true);
    say(lane, 'c', 3, true);
    lane.end();
    for (let chunk = 0; chunk < 120; chunk++) {
      if (lane.phase === 'acquiring') lane.grant();
      if (lane.phase === 'connecting') lane.unreach(true);
      lane.speak(1);
    }
    expect(told(lane)).toMatchObject([lost(4)]);
    expect(lane.state.loss?.cause).toBe('network');
  });

  it('has the cause of the end where the way was blocked before anything could follow', () => {
    const lane = live();
    const from = sentS(lane);
    lane.speak(12);
    const to = sentS(lane);
    // Its interim text comes late, and nothing behind it.
    lane.hush(75);
    partial(lane, 'b', 50, { from, to });
    lane.speak(3);
    partial(lane, 'c', 10, { from: to + 24, to: sentS(lane) });
    lane.pongs = false;
    while (lane.phase === 'live') lane.hush(1);
    lane.pongs = true;
    wait(lane);
    expect(told(lane)).toMatchObject([{ lost_ms: 12 * CHUNK_MS, cause: 'unresponsive' }]);
  });

  it('is not told where it was being written down when its stream broke off', () => {
    const lane = live();
    for (let chunk = 1; chunk <= 12; chunk++) {
      lane.speak(1);
      partial(lane, 'b', chunk * 5);
    }
    // The text of the sentence before it comes late: all that was said seems to be that, and is spoken.
    whole(lane, 'a', 20);
    lane.hear('a', 1200, true);
    lane.end();
    lane.comeBack();
    wait(lane);
    expect(told(lane)).toEqual([]);
  });

  it.each([
    ['it fell silent in the middle of it', 'silent_service'],
    ['it had gone on to the next one before it fell silent', 'left_out'],
  ])('is told with its cause where a stream ends for its silence: %s', (_, cause) => {
    const lane = new AskingLane().goLive();
    behave(lane);
    begin(lane, 'b', 4, true);
    if (cause === 'left_out') {
      say(lane, 'c', 3, true);
      // For longer than a text is waited for.
      lane.hush(110);
    }
    // It answers questions about its task, and nothing else.
    for (let chunk = 0; chunk < 300 && ends(lane) === 0; chunk++) lane.speak(1);
    expect(ends(lane)).toBe(1);
    wait(lane);
    const sums = told(lane);
    expect(sums.map((one) => one.cause)).toEqual([...new Set([cause, 'silent_service'])]);
    expect(sums.reduce((ms, { lost_ms }) => ms + Number(lost_ms), 0)).toBe(lane.accounts.lost * CHUNK_MS);
  });

  it('is told with the times at which it was said, though it was sent much later', () => {
    const lane = live();
    lane.end();
    const from = lane.now;
    lane.speak(12);
    const to = lane.now;
    // No token comes for as long as the backlog lasts.
    lane.hush(60);
    lane.grant();
    lane.open();
    lane.taskRuns();
    behave(lane);
    lane.hush(20);
    partial(lane, 'b', 60);
    lane.hush(4);
    say(lane, 'c', 3);
    wait(lane);
    expect(told(lane)).toMatchObject([{ lost_ms: 12 * CHUNK_MS, cause: 'left_out', from, to }]);
  });

  it('is told when its stream ends in order', () => {
    const lane = new LaneHarness({ options: { standbyAfterMs: 5000 } }).goLive();
    behave(lane);
    begin(lane, 'b', 4, true);
    say(lane, 'c', 3, true);
    lane.until(() => lane.phase === 'standby', 60_000);
    wait(lane);
    expect(told(lane)).toMatchObject([lost(4)]);
  });

  it.each([
    ['just', 20],
    ['half a minute', 95],
  ])('is told when its lane is stopped, %s after the next one', (_, chunks) => {
    const lane = live();
    begin(lane, 'b', 4, true);
    say(lane, 'c', 3, true);
    lane.hush(chunks);
    lane.stop();
    lane.says(EOS);
    expect(told(lane)).toMatchObject([lost(4)]);
    expect(lane.accounts.lost * CHUNK_MS).toBe(lost(4).lost_ms);
  });

  it.each([
    ['what was just sent', (_: LaneHarness) => undefined],
    ['what a change of its languages held', (lane: LaneHarness) => lane.options({ targets: ['de'] })],
  ])('is told as such where the stop takes more: %s', (_, change) => {
    const lane = live();
    begin(lane, 'b', 4, true);
    say(lane, 'c', 3, true);
    change(lane);
    lane.speak(9);
    lane.stop();
    lane.says(EOS);
    expect(told(lane)).toMatchObject([lost(4), { lost_ms: 9 * CHUNK_MS, cause: 'stopped' }]);
  });
});

describe('a sentence that is written down without an end', () => {
  const CHUNKS = 144;
  function endless(isTimed: boolean): LaneHarness {
    const lane = live();
    const from = sentS(lane);
    for (let chunk = 1; chunk <= CHUNKS; chunk++) {
      lane.speak(1);
      partial(lane, 'b', chunk * 5, isTimed ? { from, to: sentS(lane) } : {});
    }
    return lane;
  }

  it.each([
    ['with times', true],
    ['without times', false],
  ])('is told whole when its lane is stopped, %s', (_, isTimed) => {
    const lane = endless(isTimed);
    lane.stop();
    lane.says(EOS);
    expect(told(lane)).toMatchObject([{ lost_ms: CHUNKS * CHUNK_MS, cause: 'stopped' }]);
  });

  it('is told when its stream breaks off, but for what is said again', () => {
    const lane = endless(true);
    lane.end();
    const again = lane.state.backlog.chunks.length;
    expect(again).toBeGreaterThan(CHUNKS / 2);
    lane.comeBack();
    wait(lane);
    expect(told(lane)).toMatchObject([{ lost_ms: (CHUNKS - again) * CHUNK_MS, cause: 'network' }]);
  });
});

describe('a sentence that is being written down when its lane is stopped', () => {
  it.each([
    [70, 10 * CHUNK_MS],
    [10, null],
  ])('is speech where it has become %i letters, though the lane is unsure of a voice', (letters, lostMs) => {
    const lane = live();
    hearScored(lane, 10 * CHUNK_MS, UNSURE);
    partial(lane, 'b', letters);
    lane.stop();
    lane.says(EOS);
    const sums = lostMs === null ? [] : [{ lost_ms: lostMs, cause: 'stopped' }];
    expect(told(lane)).toMatchObject(sums);
    expect(told(lane)).toHaveLength(sums.length);
  });
});
