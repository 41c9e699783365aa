import { describe, expect, it } from 'vitest';
import { beginConversation, noteActivity } from '../../../src/device/desk/conversation.ts';
import { endsAt, follow, isFirstWord, isRunning } from '../../../src/device/desk/desk-rules.ts';
import type { LaneEffect } from '../../../src/device/lane/state/lane-effect.ts';
import { LaneHarness } from '../lane/lane-harness.ts';
import { nextPcm, SPEECH } from '../lane/sound.ts';

const caption = (kind: 'source' | 'translation'): LaneEffect => ({
  type: 'caption',
  caption: { kind, isFinal: false, id: 'a', part: null, language: 'en', text: 'so' },
});
const stepOf = ({ state }: LaneHarness, ...effects: LaneEffect[]) => ({
  event: { type: 'start' } as const,
  effects,
  before: state,
  after: state,
});

describe('a conversation begins', () => {
  it('with words of a visitor, and not with a translation or without words', () => {
    const lane = new LaneHarness().goLive();
    expect(isFirstWord(stepOf(lane, caption('source')), null)).toBe(true);
    expect(isFirstWord(stepOf(lane, caption('translation')), null)).toBe(false);
    expect(isFirstWord(stepOf(lane), null)).toBe(false);
  });

  it('again only with words that were said after the last one', () => {
    const lane = new LaneHarness().goLive();
    const { lastVoiceAt } = lane.state;
    expect(isFirstWord(stepOf(lane, caption('source')), lastVoiceAt)).toBe(false);
    expect(isFirstWord(stepOf(lane, caption('source')), lastVoiceAt - 1)).toBe(true);
  });

  it('at no lane that is stopped or draining', () => {
    const lane = new LaneHarness().goLive();
    expect(isRunning(lane.state)).toBe(true);
    lane.stop();
    expect(isRunning(lane.state)).toBe(false);
    expect(isFirstWord(stepOf(lane, caption('source')), null)).toBe(false);
    lane.end('closed');
    expect(isRunning(lane.state)).toBe(false);
  });
});

describe('a conversation goes on', () => {
  it('with each voice that the lane itself is sure of, also while the service cannot be reached', () => {
    const lane = new LaneHarness().goLive();
    const event = { type: 'captured', capturedAt: 0, pcm: nextPcm(true), levels: SPEECH } as const;
    const talk = beginConversation('voice', 0, 0);
    const activeAfter = (sureVoiceAt: number) =>
      follow(talk, { event, effects: [], before: lane.state, after: { ...lane.state, sureVoiceAt } }, 7000);
    expect(activeAfter(lane.state.sureVoiceAt).activeAt).toBe(0);
    expect(activeAfter(lane.now + 1).activeAt).toBe(7000);
  });

  it('with words of a visitor, and not with a translation', () => {
    const lane = new LaneHarness().goLive();
    const talk = beginConversation('voice', 0, 0);
    expect(follow(talk, stepOf(lane, caption('source')), 7000).activeAt).toBe(7000);
    expect(follow(talk, stepOf(lane, caption('translation')), 7000)).toMatchObject({
      activeAt: 0,
      languages: ['en'],
    });
  });
});

describe('a conversation ends', () => {
  const END_AFTER_MS = 90_000;

  it('a while after the last activity', () => {
    const { state } = new LaneHarness().goLive();
    const talk = noteActivity(beginConversation('voice', 0, 0), 10_000);
    expect(endsAt(talk, [state], END_AFTER_MS, 50_000)).toBe(100_000);
    expect(endsAt(talk, [state], END_AFTER_MS, 100_000)).toBeNull();
  });

  it('a while after the last translation was heard, of any lane at the desk', () => {
    const quiet = new LaneHarness().goLive();
    const speaking = new LaneHarness().goLive();
    speaking.hear('a', 8000, true);
    const now = speaking.now;
    const talk = beginConversation('voice', now - END_AFTER_MS, 0);
    expect(endsAt(talk, [quiet.state], END_AFTER_MS, now)).toBeNull();
    const at = endsAt(talk, [quiet.state, speaking.state], END_AFTER_MS, now) ?? 0;
    expect(at - END_AFTER_MS).toBeGreaterThan(now + 7000);
    expect(at - END_AFTER_MS).toBeLessThan(now + 9500);
  });

  it('at once when none of its lanes runs any more', () => {
    const [stopped, live] = [new LaneHarness().goLive(), new LaneHarness().goLive()];
    stopped.stop();
    const talk = beginConversation('voice', live.now, 0);
    expect(endsAt(talk, [stopped.state, live.state], END_AFTER_MS, live.now)).not.toBeNull();
    expect(endsAt(talk, [stopped.state], END_AFTER_MS, live.now)).toBeNull();
  });
});
