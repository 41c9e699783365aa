import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { behave } from './behaviour.ts';
import { heardBy } from './heard.ts';
import { nextPcm } from './sound.ts';
import { CHUNK_MS, World } from './world.ts';

const LIMIT_MS = 60_000;
const RUNNING = { message_type: 'current_task', data: { task_status: 'running' } } as const;
const EOS = { message_type: 'eos', data: {} } as const;

/** Milliseconds for which two streams were open at once. */
function overlapMs(world: World): number {
  const spans = world.all('open_stream').map(({ stream, at }) => {
    const closed = world.all('close_stream').find((close) => close.stream === stream);
    return { from: at, until: closed?.at ?? world.now };
  });
  return spans.slice(1).reduce((sum, { from }, i) => sum + Math.max(0, (spans[i]?.until ?? 0) - from), 0);
}

describe('a rollover', () => {
  it('begins before the limit, and the live session goes on meanwhile', () => {
    const world = new World().goLive({ maxDurationMs: 300_000 });
    const openedAt = world.last('open_stream').at;
    world.hush(900);
    expect(world.phase).toBe('rolling');
    const asked = world.all('request_token').find(({ reason }) => reason === 'rollover');
    expect(asked?.at).toBe(openedAt + 300_000 - LANE_DEFAULTS.rollLeadMs);
    expect(world.accounts).toMatchObject({ sent: 900, held: 0 });
  });

  it('happens in a pause: the next session hears from there on, the old one silence', () => {
    const world = new World().goReady();
    expect(world.phase).toBe('rolling');
    world.speak(3);
    expect(world.phase).toBe('rolling');
    world.hush(1);
    expect(world.phase).toBe('rolling');
    world.hush(1);
    expect(world.phase).toBe('live');
    expect(world.state.stream?.id).toBe(2);
    expect(world.state.retiring?.stream.id).toBe(1);
    const before = heardBy(world, 1).length;
    const warm = heardBy(world, 2).length;
    world.speak(4);
    expect(heardBy(world, 2).slice(warm)).toHaveLength(4);
    expect(heardBy(world, 1).slice(before)).toEqual([null, null, null, null]);
    expect(world.accounts).toMatchObject({ held: 0, lost: 0, dropped: 0, trimmed: 0 });
    expect(world.notes.filter((kind) => kind === 'rollover')).toHaveLength(1);
    expect(world.state.counts).toMatchObject({ rollovers: 1, sessions: 2, failures: 0, takenBack: 0 });
  });

  it('happens in the middle of speech at the latest moment, without a gap', () => {
    const world = new World().goReady();
    const latestAt = (world.state.stream?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (world.phase === 'rolling') world.speak(1);
    expect(world.now - latestAt).toBeLessThanOrEqual(CHUNK_MS);
    expect(world.now).toBeGreaterThanOrEqual(latestAt);
    expect(world.state.counts.splits).toBe(1);
    world.speak(5);
    const sent = world.all('send_audio').filter(({ capturedAt }) => capturedAt !== null);
    expect(sent.every(({ at, capturedAt }) => at === capturedAt)).toBe(true);
    expect(heardBy(world, 2).length).toBeGreaterThanOrEqual(5);
  });

  it('happens at a short pause where the latest moment is near', () => {
    const world = new World().goReady();
    const latestAt = (world.state.stream?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (world.now < latestAt - 5000) world.speak(1);
    world.hush(1);
    world.speak(1);
    expect(world.phase).toBe('rolling');
    while (world.now < latestAt - 3500) world.speak(1);
    world.hush(1);
    expect(world.state).toMatchObject({ phase: 'live', stream: { id: 2 }, counts: { splits: 0 } });
  });

  it('happens at the deepest breath where nobody pauses before the latest moment', () => {
    const world = new World().goReady();
    const latestAt = (world.state.stream?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    const say = (quietestDb: number): void => {
      world.pass(CHUNK_MS);
      const levels = { loudestDb: -20, quietestDb };
      world.step({ type: 'captured', capturedAt: world.now, pcm: nextPcm(true), levels });
    };
    while (world.now < latestAt - 6000) say(-30);
    say(-44);
    while (world.now < latestAt - 3000) say(-30);
    say(-40);
    say(-32);
    expect(world.phase).toBe('rolling');
    say(-45);
    expect(world.state).toMatchObject({ phase: 'live', stream: { id: 2 }, counts: { splits: 1 } });
    expect(world.now).toBeLessThan(latestAt);
  });

  it('to a session that is ready late happens at once', () => {
    const world = new World().goRolling();
    const latestAt = (world.state.stream?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (world.now < latestAt - 3000) world.speak(1);
    world.grant();
    world.open();
    while (world.now < latestAt + 1000) world.speak(1);
    expect(world.phase).toBe('rolling');
    world.says(RUNNING);
    expect(world.state).toMatchObject({ phase: 'live', stream: { id: 2 }, retiring: { stream: { id: 1 } } });
  });

  it('ends the old session when it has spoken everything', () => {
    const world = new World().goRetiring();
    world.understands('a', 1);
    world.hear('a', 500, true, 1);
    const spokenAt = world.now;
    world.until(() => world.all('end_task').length === 1, 10_000);
    expect(world.now - spokenAt).toBeLessThanOrEqual(LANE_DEFAULTS.retireDoneMs + 10);
    expect(world.last('end_task').stream).toBe(1);
    world.says(EOS, 1);
    expect(world.state.retiring).toBeNull();
    expect(world.phase).toBe('live');
    expect(world.last('notify')).toMatchObject({ kind: 'session_ended', detail: { cause: 'rollover' } });
    expect(world.accounts.lost).toBe(0);
    expect(world.state.counts.takenBack).toBe(0);
  });

  it('ends the old session at once when it has been silent for long and owes nothing', () => {
    const world = new World().goRolling();
    world.hush(2);
    world.grant();
    world.open();
    world.taskRuns();
    world.hush(2);
    expect(world.state.retiring?.stream.id).toBe(1);
    world.hush(2);
    expect(world.last('end_task').stream).toBe(1);
  });

  it('waits for the old session as long as it has news, but not beyond its limit', () => {
    const world = new World().goReady();
    const limitAt = world.state.stream?.limitAt ?? 0;
    while (world.phase === 'rolling') world.speak(1);
    for (let i = 0; world.all('end_task').length === 0; i++) {
      world.hush(1);
      world.understands(`t${i}`, 1);
      expect(world.now).toBeLessThan(limitAt);
    }
    expect(limitAt - world.now).toBeGreaterThan(300);
  });

  it('cuts an old session that never answers its end_task', () => {
    const world = new World().goRetiring();
    world.until(() => world.all('end_task').length === 1, 10_000);
    const { at } = world.last('end_task');
    world.until(() => world.state.retiring === null, 10_000);
    expect(world.now - at).toBeLessThanOrEqual(LANE_DEFAULTS.drainMs + 10);
    expect(world.last('close_stream')).toMatchObject({ stream: 1, how: 'close' });
    expect(world.phase).toBe('live');
  });

  it('plays what the old session says before what the new one says', () => {
    const world = new World().goRetiring();
    world.hear('a', 1500, true, 1);
    world.hear('x', 500, true, 2);
    world.hear('b', 500, true, 1);
    expect(world.state.playout.utterances.map(({ stream, key }) => `${stream}/${key}`)).toEqual([
      '1/a',
      '1/b',
      '2/x',
    ]);
    world.pass(4000);
    expect(world.state.playout.writtenBytes).toBe(2500 * 48);
  });

  it('does not cut a sentence of the new session that has begun', () => {
    const world = new World().goRetiring();
    world.hear('x', 1000, false, 2);
    world.hear('a', 500, true, 1);
    world.hear('x', 500, true, 2);
    world.hear('y', 500, true, 2);
    expect(world.state.playout.utterances.map(({ stream, key }) => `${stream}/${key}`)).toEqual([
      '2/x',
      '1/a',
      '2/y',
    ]);
  });

  it('leaves half of a session whose limit is nearer than the lead to the session', () => {
    const world = new World().goLive({ maxDurationMs: 20_000 });
    const { now } = world;
    world.until(() => world.phase === 'rolling', 20_000);
    expect(world.now - now).toBeGreaterThan(9000);
    expect(world.now - now).toBeLessThan(11_000);
  });

  it('never happens to a session without a limit', () => {
    const world = new World().goLive();
    world.hush(4000);
    expect(world.phase).toBe('live');
    expect(world.all('open_stream')).toHaveLength(1);
  });
});

describe('sessions of 60 s over an hour', () => {
  it('send every chunk exactly once, with little overlap and no gap', () => {
    const world = new World({ orders: { echo: 'off' } });
    behave(world, { maxDurationMs: LIMIT_MS });
    world.start();
    world.until(() => world.phase === 'live', 10_000);
    let sentence = 0;
    while (world.now < 3_650_000) {
      world.speak(4 + ((sentence * 7) % 23));
      world.hush(1 + ((sentence * 5) % 6));
      // What was said is understood and spoken by the session that heard it.
      const id = `t${sentence++}`;
      const stream = world.state.stream?.id ?? 0;
      world.understands(id, stream);
      world.after(2500, () => world.hear(id, 900, true, stream));
    }
    world.hush(60);
    const sent = world.all('send_audio').filter(({ capturedAt }) => capturedAt !== null);
    const places = sent.map(({ capturedAt }) => capturedAt ?? 0);
    const late = sent.map(({ at, capturedAt }) => at - (capturedAt ?? 0));
    const { counts, hold } = world.state;
    expect(new Set(places).size).toBe(places.length);
    expect(places).toHaveLength(hold.accounts.captured);
    expect(counts).toMatchObject({ takenBack: 0, failures: 0, maxDurations: 0 });
    expect(counts.sessions).toBeGreaterThan(80);
    // No gap: each chunk goes out as it is captured. Overlap: set-up, the wait for a pause, and the old one's last words.
    expect(Math.max(...late)).toBeLessThanOrEqual(1);
    expect(overlapMs(world) / (counts.sessions - 1)).toBeLessThan(12_000);
  });
});
