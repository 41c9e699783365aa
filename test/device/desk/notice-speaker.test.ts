import { describe, expect, it } from 'vitest';
import { CommandError } from '../../../src/device/commands/command-request.ts';
import { createNoticeSpeaker } from '../../../src/device/desk/notice-speaker.ts';
import type { LaneRunner } from '../../../src/device/lane/runner/lane-runner.ts';
import { createVirtualClock } from '../../virtual-clock.ts';
import { testConfig } from '../fake-deps.ts';
import { LaneHarness } from '../lane/lane-harness.ts';

const noticeIn = (language: string) => ({ language, text: `notice in ${language}` });

/** Two desks with one lane each, at both of which no person speaks. */
function twoDesks() {
  // Later than the last step of the lanes.
  const clock = createVirtualClock(60_000);
  const config = testConfig({ playback: { driver: 'alsa', device: 'default' } });
  const spoken: string[] = [];
  const trouble: { thrown: Error | null } = { thrown: null };
  const notices = createNoticeSpeaker({
    clock,
    config: () => config,
    says: {
      say([lane], { language }) {
        if (trouble.thrown !== null) throw trouble.thrown;
        spoken.push(`${lane?.id} ${language}`);
        return Promise.resolve([0]);
      },
    },
  });
  const laneOf = (id: string): LaneRunner => {
    const harness = new LaneHarness().goLive();
    harness.hush(12);
    return { id, state: harness.state } as unknown as LaneRunner;
  };
  const [left, right] = [laneOf('left'), laneOf('right')];
  const want = (lane: LaneRunner, language: string): void => notices.want(lane, [lane], noticeIn(language));
  return { clock, notices, spoken, trouble, left, right, want };
}

describe('the notice of a desk', () => {
  it('is spoken in the last language alone when the visitor has chosen another one before it could begin', () => {
    const { clock, spoken, left, want } = twoDesks();
    want(left, 'es');
    want(left, 'fr');
    clock.advance(2000);
    expect(spoken).toEqual(['left fr']);
    expect(clock.armed).toBe(0);
  });

  it('still waits when the conversation at another desk ends', () => {
    const { clock, notices, spoken, left, right, want } = twoDesks();
    want(left, 'es');
    want(right, 'fr');
    notices.end([left]);
    clock.advance(2000);
    expect(spoken).toEqual(['right fr']);
  });

  it('is spoken once in a conversation, also when one at another desk has ended meanwhile', () => {
    const { clock, notices, spoken, left, right, want } = twoDesks();
    want(right, 'fr');
    clock.advance(2000);
    notices.end([left]);
    want(right, 'fr');
    clock.advance(2000);
    expect(spoken).toEqual(['right fr']);
    notices.end([right]);
    want(right, 'fr');
    clock.advance(2000);
    expect(spoken).toEqual(['right fr', 'right fr']);
  });

  it('may be refused at once, and a defect at that moment is passed on', () => {
    const { clock, trouble, left, right, want } = twoDesks();
    trouble.thrown = new CommandError('busy', 'too many texts wait');
    want(left, 'es');
    clock.advance(2000);
    trouble.thrown = new TypeError('a bug');
    want(right, 'fr');
    expect(() => clock.advance(2000)).toThrow('a bug');
  });

  it('is not spoken after the close, which leaves no timer', () => {
    const { clock, notices, spoken, left, want } = twoDesks();
    want(left, 'es');
    notices.close();
    expect(clock.armed).toBe(0);
    clock.advance(2000);
    expect(spoken).toEqual([]);
  });
});
