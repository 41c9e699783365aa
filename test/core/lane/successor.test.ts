import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { REFUSAL_REASONS } from '../../../src/protocol/service/error.ts';
import { situation } from './situations.ts';
import { CHUNK_MS, World } from './world.ts';

const LIMIT_MS = 60_000;
const OVER = { message_type: 'max_duration_reached', data: {} } as const;
const REVOKED = { message_type: 'session_revoked', data: {} } as const;
const EOS = { message_type: 'eos', data: {} } as const;

describe('the token of the next session', () => {
  it('that comes late, after it was asked for again, still is in time', () => {
    const world = new World().goRolling();
    world.hush(25);
    expect(world.all('request_token').filter(({ reason }) => reason === 'rollover')).toHaveLength(2);
    world.grant();
    world.open();
    world.taskRuns();
    world.hush(2);
    expect(world.state.stream?.id).toBe(2);
  });

  it('that never comes: the session ends, what was said is held, and the request is still up', () => {
    const world = new World().goRolling();
    world.line(false);
    world.speak(40);
    world.says(OVER, 1);
    expect(world.phase).toBe('acquiring');
    world.speak(5);
    world.line(true);
    world.grant();
    world.open();
    world.taskRuns();
    expect(world.phase).toBe('live');
    expect(world.accounts.lost).toBe(0);
    expect(world.state.counts).toMatchObject({ maxDurations: 1, rollovers: 1 });
  });

  it('is denied: asked for again, ever more slowly, and the live session does not mind', () => {
    const world = new World().goRolling();
    const waits: number[] = [];
    for (let i = 0; i < 3 && world.phase === 'rolling'; i++) {
      world.deny();
      expect(world.phase).toBe('live');
      waits.push(world.due('roll'));
      world.until(() => world.phase === 'rolling', 30_000);
    }
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(1000);
    world.speak(3);
    expect(world.accounts.held).toBe(0);
  });

  it('is denied for good: one more try at the last moment, then the recovery table', () => {
    const world = new World().goRolling();
    world.deny({ final: true });
    expect(world.phase).toBe('live');
    expect(world.notes).toContain('refused');
    world.until(() => world.phase === 'rolling', 60_000);
    world.deny({ final: true });
    expect(world.phase).toBe('live');
    world.says(OVER, 1);
    expect(world.phase).toBe('waiting');
    world.comeBack();
    expect(world.phase).toBe('live');
  });

  it('that is for another product is not used, and the live session goes on', () => {
    const world = new World().goRolling();
    world.grant({ intent: 'stt' });
    expect(world.phase).toBe('live');
    expect(world.all('open_stream')).toHaveLength(1);
    expect(world.last('forget_grant').grant).toBe('test-2');
  });

  it('that was not spent is used for the next try', () => {
    const world = new World().goRolling();
    world.grant({ maxDurationMs: LIMIT_MS });
    world.unreach(false);
    expect(world.phase).toBe('live');
    world.until(() => world.phase === 'rolling', 5000);
    expect(world.last('open_stream')).toMatchObject({ stream: 3, grant: 'test-2' });
  });
});

describe('the next session', () => {
  it.each(REFUSAL_REASONS)('refused at the upgrade with %s: the live one goes on', (reason) => {
    const world = new World().goRolling();
    world.speak(1);
    world.grant();
    world.refuse({ status: 403, texts: [reason] });
    expect(world.phase).toBe('live');
    expect(world.state.stream?.id).toBe(1);
    world.speak(3);
    expect(world.accounts.held).toBe(0);
    expect(world.state.stream?.mustGoFirst).toBe(reason.endsWith('limit_reached'));
  });

  it.each([
    ['a close', (world: World) => world.end(1008, 'session_already_used')],
    ['an early message', (world: World) => world.error({ reason: 'session_already_used' })],
    ['a broken connection', (world: World) => world.end()],
    ['no way there', (world: World) => world.unreach(true)],
    ['a revocation', (world: World) => world.says(REVOKED)],
    ['a task it does not take', (world: World) => world.error({ code: 'VALIDATION_ERROR' })],
  ])('that fails by %s while it is set up is tried again', (_, happen) => {
    const world = new World().goRolling();
    world.grant();
    world.open();
    happen(world);
    expect(['live', 'rolling']).toContain(world.phase);
    expect(world.state.stream?.id).toBe(1);
    expect(world.all('close_stream').map(({ stream }) => stream)).toEqual([2]);
    world.until(() => world.phase === 'rolling', 20_000);
    expect(world.state.approach?.stage).toBe('acquiring');
  });

  it.each([['opens'], ['is set up']])('that never %s is given up in time for another try', (what) => {
    const world = new World().goRolling();
    const { limitAt } = world.state.stream ?? {};
    world.grant();
    if (what === 'is set up') world.open();
    while (world.phase === 'rolling') world.speak(1);
    expect(world.state).toMatchObject({ phase: 'live', approach: null, problem: { code: 'setup_timeout' } });
    world.until(() => world.phase === 'rolling', 2000);
    world.grant();
    world.open();
    world.taskRuns();
    expect(world.phase).toBe('rolling');
    world.hush(2);
    expect(world.state).toMatchObject({ phase: 'live', stream: { id: 3 }, retiring: { stream: { id: 1 } } });
    expect(world.now).toBeLessThan((limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs);
    expect(world.accounts).toMatchObject({ lost: 0, held: 0 });
  });

  it('that is never set up, twice: the live one runs to its limit and is recovered from', () => {
    const world = new World().goRolling();
    world.grant();
    world.open();
    while (world.phase === 'rolling') world.speak(1);
    world.until(() => world.phase === 'rolling', 2000);
    world.grant();
    world.open();
    world.speak(35);
    world.says(OVER, 1);
    expect(world.phase).toBe('configuring');
    world.until(() => world.phase === 'waiting', 20_000);
    world.comeBack();
    expect(world.phase).toBe('live');
    expect(world.accounts.lost).toBe(0);
  });

  it('of a service that is known to be slow is waited for', () => {
    const world = new World().goConfiguring({ maxDurationMs: 60_000 });
    world.pass(8000);
    world.taskRuns();
    world.until(() => world.phase === 'rolling', 60_000);
    world.grant();
    world.open();
    world.hush(44);
    expect(world.phase).toBe('rolling');
    world.taskRuns();
    world.hush(2);
    expect(world.state.stream?.id).toBe(2);
  });

  it('that waits for its moment hears silence in real time, and is pinged', () => {
    const world = new World().goReady();
    const sent = world.all('send_audio').length;
    world.speak(20);
    const since = world.all('send_audio').slice(sent);
    expect(since.filter(({ stream, pcm }) => stream === 2 && pcm === null)).toHaveLength(20);
    expect(since.filter(({ stream, pcm }) => stream === 1 && pcm !== null)).toHaveLength(20);
    expect(world.all('ping').filter(({ stream }) => stream === 2).length).toBeGreaterThanOrEqual(2);
    expect(world.accounts.silenced).toBe(0);
  });

  it('that waits and hears silence also where the microphone delivers nothing', () => {
    const world = new World().goReady();
    world.pass(4000);
    const heard = world.all('send_audio').filter(({ stream }) => stream === 2);
    expect(heard.length).toBeGreaterThan(8);
    expect(heard.every(({ pcm }) => pcm === null)).toBe(true);
  });

  it('that no longer answers pings is given up, and the live one goes on', () => {
    const world = new World().goReady();
    world.pongs = false;
    while (world.state.stream?.id === 1 && world.all('close_stream').length === 0) {
      world.speak(1);
      world.step({ type: 'pong', stream: 1 });
    }
    expect(world.last('close_stream')).toMatchObject({ stream: 2 });
    expect(world.state).toMatchObject({ stream: { id: 1 }, problem: { code: 'unresponsive' } });
    world.until(() => world.phase === 'rolling', 5000);
  });

  it('that dies when it is ready is replaced', () => {
    const world = new World().goReady();
    world.end(1006, '', 2);
    expect(world.phase).toBe('live');
    expect(world.state).toMatchObject({ approach: null, stream: { id: 1 } });
    world.until(() => world.phase === 'rolling', 5000);
  });

  it('whose tries fail in a row is tried ever more slowly, and never in a storm', () => {
    let tries = 0;
    for (let seed = 0; seed < 20; seed++) {
      const world = new World({ seed: seed * 7919 }).goRolling();
      world.watchers.push((effect) => {
        if (effect.type === 'request_token') world.after(10, () => world.grant());
        if (effect.type === 'open_stream') world.after(10, () => world.unreach(true));
      });
      world.grant();
      world.pass(16_000);
      tries += world.all('open_stream').length - 1;
    }
    expect(tries / 20).toBeGreaterThan(2);
    expect(tries / 20).toBeLessThan(9);
  });
});

describe('no room for two', () => {
  it('the old session goes first, in a pause; what is said meanwhile is held', () => {
    const world = new World().goRolling();
    world.speak(3);
    world.grant();
    world.refuse({ status: 409, texts: ['session_limit_reached'] });
    world.speak(4);
    expect(world.phase).toBe('live');
    world.hush(2);
    expect(world.phase).toBe('waiting');
    world.speak(5);
    expect(world.accounts.held).toBe(5);
    world.understands('a', 1);
    world.hear('a', 300, true, 1);
    world.until(() => world.all('end_task').length === 1, 5000);
    world.says(EOS, 1);
    world.until(() => world.phase === 'connecting', 1000);
    expect(world.last('open_stream')).toMatchObject({ stream: 3, grant: 'test-2' });
    world.open();
    world.taskRuns();
    world.hush(30);
    expect(world.accounts).toMatchObject({ held: 0, lost: 0, dropped: 0 });
    expect(world.state.counts).toMatchObject({ rollovers: 1, takenBack: 0 });
  });

  it('and no pause: at the latest moment', () => {
    const world = new World().goRolling();
    world.speak(1);
    world.grant();
    world.refuse({ status: 409, texts: ['session_limit_reached'] });
    const latestAt = (world.state.stream?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (world.phase === 'live') world.speak(1);
    expect(world.phase).toBe('waiting');
    expect(Math.abs(world.now - latestAt)).toBeLessThanOrEqual(CHUNK_MS);
  });

  it('and an old session that never goes: the next one comes all the same', () => {
    const world = situation('waiting, retiring');
    world.until(() => world.phase === 'acquiring', 30_000);
    expect(world.state.retiring).toBeNull();
  });

  it('and a stop: both are gone', () => {
    const world = situation('waiting, retiring');
    world.stop();
    expect(world.state).toMatchObject({ phase: 'idle', retiring: null, stream: null });
    expect(world.timers.size).toBe(0);
  });

  it('and a start does not hurry: there is no room yet', () => {
    const world = situation('waiting, retiring');
    world.start();
    expect(world.phase).toBe('waiting');
  });

  it('and the old one breaks off mid-sentence: it is said again to the next', () => {
    const world = situation('waiting, retiring');
    world.end(1006, '', 1);
    expect(world.state.counts.takenBack).toBeGreaterThan(0);
    world.comeBack();
    world.hush(20);
    expect(world.accounts).toMatchObject({ held: 0, lost: 0 });
  });
});
