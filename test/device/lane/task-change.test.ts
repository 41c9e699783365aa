import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS, taskOf } from '../../../src/device/lane/state/lane-options.ts';
import { finished, pushed, ready, rejected } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';

const RUNNING = ready();

function tasks(lane: LaneHarness) {
  return lane.all('send_task').map(({ source, targets, voice }) => `${source}>${targets.join('+')} ${voice}`);
}

/** Live with `es`, because the service has refused the `xx` that was ordered. */
function refusing(): LaneHarness {
  const lane = new LaneHarness().goLive();
  lane.pass(3000);
  lane.options({ targets: ['xx'] });
  lane.says(rejected());
  lane.until(() => lane.all('send_task').length === 3, 3000);
  lane.taskRuns();
  return lane;
}

describe('a change of the languages or the voice', () => {
  it('while live: the task is set again on the same stream, audio waits, nothing is lost', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(10);
    lane.options({ source: 'de', targets: ['fr'] });
    expect(lane.phase).toBe('configuring');
    expect(tasks(lane)).toEqual(['en>es null', 'de>fr null']);
    const sentBefore = lane.accounts.sent;
    lane.speak(5);
    expect(lane.accounts.sent).toBe(sentBefore);
    lane.taskRuns();
    expect(lane.phase).toBe('live');
    lane.speak(5);
    expect(lane.accounts).toMatchObject({ captured: 20, dropped: 0, trimmed: 0 });
    expect(lane.all('open_stream')).toHaveLength(1);
    // It is the same session.
    expect(lane.notes).toEqual(['session_started']);
    expect(lane.state.counts).toMatchObject({ sessions: 1, rollovers: 0 });
    expect(lane.last('send_task')).toMatchObject({ stream: 1 });
  });

  it('while live: the first poll comes when the old task can no longer answer', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(5000);
    lane.options({ targets: ['fr'] });
    const { now } = lane;
    lane.says(RUNNING);
    lane.says(pushed('running'));
    expect(lane.phase).toBe('configuring');
    lane.pass(6000);
    expect(lane.all('poll_task').filter(({ at }) => at >= now)[0]?.at).toBe(now + LANE_DEFAULTS.reapplyMs);
  });

  it.each([
    ['the order of the languages', { targets: ['fr', 'es'] }],
    ['another number of languages', { targets: ['es'] }],
    ['the voice', { voice: 'default_high' }],
    ['the source', { source: 'de' }],
  ])('of %s alone is a change', (_, change) => {
    const lane = new LaneHarness({ options: { targets: ['es', 'fr'] } }).goLive();
    lane.pass(3000);
    lane.options(change);
    expect(lane.phase).toBe('configuring');
    expect(lane.all('send_task')).toHaveLength(2);
  });

  it('to the same values is not a change, nor is mute or the echo mode', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(3000);
    lane.options({ source: 'en', targets: ['es'], voice: null });
    lane.options({ muted: true, echo: 'off' });
    expect(lane.phase).toBe('live');
    expect(lane.all('send_task')).toHaveLength(1);
    expect(lane.state.options).toMatchObject({ muted: true, echo: 'off', targets: ['es'] });
  });

  it('within two seconds of the last set_task: it waits while audio goes on', () => {
    const lane = new LaneHarness().goConfiguring();
    const { now } = lane;
    lane.taskRuns();
    lane.options({ targets: ['fr'] });
    expect(lane.phase).toBe('live');
    lane.speak(3);
    expect(lane.wire).toBe('sss');
    lane.pass(1000);
    expect(lane.phase).toBe('configuring');
    expect(lane.last('send_task')).toMatchObject({ at: now + LANE_DEFAULTS.pollMs, targets: ['fr'] });
    lane.taskRuns();
    expect(lane.phase).toBe('live');
  });

  it('repeated within two seconds: only the last counts', () => {
    const lane = new LaneHarness().goLive();
    for (const target of ['fr', 'it', 'pt', 'pl']) {
      lane.pass(300);
      lane.options({ targets: [target] });
    }
    lane.until(() => lane.phase === 'configuring', 1000);
    lane.taskRuns();
    expect(tasks(lane)).toEqual(['en>es null', 'en>pl null']);
  });

  it('while configuring: the new task is sent as soon as allowed, and only that can go live', () => {
    const lane = new LaneHarness().goConfiguring();
    const { now } = lane;
    lane.pass(700);
    lane.options({ targets: ['fr'] });
    lane.says(RUNNING);
    lane.says(pushed('running'));
    expect(lane.phase).toBe('configuring');
    lane.until(() => lane.all('send_task').length === 2, 3000);
    expect(lane.now - now).toBeGreaterThanOrEqual(LANE_DEFAULTS.pollMs);
    lane.says(RUNNING);
    expect(lane.phase).toBe('configuring');
    lane.taskRuns();
    expect(lane.phase).toBe('live');
    expect(tasks(lane)).toEqual(['en>es null', 'en>fr null']);
  });

  it('while configuring, long after the last set_task: at once', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.pass(5000);
    lane.options({ targets: ['fr'] });
    expect(tasks(lane)).toEqual(['en>es null', 'en>fr null']);
    expect(lane.due('setup')).toBe(LANE_DEFAULTS.setupMs - 5000);
  });

  it('at the moment of a poll: its answer does not count for the new task', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.pass(LANE_DEFAULTS.firstPollMs + LANE_DEFAULTS.pollMs);
    expect(lane.last('poll_task').at).toBe(lane.now);
    lane.options({ targets: ['fr'] });
    expect(lane.last('send_task').at).toBe(lane.now);
    lane.says(RUNNING);
    expect(lane.phase).toBe('configuring');
  });

  it.each(['idle', 'acquiring', 'connecting'] as const)(
    'while %s: the first task has them already',
    (phase) => {
      const lane = new LaneHarness();
      if (phase === 'acquiring') lane.goAcquiring();
      if (phase === 'connecting') lane.goConnecting();
      lane.options({ targets: ['fr'] });
      if (phase === 'idle') lane.goAcquiring();
      if (phase !== 'connecting') lane.grant();
      lane.open();
      lane.taskRuns();
      expect(tasks(lane)).toEqual(['en>fr null']);
    },
  );

  it('while draining: applies to the next session', () => {
    const lane = new LaneHarness().goDraining();
    lane.options({ targets: ['fr'] });
    expect(lane.all('send_task')).toHaveLength(1);
    lane.says(finished());
    lane.start();
    lane.grant();
    lane.open();
    expect(tasks(lane)).toEqual(['en>es null', 'en>fr null']);
  });

  it('to an unknown language: the previous task goes on, and the refusal is reported', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(3000);
    lane.options({ targets: ['xx'] });
    lane.says(rejected('unknown target_language'));
    expect(lane.phase).toBe('configuring');
    expect(lane.last('notify')).toMatchObject({ kind: 'refused', detail: { targets: ['xx'] } });
    lane.until(() => lane.all('send_task').length === 3, 3000);
    lane.taskRuns();
    expect(lane.phase).toBe('live');
    expect(lane.state.refusedTask).toEqual({
      instead: { targets: ['es'] },
      message: 'unknown target_language',
    });
    expect(tasks(lane)).toEqual(['en>es null', 'en>xx null', 'en>es null']);
  });

  it('to an unknown language: the order itself stays', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(3000);
    const ordered = { volume: 30, muted: true, echo: 'off', bargeIn: 'flush', earcons: true } as const;
    lane.options({ targets: ['xx'], voice: 'low', volume: 50 });
    lane.options({ ...ordered, start: 'voice', standbyAfterMs: 90_000 });
    const { options } = lane.state;
    lane.says(rejected());
    expect(lane.state.options).toBe(options);
    expect(options).toMatchObject({ ...ordered, targets: ['xx'], voice: 'low', start: 'voice' });
    expect(taskOf(lane.state)).toEqual({ source: 'en', targets: ['es'], voice: null });
  });

  it('to an unknown language: the next session gets the accepted task', () => {
    const lane = refusing();
    lane.end();
    lane.comeBack();
    expect(tasks(lane)).toEqual(['en>es null', 'en>xx null', 'en>es null', 'en>es null']);
    expect(lane.state.refusedTask?.instead).toEqual({ targets: ['es'] });
  });

  it('to another voice after that: it is sent with the accepted languages', () => {
    const lane = refusing();
    lane.options({ voice: 'low' });
    lane.pass(3000);
    expect(tasks(lane).at(-1)).toBe('en>es low');
    expect(lane.state.refusedTask?.instead).toEqual({ targets: ['es'] });
    lane.says(rejected('unknown voice'));
    expect(lane.state.refusedTask).toEqual({
      instead: { targets: ['es'], voice: null },
      message: 'unknown voice',
    });
  });

  it('to the refused languages again: they are tried again', () => {
    const lane = refusing();
    lane.options({ targets: ['xx'] });
    lane.pass(3000);
    expect(tasks(lane).at(-1)).toBe('en>xx null');
    lane.taskRuns();
    expect(lane.state).toMatchObject({ refusedTask: null, acceptedTask: { targets: ['xx'] } });
  });

  it('back to the running ones: nothing is sent, and nothing is refused', () => {
    const lane = refusing();
    lane.options({ targets: ['es'] });
    lane.pass(3000);
    expect(tasks(lane)).toHaveLength(3);
    expect(lane.state.refusedTask).toBeNull();
  });

  it('to a source that goes on as a target: the whole order is tried', () => {
    const lane = refusing();
    lane.options({ source: 'es' });
    lane.pass(3000);
    expect(tasks(lane).at(-1)).toBe('es>xx null');
    lane.says(rejected());
    expect(taskOf(lane.state)).toEqual({ source: 'en', targets: ['es'], voice: null });
  });

  it('to another volume after that: the refusal stays', () => {
    const lane = refusing();
    const { refusedTask } = lane.state;
    lane.options({ volume: 10 });
    expect(lane.state.refusedTask).toBe(refusedTask);
  });

  it('at rest, to an unknown language: the next session goes on with the last accepted task', () => {
    const lane = new LaneHarness().goDraining();
    lane.options({ targets: ['xx'] });
    lane.says(finished());
    lane.start();
    lane.grant();
    lane.open();
    lane.says(rejected('unknown target_language'));
    expect(lane.phase).toBe('configuring');
    lane.until(() => lane.all('send_task').length === 3, 3000);
    lane.taskRuns();
    expect(lane.phase).toBe('live');
    expect(tasks(lane)).toEqual(['en>es null', 'en>xx null', 'en>es null']);
    expect(lane.notes).not.toContain('parked');
  });

  it('after a defect: the ordered languages are tried, and the accepted ones go on when they are refused', () => {
    const lane = refusing();
    lane.step({ type: 'defect', where: 'test' });
    expect(lane.state).toMatchObject({ refusedTask: null, acceptedTask: { targets: ['es'] } });
    lane.until(() => lane.phase === 'acquiring', 10_000);
    lane.grant();
    lane.open();
    lane.says(rejected());
    lane.taskRuns();
    expect(lane.phase).toBe('live');
    expect(tasks(lane).slice(3)).toEqual(['en>xx null', 'en>es null']);
  });

  it('to an unknown language, with the accepted one refused, too: the lane parks', () => {
    const lane = new LaneHarness().goLive();
    const refuseBoth = (phase: string): void => {
      lane.says(rejected());
      const told = tasks(lane).length;
      lane.until(() => tasks(lane).length > told, 3000);
      lane.says(rejected());
      expect(tasks(lane).slice(-2)).toEqual(['en>xx null', 'en>es null']);
      expect(lane.phase).toBe(phase);
      expect(lane.state.refusedTask).toBeNull();
    };
    const tryAgain = (): void => {
      lane.until(() => lane.phase === 'acquiring', 700_000);
      lane.grant();
      lane.open();
    };
    lane.pass(3000);
    lane.options({ targets: ['xx'] });
    refuseBoth('waiting');
    expect(lane.notes).toEqual(['session_started', 'refused', 'session_ended', 'refused']);
    tryAgain();
    refuseBoth('parked');
    tryAgain();
    refuseBoth('parked');
    lane.options({ targets: ['fr'] });
    expect(lane.phase).toBe('acquiring');
  });

  it('repeated before the service rejects the first one: the newest order counts', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(3000);
    lane.options({ targets: ['xx'] });
    lane.options({ targets: ['fr'] });
    lane.says(rejected());
    expect(lane.state).toMatchObject({ options: { targets: ['fr'] }, refusedTask: null });
    lane.until(() => lane.all('send_task').length === 3, 3000);
    lane.taskRuns();
    expect(tasks(lane).at(-1)).toBe('en>fr null');
    expect(lane.phase).toBe('live');
  });

  it('to a task that is never confirmed: another stream is opened', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(3000);
    lane.options({ targets: ['fr'] });
    lane.pass(LANE_DEFAULTS.setupMs);
    expect(lane.phase).toBe('waiting');
    lane.comeBack();
    expect(tasks(lane)).toEqual(['en>es null', 'en>fr null', 'en>fr null']);
  });
});
