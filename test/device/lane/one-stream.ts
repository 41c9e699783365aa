import { expect, it } from 'vitest';
import { behave } from './behaviour.ts';
import { LaneHarness } from './lane-harness.ts';

const SHORT_MS = 60_000;

/** A lane whose account allows this many streams, with short sessions and some speech. */
export function runningDeps(
  room: () => number,
  refuses: 'at the upgrade' | 'in a message',
  limitMs = SHORT_MS,
) {
  const lane = new LaneHarness({ options: { echo: 'off' } });
  behave(lane, { maxDurationMs: limitMs, room, refuses });
  lane.start();
  lane.until(() => lane.phase === 'live', 20_000);
  return lane;
}

/** Speaks and pauses until this many more sessions have begun. */
export function talkFor(lane: LaneHarness, sessions: number): void {
  const until = lane.state.counts.sessions + sessions;
  for (let sentence = 0; lane.state.counts.sessions < until; sentence++) {
    if (sentence > 2000) throw new Error('no session begins any more');
    const stream = lane.hearing?.id;
    lane.speak(6);
    lane.hush(8);
    const { oldSession } = lane.state;
    const live = lane.hearing;
    if (stream === undefined || ![live?.id, oldSession?.stream.id].includes(stream)) continue;
    lane.understands(`t${sentence}`, stream);
    lane.hear(`t${sentence}`, 900, true, stream);
  }
}

export const tokens = (lane: LaneHarness): number =>
  new Set(lane.all('request_token').map(({ id }) => id)).size;

const refusals = (lane: LaneHarness): number => lane.state.counts.failures;

/** @param given number of rollovers, and the limit of a session */
export function testTokens(given: { atUpgrade: number; inMessage: number; limitMs?: number }): void {
  it('needs one token for each session when it refuses at the upgrade, also for the first rollover', () => {
    const lane = runningDeps(() => 1, 'at the upgrade', given.limitMs);
    for (let rollover = 1; rollover <= given.atUpgrade; rollover++) {
      talkFor(lane, 1);
      expect(tokens(lane)).toBe(rollover + 1);
    }
    expect(lane.state.counts).toMatchObject({
      sessions: given.atUpgrade + 1,
      rollovers: given.atUpgrade,
      maxDurations: 0,
    });
    expect(lane.accounts).toMatchObject({ lost: 0, dropped: 0 });
  });

  it('needs a second token only for the first and each tenth rollover when it refuses in a message', () => {
    const lane = runningDeps(() => 1, 'in a message', given.limitMs);
    const perRollover: number[] = [];
    for (let rollover = 1; rollover <= given.inMessage; rollover++) {
      const before = tokens(lane);
      talkFor(lane, 1);
      perRollover.push(tokens(lane) - before);
    }
    expect(perRollover).toHaveLength(given.inMessage);
    expect(perRollover).toEqual(perRollover.map((_, index) => (index % 10 === 0 ? 2 : 1)));
    expect(lane.accounts).toMatchObject({ lost: 0, dropped: 0 });
  });
}

/** When a second stream is tried on such an account. */
export function testRoom(limitMs?: number): void {
  it('gets a second stream requested only in each tenth rollover', () => {
    const lane = runningDeps(() => 1, 'at the upgrade', limitMs);
    talkFor(lane, 10);
    expect(refusals(lane)).toBe(1);
    talkFor(lane, 1);
    expect(refusals(lane)).toBe(2);
  });

  it('allows two streams again later: the next attempt switches beside the live session, and so do later ones', () => {
    let room = 1;
    const lane = runningDeps(() => room, 'at the upgrade', limitMs);
    talkFor(lane, 1);
    room = 2;
    expect(lane.state.rolloversWithoutRoom).toBe(0);
    talkFor(lane, 10);
    expect(lane.state.rolloversWithoutRoom).toBeNull();
    const walked = lane.walked.length;
    talkFor(lane, 3);
    expect(lane.walked.slice(walked).map(({ to }) => to)).not.toContain('waiting');
    expect(refusals(lane)).toBe(1);
  });
}
