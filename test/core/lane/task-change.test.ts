import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { World } from './world.ts';

const RUNNING = { message_type: 'current_task', data: { task_status: 'running' } } as const;

function tasks(world: World) {
  return world
    .all('send_task')
    .map(({ source, targets, voice }) => `${source}>${targets.join('+')} ${voice}`);
}

describe('languages or voice changed', () => {
  it('while live: the task is set again on the same stream, audio waits, nothing is lost', () => {
    const world = new World().goLive();
    world.speak(10);
    world.orders({ source: 'de', targets: ['fr'] });
    expect(world.phase).toBe('configuring');
    expect(tasks(world)).toEqual(['en>es null', 'de>fr null']);
    const sentBefore = world.accounts.sent;
    world.speak(5);
    expect(world.accounts.sent).toBe(sentBefore);
    world.taskRuns();
    expect(world.phase).toBe('live');
    world.speak(5);
    expect(world.accounts).toMatchObject({ captured: 20, dropped: 0, trimmed: 0 });
    expect(world.all('open_stream')).toHaveLength(1);
    // It is the same session.
    expect(world.notes).toEqual(['session_started']);
    expect(world.state.counts).toMatchObject({ sessions: 1, rollovers: 0 });
    expect(world.last('send_task')).toMatchObject({ stream: 1 });
  });

  it('while live: the first question comes when the old task cannot answer any more', () => {
    const world = new World().goLive();
    world.pass(5000);
    world.orders({ targets: ['fr'] });
    const { now } = world;
    world.says(RUNNING);
    world.says({ message_type: 'task_status', data: { task_status: 'running' } });
    expect(world.phase).toBe('configuring');
    world.pass(6000);
    expect(world.all('poll_task').filter(({ at }) => at >= now)[0]?.at).toBe(now + LANE_DEFAULTS.reapplyMs);
  });

  it.each([
    ['the order of the languages', { targets: ['fr', 'es'] }],
    ['another number of languages', { targets: ['es'] }],
    ['the voice', { voice: 'default_high' }],
    ['the source', { source: 'de' }],
  ])('%s alone is a change', (_, change) => {
    const world = new World({ orders: { targets: ['es', 'fr'] } }).goLive();
    world.pass(3000);
    world.orders(change);
    expect(world.phase).toBe('configuring');
    expect(world.all('send_task')).toHaveLength(2);
  });

  it('to what they are is no change, nor is mute or the echo mode', () => {
    const world = new World().goLive();
    world.pass(3000);
    world.orders({ source: 'en', targets: ['es'], voice: null });
    world.orders({ muted: true, echo: 'off' });
    expect(world.phase).toBe('live');
    expect(world.all('send_task')).toHaveLength(1);
    expect(world.state.orders).toMatchObject({ muted: true, echo: 'off', targets: ['es'] });
  });

  it('within two seconds of the last set_task: it waits its turn while audio goes on', () => {
    const world = new World().goConfiguring();
    const { now } = world;
    world.taskRuns();
    world.orders({ targets: ['fr'] });
    expect(world.phase).toBe('live');
    world.speak(3);
    expect(world.wire).toBe('sss');
    world.pass(1000);
    expect(world.phase).toBe('configuring');
    expect(world.last('send_task')).toMatchObject({ at: now + LANE_DEFAULTS.pollMs, targets: ['fr'] });
    world.taskRuns();
    expect(world.phase).toBe('live');
  });

  it('several times within two seconds: only the last counts', () => {
    const world = new World().goLive();
    for (const target of ['fr', 'it', 'pt', 'pl']) {
      world.pass(300);
      world.orders({ targets: [target] });
    }
    world.until(() => world.phase === 'configuring', 1000);
    world.taskRuns();
    expect(tasks(world)).toEqual(['en>es null', 'en>pl null']);
  });

  it('while configuring: the new task is set as soon as it may, and only it can go live', () => {
    const world = new World().goConfiguring();
    const { now } = world;
    world.pass(700);
    world.orders({ targets: ['fr'] });
    world.says(RUNNING);
    world.says({ message_type: 'task_status', data: { task_status: 'running' } });
    expect(world.phase).toBe('configuring');
    world.until(() => world.all('send_task').length === 2, 3000);
    expect(world.now - now).toBeGreaterThanOrEqual(LANE_DEFAULTS.pollMs);
    world.says(RUNNING);
    expect(world.phase).toBe('configuring');
    world.taskRuns();
    expect(world.phase).toBe('live');
    expect(tasks(world)).toEqual(['en>es null', 'en>fr null']);
  });

  it('while configuring, long after the last set_task: at once', () => {
    const world = new World().goConfiguring();
    world.pass(5000);
    world.orders({ targets: ['fr'] });
    expect(tasks(world)).toEqual(['en>es null', 'en>fr null']);
    expect(world.due('setup')).toBe(LANE_DEFAULTS.setupMs);
  });

  it('at the very moment of a question: its answer is not taken for the new task', () => {
    const world = new World().goConfiguring();
    world.pass(LANE_DEFAULTS.firstPollMs + LANE_DEFAULTS.pollMs);
    expect(world.last('poll_task').at).toBe(world.now);
    world.orders({ targets: ['fr'] });
    expect(world.last('send_task').at).toBe(world.now);
    world.says(RUNNING);
    expect(world.phase).toBe('configuring');
  });

  it.each(['idle', 'acquiring', 'connecting'] as const)(
    'while %s: the first task has them already',
    (phase) => {
      const world = new World();
      if (phase === 'acquiring') world.goAcquiring();
      if (phase === 'connecting') world.goConnecting();
      world.orders({ targets: ['fr'] });
      if (phase === 'idle') world.goAcquiring();
      if (phase !== 'connecting') world.grant();
      world.open();
      world.taskRuns();
      expect(tasks(world)).toEqual(['en>fr null']);
    },
  );

  it('while draining: the next session has them', () => {
    const world = new World().goDraining();
    world.orders({ targets: ['fr'] });
    expect(world.all('send_task')).toHaveLength(1);
    world.says({ message_type: 'eos', data: {} });
    world.start();
    world.grant();
    world.open();
    expect(tasks(world)).toEqual(['en>es null', 'en>fr null']);
  });

  it('to what the service does not know: the task before it goes on, and the operator is told', () => {
    const world = new World().goLive();
    world.pass(3000);
    world.orders({ targets: ['xx'] });
    world.error({ code: 'VALIDATION_ERROR', desc: 'unknown target_language' });
    expect(world.phase).toBe('configuring');
    expect(world.state.orders.targets).toEqual(['es']);
    expect(world.last('notify')).toMatchObject({ kind: 'refused', detail: { targets: ['xx'] } });
    world.until(() => world.all('send_task').length === 3, 3000);
    world.taskRuns();
    expect(world.phase).toBe('live');
    expect(tasks(world)).toEqual(['en>es null', 'en>xx null', 'en>es null']);
  });

  it('to what the service does not know, nor what it knew before: parked, and not for ever asked', () => {
    const world = new World().goLive();
    world.pass(3000);
    world.orders({ targets: ['xx'] });
    world.error({ code: 'VALIDATION_ERROR' });
    world.until(() => world.all('send_task').length === 3, 3000);
    world.error({ code: 'VALIDATION_ERROR' });
    expect(world.phase).toBe('parked');
    expect(world.notes).toEqual(['session_started', 'refused', 'session_ended', 'refused', 'parked']);
    world.orders({ targets: ['fr'] });
    expect(world.phase).toBe('acquiring');
  });

  it('again, before the service rejects the first change: the newest wish counts', () => {
    const world = new World().goLive();
    world.pass(3000);
    world.orders({ targets: ['xx'] });
    world.orders({ targets: ['fr'] });
    world.error({ code: 'VALIDATION_ERROR' });
    expect(world.state.orders.targets).toEqual(['fr']);
    world.until(() => world.all('send_task').length === 3, 3000);
    world.taskRuns();
    expect(tasks(world).at(-1)).toBe('en>fr null');
    expect(world.phase).toBe('live');
  });

  it('a task that is never confirmed: another stream', () => {
    const world = new World().goLive();
    world.pass(3000);
    world.orders({ targets: ['fr'] });
    world.pass(LANE_DEFAULTS.setupMs);
    expect(world.phase).toBe('waiting');
    world.comeBack();
    expect(tasks(world)).toEqual(['en>es null', 'en>fr null', 'en>fr null']);
  });
});
