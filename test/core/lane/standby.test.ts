import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { FORGOTTEN_AFTER_MS } from '../../../src/core/replay/log.ts';
import { behave } from './behaviour.ts';
import { situation } from './situations.ts';
import { CHUNK_MS, World } from './world.ts';

const AFTER_MS = 20_000;
const PREROLL_CHUNKS = LANE_DEFAULTS.prerollMs / CHUNK_MS;
const asleepAfter = (orders = {}) => new World({ orders: { standbyAfterMs: AFTER_MS, ...orders } });

describe('standby', () => {
  it('comes after a time without speech: the stream is ended and costs nothing', () => {
    const world = asleepAfter().goLive();
    world.speak(5);
    const spokeAt = world.now;
    world.hush(3);
    world.understands('a');
    world.hear('a', 800, true);
    world.hush(77);
    expect(world.phase).toBe('standby');
    const { at } = world.last('end_task');
    expect(at - spokeAt).toBeGreaterThanOrEqual(AFTER_MS);
    expect(at - spokeAt).toBeLessThanOrEqual(AFTER_MS + 1500);
    world.says({ message_type: 'eos', data: {} });
    expect(world.state).toMatchObject({ stream: null, retiring: null, counts: { standbys: 1, failures: 0 } });
    expect(world.notes.slice(1)).toEqual(['standby', 'session_ended']);
    expect(world.last('notify').detail).toMatchObject({ cause: 'standby' });
    expect(world.all('close_capture')).toHaveLength(0);
    const sent = world.all('send_audio').length;
    world.hush(1000);
    expect(world.all('send_audio')).toHaveLength(sent);
    expect(world.timers.size).toBe(0);
  });

  it('gives up a token that a try at a rollover left over: the voice that wakes it gets a fresh one', () => {
    const world = new World().goRolling();
    world.grant();
    world.unreach(false);
    expect(world.state.lease).not.toBeNull();
    world.orders({ standbyAfterMs: 1 });
    world.pass(5);
    expect(world.phase).toBe('standby');
    expect(world.state.lease).toBeNull();
    world.speak(3);
    expect(world.phase).toBe('acquiring');
  });

  it('never comes where it is not wanted', () => {
    const world = new World().goLive();
    world.hush(2000);
    expect(world.phase).toBe('live');
  });

  it('is put off by every word', () => {
    const world = asleepAfter().goLive();
    for (let i = 0; i < 10; i++) {
      world.hush(60);
      world.speak(1);
    }
    expect(world.phase).toBe('live');
  });

  it('waits until everything that was said has been sent and spoken and heard', () => {
    const world = asleepAfter({ standbyAfterMs: 2000 }).goConfiguring();
    world.speak(40);
    world.taskRuns();
    world.hush(10);
    expect(world.phase).toBe('live');
    expect(world.accounts.held).toBeGreaterThan(0);
    world.hush(45);
    expect(world.accounts.held).toBe(0);
    expect(world.phase).toBe('live');
    world.understands('a');
    world.hear('a', 8000, true);
    world.hush(10);
    expect(world.phase).toBe('live');
    world.hush(40);
    expect(world.phase).toBe('standby');
    expect(world.accounts).toMatchObject({ lost: 0, dropped: 0 });
  });

  it('waits for a long backlog, however long ago it was said', () => {
    const world = new World({
      settings: { holdMs: 60_000 },
      orders: { standbyAfterMs: 2000 },
    }).goAcquiring();
    world.speak(150);
    world.grant();
    world.open();
    world.taskRuns();
    world.hush(Math.ceil(FORGOTTEN_AFTER_MS / CHUNK_MS) + 20);
    expect(world.phase).toBe('live');
    expect(world.accounts.held).toBeGreaterThan(0);
    world.hush(60);
    expect(world.phase).toBe('standby');
    expect(world.wire).toMatch(/s{150}/);
  });

  it('wakes by a voice, and the first word arrives whole', () => {
    const world = asleepAfter().goStandby();
    world.hush(30);
    const beganAt = world.now;
    world.speak(2);
    expect(world.phase).toBe('acquiring');
    expect(world.notes.at(-1)).toBe('wake');
    expect(world.last('request_token').reason).toBe('start');
    world.speak(6);
    world.grant();
    world.open();
    world.taskRuns();
    world.hush(40);
    const heard = world.all('send_audio').filter(({ stream }) => stream === 2);
    const places = heard.flatMap(({ capturedAt }) => (capturedAt === null ? [] : [capturedAt]));
    // One chunk of the room before it, in case the word began softly, then every chunk of it.
    expect(places.slice(0, 9)).toEqual(Array.from({ length: 9 }, (_, i) => beganAt + i * CHUNK_MS));
    expect(world.accounts).toMatchObject({ lost: 0, dropped: 0 });
  });

  it('keeps the pre-roll and no more', () => {
    const world = asleepAfter().goStandby();
    world.hush(500);
    expect(world.accounts.held).toBe(PREROLL_CHUNKS);
    expect(world.accounts).toMatchObject({
      captured: 500,
      lost: 0,
      dropped: 0,
      trimmed: 500 - PREROLL_CHUNKS,
    });
  });

  it('does not wake by a single loud chunk, however often', () => {
    const world = asleepAfter().goStandby();
    for (let i = 0; i < 50; i++) {
      world.hush(5);
      world.speak(1);
    }
    expect(world.phase).toBe('standby');
    expect(world.all('request_token')).toHaveLength(1);
  });

  it('wakes by two voiced chunks with a breath between them', () => {
    const world = asleepAfter().goStandby();
    world.speak(1);
    world.hush(1);
    world.speak(1);
    expect(world.phase).toBe('acquiring');
  });

  it('does not wake while it is muted', () => {
    const world = asleepAfter({ muted: true }).goStandby();
    world.speak(20);
    expect(world.phase).toBe('standby');
    world.orders({ muted: false });
    world.speak(2);
    expect(world.phase).toBe('acquiring');
  });

  it('sleeps again after a false alarm', () => {
    const world = asleepAfter();
    behave(world);
    world.start();
    world.until(() => world.phase === 'live', 10_000);
    world.hush(70);
    expect(world.phase).toBe('standby');
    world.speak(2);
    world.hush(20 + Math.ceil(FORGOTTEN_AFTER_MS / CHUNK_MS) + 70);
    expect(world.phase).toBe('standby');
    expect(world.state.counts).toMatchObject({ standbys: 2, sessions: 2 });
  });

  it('comes after a rollover, not during one', () => {
    const world = new World({ orders: { standbyAfterMs: 40_000 } }).goRolling();
    world.pass(3000);
    expect(world.phase).toBe('rolling');
    world.grant({ maxDurationMs: 60_000 });
    world.open();
    world.taskRuns();
    world.until(() => world.phase === 'live', 1000);
    expect(world.state.retiring).not.toBeNull();
    // The old session is not asked to go twice, and the new one goes as soon as it is gone.
    world.until(() => world.phase === 'standby', 12_000);
    expect(world.state.counts.sessions).toBe(2);
  });

  it('is not put off for ever by sessions shorter than the wait', () => {
    const world = new World({ orders: { standbyAfterMs: 120_000 } });
    behave(world, { maxDurationMs: 60_000 });
    world.start();
    world.until(() => world.phase === 'live', 10_000);
    world.hush(10);
    world.speak(2);
    world.hush(400);
    expect(world.phase).toBe('standby');
  });

  it('ordered or called off while live or rolling counts at once', () => {
    const world = new World().goRolling();
    world.orders({ standbyAfterMs: 5000 });
    world.says({ message_type: 'session_revoked', data: {} }, 1);
    world.grant();
    world.open();
    world.taskRuns();
    world.orders({ standbyAfterMs: 0 });
    expect(world.timers.has('standby')).toBe(false);
    world.orders({ standbyAfterMs: 5000 });
    world.hush(40);
    expect(world.phase).toBe('standby');
  });

  it('ends at a stop, and the line does not matter meanwhile', () => {
    const world = situation('standby');
    world.line(false);
    world.hush(5);
    expect(world.phase).toBe('standby');
    world.speak(2);
    expect(world.phase).toBe('acquiring');
    expect(world.all('request_token')).toHaveLength(1);
    world.speak(10);
    world.line(true);
    world.pass(1000);
    expect(world.all('request_token')).toHaveLength(2);
    world.stop();
    expect(world.phase).toBe('idle');
    const asleep = situation('standby');
    asleep.stop();
    expect(asleep.phase).toBe('idle');
    expect(asleep.last('close_capture')).toBeDefined();
    expect(asleep.state).toMatchObject({ wanted: false });
  });

  it('that has just begun and a stop: the stream that was ending is closed', () => {
    const world = asleepAfter().goLive();
    world.until(() => world.phase === 'standby', 30_000);
    expect(world.state.retiring?.ending).toBe(true);
    world.stop();
    expect(world.last('close_stream').stream).toBe(1);
    expect(world.timers.size).toBe(0);
  });

  it('that has just begun and a voice: the next stream comes while the old one ends', () => {
    const world = asleepAfter().goLive();
    world.until(() => world.phase === 'standby', 30_000);
    world.speak(2);
    expect(world.phase).toBe('acquiring');
    world.grant();
    world.open();
    world.taskRuns();
    expect(world.phase).toBe('live');
  });

  it('loses what it kept when it is stopped, and counts it', () => {
    const world = situation('standby');
    world.hush(3);
    world.stop();
    expect(world.accounts).toMatchObject({ captured: 3, dropped: 3, lost: 0, held: 0 });
  });
});

describe('a lane that is started by a voice', () => {
  it('listens without a session until somebody speaks', () => {
    const world = asleepAfter({ start: 'voice' });
    world.line(true);
    world.start();
    expect(world.phase).toBe('standby');
    expect(world.all('open_capture')).toHaveLength(1);
    world.hush(100);
    expect(world.all('request_token')).toHaveLength(0);
    world.speak(2);
    world.grant();
    world.open();
    world.taskRuns();
    expect(world.phase).toBe('live');
    world.speak(10);
    expect(world.accounts.lost).toBe(0);
  });
});

describe('a day at a desk', () => {
  it('with bursts of visitors: nothing is lost, and the streams cost little more than the speech', () => {
    const world = new World({ orders: { standbyAfterMs: 10_000, echo: 'off' } });
    behave(world, { maxDurationMs: 60_000 });
    world.start();
    world.hush(60);
    let speechMs = 0;
    let id = 0;
    for (let visitor = 0; visitor < 12; visitor++) {
      world.hush(900);
      expect(world.phase).toBe('standby');
      for (let turn = 0; turn < 12; turn++) {
        world.speak(12);
        world.hush(4);
        speechMs += 16 * CHUNK_MS;
        const stream = world.state.stream?.id;
        if (stream === undefined) continue;
        world.understands(`t${++id}`, stream);
        world.hear(`t${id}`, 800, true, stream);
      }
    }
    world.hush(200);
    const { counts, hold } = world.state;
    expect(hold.accounts).toMatchObject({ lost: 0, dropped: 0 });
    expect(counts.failures).toBe(0);
    expect(counts.standbys).toBe(13);
    expect(world.now).toBeGreaterThan(4_000_000);
    expect(counts.streamMs / speechMs).toBeLessThan(1.75);
  });

  it('does not let the state grow', () => {
    const world = new World({ orders: { standbyAfterMs: 30_000, echo: 'off' } });
    behave(world, { maxDurationMs: 60_000 });
    world.start();
    const sizes: number[] = [];
    for (let hour = 0; hour < 3; hour++) {
      for (let i = 0; i < 200; i++) {
        world.speak(20);
        world.hush(i % 50 === 49 ? 150 : 20);
      }
      sizes.push(JSON.stringify(world.state, (_, value) => (ArrayBuffer.isView(value) ? 0 : value)).length);
      world.log.length = 0;
    }
    expect(world.now).toBeGreaterThan(3 * 2_400_000);
    expect(Math.max(...sizes)).toBeLessThan(40_000);
    expect((sizes[2] ?? 0) - (sizes[0] ?? 0)).toBeLessThan(3000);
  });
});
