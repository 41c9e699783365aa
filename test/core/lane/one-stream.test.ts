import { describe, expect, it } from 'vitest';
import { behave } from './behaviour.ts';
import { LaneHarness } from './lane-harness.ts';

const LIMIT_MS = 120_000;

/** A lane whose account has room for this many streams, with short sessions and people who speak now and then. */
function runningDeps(room: () => number, refuses: 'at the upgrade' | 'in a message') {
  const lane = new LaneHarness({ options: { echo: 'off' } });
  behave(lane, { maxDurationMs: LIMIT_MS, room, refuses });
  lane.start();
  lane.until(() => lane.phase === 'live', 20_000);
  return lane;
}

/** Speaks and pauses until this many more sessions have begun. */
function talkFor(lane: LaneHarness, sessions: number): void {
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

const tokens = (lane: LaneHarness): number => new Set(lane.all('request_token').map(({ id }) => id)).size;
const refusals = (lane: LaneHarness): number => lane.state.counts.failures;

describe('an account with room for one stream', () => {
  it('that refuses at the upgrade costs one token for each session, the first rollover included', () => {
    const lane = runningDeps(() => 1, 'at the upgrade');
    for (let rollover = 1; rollover <= 25; rollover++) {
      talkFor(lane, 1);
      expect(tokens(lane)).toBe(rollover + 1);
    }
    expect(lane.state.counts).toMatchObject({ sessions: 26, rollovers: 25, maxDurations: 0 });
    expect(lane.accounts).toMatchObject({ lost: 0, dropped: 0 });
  });

  it('that refuses in a message costs a second token in the first rollover and in each tenth after it alone', () => {
    const lane = runningDeps(() => 1, 'in a message');
    const perRollover: number[] = [];
    for (let rollover = 1; rollover <= 22; rollover++) {
      const before = tokens(lane);
      talkFor(lane, 1);
      perRollover.push(tokens(lane) - before);
    }
    const costly = perRollover.flatMap((asked, index) => (asked === 1 ? [] : [[index + 1, asked]]));
    expect(costly).toEqual([
      [1, 2],
      [11, 2],
      [21, 2],
    ]);
    expect(lane.accounts).toMatchObject({ lost: 0, dropped: 0 });
  });

  it('is asked for room only in each tenth rollover', () => {
    const lane = runningDeps(() => 1, 'at the upgrade');
    talkFor(lane, 10);
    expect(refusals(lane)).toBe(1);
    talkFor(lane, 1);
    expect(refusals(lane)).toBe(2);
  });

  it('that has room again later: the next try switches beside the live session, and so do those after it', () => {
    let room = 1;
    const lane = runningDeps(() => room, 'at the upgrade');
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
});

describe('a token that was refused for want of room', () => {
  it('is used for the session that comes when there is room', () => {
    const lane = new LaneHarness().goMakingRoom();
    lane.end(1000, '', 1);
    lane.until(() => lane.phase === 'connecting', 2000);
    expect(lane.last('open_stream').grant).toBe(lane.last('request_token').id);
    expect(tokens(lane)).toBe(2);
    lane.open();
    lane.taskRuns();
    expect(lane.phase).toBe('live');
  });

  it('is not used after its window', () => {
    const lane = new LaneHarness().goRolling();
    lane.speak(3);
    lane.grant({ windowMs: 15_000 });
    lane.refuse({ status: 409, texts: ['session_limit_reached'] });
    while (lane.phase !== 'waiting') lane.speak(1);
    lane.end(1000, '', 1);
    lane.until(() => lane.phase === 'acquiring', 2000);
    expect(tokens(lane)).toBe(3);
  });

  it('does not count as a try that did not reach the service', () => {
    const lane = new LaneHarness().goConnecting({ windowMs: 600_000 });
    for (let tries = 0; tries < 5; tries++) {
      lane.refuse({ status: 409, texts: ['session_limit_reached'] });
      expect(lane.lease?.unreached).toBe(0);
      lane.until(() => lane.phase === 'connecting', 130_000);
    }
    expect(tokens(lane)).toBe(1);
    expect(lane.notes).not.toContain('unreachable');
  });

  it('is gone where the connection had been opened', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.error({ reason: 'session_limit_reached' });
    expect(lane.lease).toBeNull();
    lane.until(() => lane.phase === 'acquiring', 10_000);
    expect(tokens(lane)).toBe(2);
  });
});
