import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { finished, ready } from '../../service-events.ts';
import { heardBy } from './heard.ts';
import { CHUNK_MS, LaneHarness } from './lane-harness.ts';
import { testMinuteSessions } from './minute-sessions.ts';
import { nextPcm } from './sound.ts';

const RUNNING = ready();
const EOS = finished();

describe('a rollover', () => {
  it('begins before the limit, and the live session goes on meanwhile', () => {
    const lane = new LaneHarness().goLive({ maxDurationMs: 300_000 });
    const openedAt = lane.last('open_stream').at;
    lane.hush(900);
    expect(lane.phase).toBe('rolling');
    const asked = lane.all('request_token').find(({ reason }) => reason === 'rollover');
    expect(asked?.at).toBe(openedAt + 300_000 - LANE_DEFAULTS.rollLeadMs);
    expect(lane.accounts).toMatchObject({ sent: 900, held: 0 });
  });

  it('happens in a pause: the next session gets speech from there on, the old one silence', () => {
    const lane = new LaneHarness().goReady();
    expect(lane.phase).toBe('rolling');
    lane.speak(3);
    expect(lane.phase).toBe('rolling');
    lane.hush(1);
    expect(lane.phase).toBe('rolling');
    lane.hush(1);
    expect(lane.phase).toBe('live');
    expect(lane.hearing?.id).toBe(2);
    expect(lane.state.oldSession?.stream.id).toBe(1);
    const before = heardBy(lane, 1).length;
    const warm = heardBy(lane, 2).length;
    lane.speak(4);
    expect(heardBy(lane, 2).slice(warm)).toHaveLength(4);
    expect(heardBy(lane, 1).slice(before)).toEqual([null, null, null, null]);
    expect(lane.accounts).toMatchObject({ held: 0, lost: 0, dropped: 0, trimmed: 0 });
    expect(lane.notes.filter((kind) => kind === 'rollover')).toHaveLength(1);
    expect(lane.state.counts).toMatchObject({ rollovers: 1, sessions: 2, failures: 0, takenBack: 0 });
  });

  it('happens in the middle of speech at the latest moment, without a gap', () => {
    const lane = new LaneHarness().goReady();
    const latestAt = (lane.hearing?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (lane.phase === 'rolling') lane.speak(1);
    expect(lane.now - latestAt).toBeLessThanOrEqual(CHUNK_MS);
    expect(lane.now).toBeGreaterThanOrEqual(latestAt);
    expect(lane.state.counts.splits).toBe(1);
    lane.speak(5);
    const sent = lane.all('send_audio').filter(({ capturedAt }) => capturedAt !== null);
    expect(sent.every(({ at, capturedAt }) => at === capturedAt)).toBe(true);
    expect(heardBy(lane, 2).length).toBeGreaterThanOrEqual(5);
  });

  it('happens at a short pause near the latest moment', () => {
    const lane = new LaneHarness().goReady();
    const latestAt = (lane.hearing?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (lane.now < latestAt - 5000) lane.speak(1);
    lane.hush(1);
    lane.speak(1);
    expect(lane.phase).toBe('rolling');
    while (lane.now < latestAt - 3500) lane.speak(1);
    lane.hush(1);
    expect(lane.state).toMatchObject({ session: { kind: 'live', stream: { id: 2 } }, counts: { splits: 0 } });
  });

  it('happens at the deepest breath without a pause before the latest moment', () => {
    const lane = new LaneHarness().goReady();
    const latestAt = (lane.hearing?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    const say = (quietestDb: number): void => {
      lane.pass(CHUNK_MS);
      const levels = { loudestDb: -20, quietestDb };
      lane.step({ type: 'captured', capturedAt: lane.now, pcm: nextPcm(true), levels });
    };
    while (lane.now < latestAt - 6000) say(-30);
    say(-44);
    while (lane.now < latestAt - 3000) say(-30);
    say(-40);
    say(-32);
    expect(lane.phase).toBe('rolling');
    say(-45);
    expect(lane.state).toMatchObject({ session: { kind: 'live', stream: { id: 2 } }, counts: { splits: 1 } });
    expect(lane.now).toBeLessThan(latestAt);
  });

  it('happens at once when the next session is ready late', () => {
    const lane = new LaneHarness().goRolling();
    const latestAt = (lane.hearing?.limitAt ?? 0) - LANE_DEFAULTS.rollLatestMs;
    while (lane.now < latestAt - 3000) lane.speak(1);
    lane.grant();
    lane.open();
    while (lane.now < latestAt + 1000) lane.speak(1);
    expect(lane.phase).toBe('rolling');
    lane.says(RUNNING);
    expect(lane.state).toMatchObject({
      session: { kind: 'live', stream: { id: 2 } },
      oldSession: { stream: { id: 1 } },
    });
  });

  it('ends the old session when it has spoken everything', () => {
    const lane = new LaneHarness().goOldSession();
    lane.understands('a', 1);
    lane.hear('a', 500, true, 1);
    const spokenAt = lane.now;
    lane.until(() => lane.all('end_task').length === 1, 10_000);
    expect(lane.now - spokenAt).toBeLessThanOrEqual(LANE_DEFAULTS.oldSessionDoneMs + 10);
    expect(lane.last('end_task').stream).toBe(1);
    lane.says(EOS, 1);
    expect(lane.state.oldSession).toBeNull();
    expect(lane.phase).toBe('live');
    expect(lane.last('notify')).toMatchObject({ kind: 'session_ended', detail: { cause: 'rollover' } });
    expect(lane.accounts.lost).toBe(0);
    expect(lane.state.counts.takenBack).toBe(0);
  });

  it('ends the old session at once when it has been silent for long and owes nothing', () => {
    const lane = new LaneHarness().goRolling();
    lane.hush(2);
    lane.grant();
    lane.open();
    lane.taskRuns();
    lane.hush(2);
    expect(lane.state.oldSession?.stream.id).toBe(1);
    lane.hush(2);
    expect(lane.last('end_task').stream).toBe(1);
  });

  it('waits for the old session while it sends results, but not beyond its limit', () => {
    const lane = new LaneHarness().goReady();
    const limitAt = lane.hearing?.limitAt ?? 0;
    while (lane.phase === 'rolling') lane.speak(1);
    for (let i = 0; lane.all('end_task').length === 0; i++) {
      lane.hush(1);
      lane.understands(`t${i}`, 1);
      expect(lane.now).toBeLessThan(limitAt);
    }
    expect(limitAt - lane.now).toBeGreaterThan(300);
  });

  it('disconnects an old session that never answers its end_task', () => {
    const lane = new LaneHarness().goOldSession();
    lane.until(() => lane.all('end_task').length === 1, 10_000);
    const { at } = lane.last('end_task');
    lane.until(() => lane.state.oldSession === null, 10_000);
    expect(lane.now - at).toBeLessThanOrEqual(LANE_DEFAULTS.drainMs + 10);
    expect(lane.last('close_stream')).toMatchObject({ stream: 1, how: 'close' });
    expect(lane.phase).toBe('live');
  });

  it('plays the sound of the old session before that of the new one', () => {
    const lane = new LaneHarness().goOldSession();
    lane.hear('a', 1500, true, 1);
    lane.hear('x', 500, true, 2);
    lane.hear('b', 500, true, 1);
    expect(lane.state.playout.utterances.map(({ stream, key }) => `${stream}/${key}`)).toEqual([
      '1/a',
      '1/b',
      '2/x',
    ]);
    lane.pass(4000);
    expect(lane.state.playout.writtenBytes).toBe(2500 * 48);
  });

  it('does not interrupt a sentence of the new session that has begun', () => {
    const lane = new LaneHarness().goOldSession();
    lane.hear('x', 1000, false, 2);
    lane.hear('a', 500, true, 1);
    lane.hear('x', 500, true, 2);
    lane.hear('y', 500, true, 2);
    expect(lane.state.playout.utterances.map(({ stream, key }) => `${stream}/${key}`)).toEqual([
      '2/x',
      '1/a',
      '2/y',
    ]);
  });

  it('begins after half of a session whose limit is nearer than the lead', () => {
    const lane = new LaneHarness().goLive({ maxDurationMs: 20_000 });
    const { now } = lane;
    lane.until(() => lane.phase === 'rolling', 20_000);
    expect(lane.now - now).toBeGreaterThan(9000);
    expect(lane.now - now).toBeLessThan(11_000);
  });

  it('never happens to a session without a limit', () => {
    const lane = new LaneHarness().goLive();
    lane.hush(1000);
    expect(lane.phase).toBe('live');
    expect(lane.all('open_stream')).toHaveLength(1);
  });
});

describe('sessions of 60 s', () => {
  testMinuteSessions(10);
});
