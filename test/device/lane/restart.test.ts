import { describe, expect, it } from 'vitest';
import { step } from '../../../src/device/lane/machine.ts';
import { owedChunks } from '../../../src/device/lane/replay/owed.ts';
import { emptyReplayLog } from '../../../src/device/lane/replay/replay-log.ts';
import { phaseOf } from '../../../src/device/lane/state/session-state.ts';
import { laneStatus } from '../../../src/device/status/status-rules.ts';
import { LaneHarness } from './lane-harness.ts';

describe('a step that threw', () => {
  it('closes everything that the lane had open, and restarts after a wait', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(3);
    const stream = lane.stream;
    lane.crash();
    expect(lane.phase).toBe('restarting');
    expect(lane.last('close_stream')).toMatchObject({ stream, how: 'terminate' });
    expect(lane.all('close_capture')).toHaveLength(1);
    expect([...lane.timers.keys()]).toEqual(['retry']);
    expect(lane.due('retry')).toBeLessThanOrEqual(2000);
    lane.until(() => lane.phase === 'acquiring', 2000);
    expect(lane.all('open_capture')).toHaveLength(2);
    lane.grant();
    lane.open();
    lane.taskRuns();
    expect(lane.phase).toBe('live');
    lane.speak(2);
    expect(lane.state.problem).toBeNull();
  });

  it.each(['session', 'oldSession', 'timers', 'backlog', 'playout'])(
    'is survived when the restart throws, too, because of its %s: the lane is rebuilt from settings and counts',
    (broken) => {
      const lane = new LaneHarness().goLive();
      lane.speak(3);
      lane.options({ targets: ['fr'] });
      const { counts } = lane.state;
      const state = Object.defineProperty({ ...lane.state }, broken, {
        enumerable: true,
        get(): never {
          throw new TypeError('broken');
        },
      });
      const made = step(state, { type: 'defect', where: 'captured: TypeError' }, lane.now);
      expect(made.state).toMatchObject({
        session: { kind: 'restarting' },
        wanted: true,
        options: { targets: ['fr'] },
        counts: { ...counts, defects: 1 },
        problem: { code: 'internal_error' },
      });
      const kinds = made.effects.map((effect) => (effect.type === 'notify' ? effect.kind : effect.type));
      for (const kind of ['close_stream', 'close_capture', 'internal_error', 'arm'])
        expect(kinds).toContain(kind);
      const { retry } = made.state.timers;
      const again = step(made.state, { type: 'timer', timer: 'retry' }, retry ?? 0);
      expect(phaseOf(again.state.session)).toBe('acquiring');
      expect(again.effects.map(({ type }) => type)).toContain('request_token');
    },
  );

  it('still obeys the stop or shutdown of that step when the restart throws, too', () => {
    for (const [type, phase] of [
      ['stop', 'idle'],
      ['shutdown', 'closed'],
    ] as const) {
      const { state, now } = new LaneHarness().goLive();
      const broken = { ...state, backlog: null as never };
      const made = step(broken, { type: 'defect', where: 'stop: TypeError', during: { type } }, now);
      expect(made.state).toMatchObject({ session: { kind: phase }, wanted: false });
    }
  });

  it('is reported as an event, a reason, the last error and a count', () => {
    const lane = new LaneHarness().goLive();
    lane.crash();
    expect(lane.last('notify')).toMatchObject({
      kind: 'internal_error',
      detail: { message: expect.stringMatching(/defect of the program.*captured: TypeError/), lost_ms: 0 },
    });
    expect(lane.notes).toContain('session_ended');
    expect(laneStatus(lane.state, lane.now)).toMatchObject({
      status: 'degraded',
      reasons: [{ code: 'internal_error' }],
    });
    expect(lane.state.problem?.code).toBe('internal_error');
    expect(lane.state.counts.defects).toBe(1);
  });

  it('counts the held speech as lost', () => {
    const lane = new LaneHarness().goWaiting();
    lane.forgetPlans();
    for (let i = 0; i < 3; i++) lane.capture(true);
    expect(lane.accounts.held).toBe(3);
    lane.crash();
    expect(lane.accounts).toMatchObject({ held: 0, dropped: 3, lost: 3 });
    expect(lane.last('notify').detail).toMatchObject({ lost_ms: 960 });
  });

  it('counts the unspoken speech of the stream as lost, too, and reports both together', () => {
    const lane = new LaneHarness({ options: { echo: 'off' } }).goLive();
    lane.speak(4);
    lane.hush(3);
    lane.understands('a');
    lane.hear('a', 900, true);
    lane.speak(5);
    lane.crash();
    expect(lane.accounts).toMatchObject({ held: 0, lost: 5 });
    expect(lane.last('notify').detail).toMatchObject({ lost_ms: 1600 });
    expect(laneStatus(lane.state, lane.now).reasons).toContainEqual({
      code: 'speech_lost',
      detail: 'internal_error',
    });
    lane.comeBack();
    lane.hush(40);
    expect(lane.all('notify').filter(({ kind }) => kind === 'speech_lost')).toMatchObject([
      { detail: { lost_ms: 1600, cause: 'internal_error' } },
    ]);
  });

  it('counts the unspoken speech of an old stream as lost', () => {
    const lane = new LaneHarness().goOldSession();
    const owed = owedChunks(lane.state.oldSession?.stream.replay ?? emptyReplayLog([], 0));
    const voiced = owed.filter((chunk) => chunk.voiced).length;
    expect(voiced).toBeGreaterThan(3);
    lane.crash();
    expect(lane.accounts.lost).toBe(voiced);
  });

  it('still applies a start, a connection or an order of that step', () => {
    const lane = new LaneHarness();
    lane.crash({ type: 'broker', up: true });
    lane.crash({ type: 'options', options: { muted: true } });
    expect(lane.phase).toBe('idle');
    lane.crash({ type: 'start' });
    expect(lane.phase).toBe('restarting');
    lane.until(() => lane.phase === 'acquiring', 10_000);
    expect(lane.all('request_token')).toHaveLength(1);
    lane.comeBack();
    expect(lane.state).toMatchObject({ session: { kind: 'live' }, wanted: true, options: { muted: true } });
  });

  it('still applies a stop or shutdown of that step', () => {
    const stopped = new LaneHarness().goLive();
    stopped.crash({ type: 'stop' });
    expect(stopped.state).toMatchObject({ session: { kind: 'idle' }, wanted: false });
    expect(stopped.timers.size).toBe(0);
    const ended = new LaneHarness().goLive();
    ended.crash({ type: 'shutdown' });
    expect(ended.phase).toBe('closed');
  });

  it("keeps the operator's orders, and never uses a number twice", () => {
    const lane = new LaneHarness().goLive();
    lane.options({ targets: ['fr'], volume: 30, muted: true });
    const ids = new Set(lane.all('request_token').map(({ id }) => id));
    const streams = lane.all('open_stream').map(({ stream }) => stream);
    lane.crash();
    lane.until(() => lane.phase === 'acquiring', 2000);
    expect(ids).not.toContain(lane.last('request_token').id);
    lane.grant();
    expect(streams).not.toContain(lane.stream);
    expect(lane.state.options).toMatchObject({ targets: ['fr'], volume: 30, muted: true });
  });

  it('causes increasing waits when it recurs, up to five minutes', () => {
    const lane = new LaneHarness().goLive();
    const waits: number[] = [];
    for (let i = 0; i < 40; i++) {
      lane.crash();
      waits.push(lane.due('retry'));
      lane.until(() => lane.phase === 'acquiring', 301_000);
    }
    expect(Math.max(...waits.slice(0, 2))).toBeLessThan(4000);
    expect(Math.max(...waits)).toBeGreaterThan(100_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(300_000);
  });

  it('is forgotten after a stable stream', () => {
    const lane = new LaneHarness().goLive();
    lane.crash();
    lane.comeBack();
    expect(lane.state.crashes).toBe(1);
    lane.speak(200);
    expect(lane.state.crashes).toBe(0);
  });

  it('leaves a stopped or ending lane at rest', () => {
    const stopped = new LaneHarness().goDraining();
    stopped.crash();
    expect(stopped.phase).toBe('idle');
    const ending = new LaneHarness().goLive();
    ending.shutdown();
    ending.crash();
    expect(ending.phase).toBe('closed');
  });

  it('lets a start command restart the lane at once', () => {
    const lane = new LaneHarness().goRestarting();
    lane.start();
    expect(lane.phase).toBe('acquiring');
    expect(lane.timers.has('retry')).toBe(false);
  });
});
