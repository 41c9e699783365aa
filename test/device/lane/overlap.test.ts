import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { finished, limit, ready, refused } from '../../service-events.ts';
import { heardBy } from './heard.ts';
import { LaneHarness } from './lane-harness.ts';
import { situation } from './situations.ts';

const LIMIT_MS = 60_000;
const RUNNING = ready();
const OVER = limit('max_duration');
const REVOKED = limit('revoked');
const EOS = finished();

describe('the live session fails', () => {
  it.each([
    ['rolling', 'acquiring'],
    ['rolling, connecting', 'connecting'],
    ['rolling, configuring', 'configuring'],
  ] as const)('while %s: the lane is %s and goes on from there', (name, phase) => {
    const lane = situation(name);
    lane.speak(4);
    lane.says(REVOKED, 1);
    expect(lane.phase).toBe(phase);
    expect(lane.state.counts).toMatchObject({ revocations: 1, takenBack: 4 });
    if (phase === 'acquiring') lane.grant();
    if (phase !== 'configuring') lane.open();
    lane.taskRuns();
    expect(lane.phase).toBe('live');
    lane.hush(20);
    expect(lane.accounts).toMatchObject({ held: 0, lost: 0 });
    expect(heardBy(lane, 2).slice(0, 4)).toEqual(heardBy(lane, 1).slice(-4));
  });

  it('while the next one is ready: it takes over at once', () => {
    const lane = new LaneHarness().goReady();
    lane.end('cut', {}, 1);
    expect(lane.state).toMatchObject({ session: { kind: 'live', stream: { id: 2 } }, oldSession: null });
    expect(lane.state.counts.takenBack).toBe(6);
    lane.speak(2);
    lane.hush(15);
    expect(heardBy(lane, 2).slice(0, 8)).toEqual([
      ...heardBy(lane, 1).slice(-6),
      ...heardBy(lane, 2).slice(6, 8),
    ]);
    expect(lane.accounts.held).toBe(0);
  });

  it('for a reason that would park the lane: the next one takes over', () => {
    const lane = new LaneHarness().goReady();
    lane.says(refused('intent_mismatch'), 1);
    expect(lane.phase).toBe('live');
    expect(lane.notes).not.toContain('parked');
  });
});

describe('an old session', () => {
  it('ends cleanly in the middle of a sentence: the missing part is counted', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goReady();
    lane.understands('a', 1);
    lane.translates('a', 60, 1);
    lane.hear('a', 1600, false, 1);
    lane.hush(10);
    lane.until(() => lane.all('end_task').length > 0, 20_000);
    expect(lane.notes).not.toContain('unspoken');
    lane.says(EOS, 1);
    expect(lane.state.counts.takenBack + lane.state.counts.unspokenMs).toBeGreaterThan(0);
  });

  it.each([
    ['dies', (lane: LaneHarness) => lane.end('cut', {}, 1)],
    ['is revoked', (lane: LaneHarness) => lane.says(REVOKED, 1)],
    ['reaches its limit', (lane: LaneHarness) => lane.says(OVER, 1)],
    ['ends by itself', (lane: LaneHarness) => lane.says(EOS, 1)],
  ])(
    '%s in a pause: its unspoken speech goes to the next one, which has heard nothing newer',
    (_, happen) => {
      const lane = new LaneHarness().goOldSession();
      happen(lane);
      expect(lane.state).toMatchObject({
        session: { kind: 'live' },
        oldSession: null,
        counts: { failures: 0 },
      });
      expect(lane.state.counts.takenBack).toBeGreaterThanOrEqual(6);
      lane.hush(20);
      expect(heardBy(lane, 2).filter((at) => heardBy(lane, 1).includes(at)).length).toBeGreaterThanOrEqual(6);
      expect(lane.accounts).toMatchObject({ held: 0, lost: 0 });
    },
  );

  it('fails when the next one has heard newer speech: its unspoken speech is replayed late', () => {
    const lane = new LaneHarness().goOldSession();
    lane.speak(2);
    lane.end('cut', {}, 1);
    const { takenBack } = lane.state.counts;
    expect(takenBack).toBeGreaterThanOrEqual(6);
    lane.hush(20);
    const again = heardBy(lane, 2).filter((at) => at !== null && heardBy(lane, 1).includes(at));
    expect(again).toHaveLength(takenBack);
    expect(lane.accounts).toMatchObject({ held: 0, lost: 0 });
  });

  it('fails, and the next one too: all speech is replayed in its original order', () => {
    const lane = new LaneHarness().goOldSession();
    lane.speak(3);
    lane.end('cut', {}, 1);
    lane.speak(2);
    lane.end('cut', {}, 2);
    const held = lane.state.backlog.chunks.map(({ seq }) => seq);
    expect(held.length).toBeGreaterThanOrEqual(11);
    expect(held).toEqual(held.toSorted((one, other) => one - other));
  });

  it('falls silent with unspoken speech: it is pinged, and the next one replays the speech', () => {
    const lane = new LaneHarness().goOldSession();
    lane.pongs = false;
    lane.hush(20);
    expect(lane.all('ping').filter(({ stream, at }) => stream === 1 && at > lane.now - 5000)).toHaveLength(1);
    expect(lane.all('end_task')).toHaveLength(0);
    expect(lane.state).toMatchObject({ session: { kind: 'live', stream: { id: 2 } }, oldSession: null });
    expect(lane.state.counts.takenBack).toBeGreaterThanOrEqual(6);
  });

  it('sends no result and answers pings: it is ended cleanly, and the speech counts as noise', () => {
    const lane = new LaneHarness().goOldSession();
    lane.hush(16);
    expect(lane.last('end_task').stream).toBe(1);
    lane.says(EOS, 1);
    expect(lane.state).toMatchObject({
      session: { kind: 'live' },
      oldSession: null,
      counts: { takenBack: 0 },
    });
  });

  it('fell silent in the middle of speech and ends cleanly: the next one replays the speech', () => {
    const lane = new LaneHarness();
    lane.isSpeech = true;
    lane.goOldSession();
    lane.hush(16);
    expect(lane.last('end_task').stream).toBe(1);
    lane.says(EOS, 1);
    expect(lane.state).toMatchObject({ session: { kind: 'live' }, oldSession: null });
    expect(lane.state.counts.takenBack).toBeGreaterThanOrEqual(6);
    expect(lane.all('notify').find(({ kind }) => kind === 'session_ended')).toMatchObject({
      detail: { cause: 'silent_service' },
    });
  });

  it.each([
    ['es', 12, true],
    ['es', 6, false],
    ['fr', 0, true],
  ])('sent a Spanish text without sound and ends cleanly; it has spoken %s', (voice, again, isSure) => {
    const lane = new LaneHarness({ options: { echo: 'off', targets: ['es', 'fr'] } });
    lane.isSpeech = isSure;
    lane.goReady();
    lane.understands('a', 1);
    lane.speak(6);
    lane.hush(4);
    lane.until(() => lane.state.oldSession !== null, 20_000);
    lane.understands('b', 1);
    lane.translates('b', 60, 1);
    lane.hear('a', 2400, true, 1, 'a', voice);
    lane.until(() => lane.all('end_task').length > 0, 20_000);
    lane.says(EOS, 1);
    expect(lane.state.counts.takenBack).toBeGreaterThanOrEqual(again);
    expect(lane.notes.includes('unspoken')).toBe(again === 0);
    const ended = lane.all('notify').filter(({ kind }) => kind === 'session_ended');
    expect(ended.at(-1)?.detail).toMatchObject({ cause: 'rollover' });
  });

  it('heard noise by the voice detector, and ends cleanly: nothing is replayed', () => {
    const lane = new LaneHarness();
    lane.isSpeech = false;
    lane.goOldSession();
    lane.hush(16);
    lane.says(EOS, 1);
    expect(lane.state).toMatchObject({ oldSession: null, counts: { takenBack: 0 } });
    expect(lane.last('notify')).toMatchObject({ detail: { cause: 'rollover' } });
  });

  it('breaks off while a visitor speaks: a pause before and after separates the replayed speech', () => {
    const lane = new LaneHarness().goOldSession();
    const from = lane.all('send_audio').length;
    lane.speak(4);
    lane.end('cut', {}, 1);
    lane.speak(14);
    lane.hush(20);
    const wire = lane
      .all('send_audio')
      .slice(from)
      .filter(({ stream }) => stream === lane.stream)
      .map(({ pcm, capturedAt }) => (capturedAt === null || pcm === null ? '.' : 's'))
      .join('');
    expect(wire).toMatch(/^s{4}\.{3}s{8}\.s{14}/);
  });

  it('fails before its clean end: the next one replays the speech that it owes', () => {
    const lane = new LaneHarness().goOldSession();
    lane.until(() => lane.all('end_task').length === 1, 10_000);
    lane.end('cut', {}, 1);
    expect(lane.state.counts.takenBack).toBeGreaterThanOrEqual(6);
  });

  it('fails after it was asked to end: it had nothing left to say', () => {
    const lane = new LaneHarness().goOldSession();
    lane.until(() => lane.all('end_task').length === 1, 10_000);
    lane.end('closed', {}, 1);
    expect(lane.state).toMatchObject({ oldSession: null, counts: { takenBack: 0, failures: 0 } });
  });

  it('never answers its end_task: the next one replays the speech that it owes', () => {
    const lane = new LaneHarness().goOldSession();
    lane.hush(16);
    expect(lane.last('end_task').stream).toBe(1);
    lane.pass(LANE_DEFAULTS.drainMs);
    expect(lane.state).toMatchObject({
      session: { kind: 'live' },
      oldSession: null,
      counts: { failures: 0 },
    });
    expect(lane.state.counts.takenBack).toBeGreaterThanOrEqual(6);
  });

  it('sends an error: it is ignored', () => {
    const lane = new LaneHarness().goOldSession();
    lane.says(refused('service_timeout'), 1);
    lane.says(refused('intent_mismatch'), 1);
    expect(lane.state).toMatchObject({
      session: { kind: 'live' },
      problem: null,
      oldSession: { stream: { id: 1 } },
    });
  });

  it('is closed at a stop', () => {
    const lane = new LaneHarness().goOldSession();
    lane.stop();
    expect(lane.state).toMatchObject({ session: { kind: 'draining' }, oldSession: null });
    expect(lane.last('end_task').stream).toBe(2);
  });

  it('is closed before a third session begins', () => {
    const lane = new LaneHarness().goReady({ maxDurationMs: LIMIT_MS });
    lane.end('cut', {}, 2);
    lane.until(() => lane.phase === 'rolling', 5000);
    lane.grant({ maxDurationMs: 4000 });
    lane.open();
    lane.taskRuns();
    lane.hush(2);
    expect(lane.state.oldSession?.stream.id).toBe(1);
    while (lane.phase === 'live') {
      lane.pass(50);
      lane.understands(null, 1);
    }
    expect(lane.phase).toBe('rolling');
    expect(lane.state.oldSession).toBeNull();
  });
});

describe('other languages', () => {
  it.each(['rolling', 'rolling, connecting', 'rolling, configuring', 'rolling, ready'])(
    'ordered while %s: the live session gets the task, the next one begins again',
    (name) => {
      const lane = situation(name);
      lane.options({ targets: ['fr'] });
      expect(lane.phase).toBe('configuring');
      expect(lane.last('send_task')).toMatchObject({ stream: 1, targets: ['fr'] });
      expect(lane.setup).toBeNull();
      lane.until(
        () => lane.all('poll_task').some(({ at, stream }) => stream === 1 && at >= lane.last('send_task').at),
        10_000,
      );
      lane.says(RUNNING, 1);
      // The rollover became due meanwhile.
      expect(lane.phase).toBe('rolling');
      expect(lane.hearing).toMatchObject({ id: 1, confirmedTask: { targets: ['fr'] } });
      lane.grant();
      lane.open();
      expect(lane.last('send_task').targets).toEqual(['fr']);
    },
  );

  it('ordered while the old one finishes: only the new one gets the task', () => {
    const lane = new LaneHarness().goOldSession();
    lane.options({ targets: ['fr'] });
    lane.pass(3000);
    expect(lane.last('send_task')).toMatchObject({ stream: 2, targets: ['fr'] });
    lane.taskRuns();
    expect(lane.phase).toBe('live');
  });
});
