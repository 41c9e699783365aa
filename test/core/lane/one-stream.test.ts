import { describe, expect, it } from 'vitest';
import { behave } from './behaviour.ts';
import { World } from './world.ts';

const LIMIT_MS = 120_000;

/** A lane whose account has room for so many streams, with short sessions and people who speak now and then. */
function runningWorld(room: () => number, refuses: 'at the upgrade' | 'in a message') {
  const world = new World({ orders: { echo: 'off' } });
  behave(world, { maxDurationMs: LIMIT_MS, room, refuses });
  world.start();
  world.until(() => world.phase === 'live', 20_000);
  return world;
}

/** Speaks and pauses until so many more sessions have begun. */
function talkFor(world: World, sessions: number): void {
  const until = world.state.counts.sessions + sessions;
  for (let sentence = 0; world.state.counts.sessions < until; sentence++) {
    if (sentence > 2000) throw new Error('no session begins any more');
    const stream = world.state.stream?.id;
    world.speak(6);
    world.hush(8);
    const { stream: live, retiring } = world.state;
    if (stream === undefined || ![live?.id, retiring?.stream.id].includes(stream)) continue;
    world.understands(`t${sentence}`, stream);
    world.hear(`t${sentence}`, 900, true, stream);
  }
}

const tokens = (world: World): number => new Set(world.all('request_token').map(({ id }) => id)).size;
const refusals = (world: World): number => world.state.counts.failures;

describe('an account with room for one stream', () => {
  it('that refuses at the upgrade costs one token for each session, the first rollover included', () => {
    const world = runningWorld(() => 1, 'at the upgrade');
    for (let rollover = 1; rollover <= 25; rollover++) {
      talkFor(world, 1);
      expect(tokens(world)).toBe(rollover + 1);
    }
    expect(world.state.counts).toMatchObject({ sessions: 26, rollovers: 25, maxDurations: 0 });
    expect(world.accounts).toMatchObject({ lost: 0, dropped: 0 });
  });

  it('that refuses in a message costs a second token in the first rollover and in each tenth after it alone', () => {
    const world = runningWorld(() => 1, 'in a message');
    const perRollover: number[] = [];
    for (let rollover = 1; rollover <= 22; rollover++) {
      const before = tokens(world);
      talkFor(world, 1);
      perRollover.push(tokens(world) - before);
    }
    const dear = perRollover.flatMap((asked, index) => (asked === 1 ? [] : [[index + 1, asked]]));
    expect(dear).toEqual([
      [1, 2],
      [11, 2],
      [21, 2],
    ]);
    expect(world.accounts).toMatchObject({ lost: 0, dropped: 0 });
  });

  it('is asked for room only in each tenth rollover', () => {
    const world = runningWorld(() => 1, 'at the upgrade');
    talkFor(world, 10);
    expect(refusals(world)).toBe(1);
    talkFor(world, 1);
    expect(refusals(world)).toBe(2);
  });

  it('that has room again later: the next try switches beside the live session, and so do those after it', () => {
    let room = 1;
    const world = runningWorld(() => room, 'at the upgrade');
    talkFor(world, 1);
    room = 2;
    expect(world.state.rolloversWithoutRoom).toBe(0);
    talkFor(world, 10);
    expect(world.state.rolloversWithoutRoom).toBeNull();
    const walked = world.walked.length;
    talkFor(world, 3);
    expect(world.walked.slice(walked).map(({ to }) => to)).not.toContain('waiting');
    expect(refusals(world)).toBe(1);
  });
});

describe('a token that was refused for want of room', () => {
  it('is used for the session that comes when there is room', () => {
    const world = new World().goMakingRoom();
    world.end(1000, '', 1);
    world.until(() => world.phase === 'connecting', 2000);
    expect(world.last('open_stream').grant).toBe(world.last('request_token').id);
    expect(tokens(world)).toBe(2);
    world.open();
    world.taskRuns();
    expect(world.phase).toBe('live');
  });

  it('is not used after its window', () => {
    const world = new World().goRolling();
    world.speak(3);
    world.grant({ windowMs: 15_000 });
    world.refuse({ status: 409, texts: ['session_limit_reached'] });
    while (world.phase !== 'waiting') world.speak(1);
    world.end(1000, '', 1);
    world.until(() => world.phase === 'acquiring', 2000);
    expect(tokens(world)).toBe(3);
  });

  it('does not count as a try that did not reach the service', () => {
    const world = new World().goConnecting({ windowMs: 600_000 });
    for (let tries = 0; tries < 5; tries++) {
      world.refuse({ status: 409, texts: ['session_limit_reached'] });
      expect(world.state.lease?.unreached).toBe(0);
      world.until(() => world.phase === 'connecting', 130_000);
    }
    expect(tokens(world)).toBe(1);
    expect(world.notes).not.toContain('unreachable');
  });

  it('is gone where the connection had been opened', () => {
    const world = new World().goConfiguring();
    world.error({ reason: 'session_limit_reached' });
    expect(world.state.lease).toBeNull();
    world.until(() => world.phase === 'acquiring', 10_000);
    expect(tokens(world)).toBe(2);
  });
});
