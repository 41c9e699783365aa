import { describe, expect, it } from 'vitest';
import { maySpeakNotice } from '../../../src/device/say/notice-rules.ts';
import { LaneHarness } from '../lane/lane-harness.ts';

describe('the notice may be spoken', () => {
  it('when no person speaks, neither at this lane nor at another one of the desk', () => {
    const [lane, other] = [new LaneHarness().goLive(), new LaneHarness().goLive()];
    for (const one of [lane, other]) one.hush(12);
    const may = (): boolean => maySpeakNotice(lane.state, [lane.state, other.state], lane.now);
    expect(may()).toBe(true);
    other.speak(2);
    expect(maySpeakNotice(other.state, [other.state], other.now)).toBe(false);
    expect(maySpeakNotice(lane.state, [lane.state, other.state], other.now)).toBe(false);
  });

  it('directly behind a translation that plays, but not before it has come', () => {
    const lane = new LaneHarness().goLive();
    const may = (): boolean => maySpeakNotice(lane.state, [lane.state], lane.now);
    lane.speak(4);
    lane.hush(6);
    expect(may()).toBe(false);
    lane.understands('a');
    lane.hear('a', 3000, true);
    lane.hush(1);
    expect(may()).toBe(true);
  });

  it.each([
    ['a second after the last voice', { sureVoiceAgo: 1000 }, true],
    ['not within a breath', { sureVoiceAgo: 999 }, false],
    ['not within ten seconds after a key to speak', { turnedAgo: 9999 }, false],
    ['ten seconds after a key that nobody has used to speak', { turnedAgo: 10_000 }, true],
    [
      'a second after the voice of somebody who has pressed a key',
      { turnedAgo: 3000, sureVoiceAgo: 1000 },
      true,
    ],
  ])('%s', (_when, { sureVoiceAgo = 60_000, turnedAgo = 90_000 }: Ago, may) => {
    const lane = new LaneHarness().goLive();
    lane.hush(12);
    const { now, state } = lane;
    const twoWay = { ...state.twoWay, turnedAt: now - turnedAgo };
    const at = { ...state, twoWay, sureVoiceAt: now - sureVoiceAgo };
    expect(maySpeakNotice(at, [at], now)).toBe(may);
  });
});

interface Ago {
  readonly sureVoiceAgo?: number;
  readonly turnedAgo?: number;
}
