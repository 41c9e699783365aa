import { describe, expect, it } from 'vitest';
import type { LaneEvent, TimerName } from '../../../src/core/lane/event.ts';
import { SITUATIONS, situation } from './situations.ts';
import { World } from './world.ts';

const TIMERS = Object.keys(new World().state.timers) as readonly TimerName[];

describe('a timer that is on its way although it does not count any more', () => {
  it.each(Object.keys(SITUATIONS))('changes nothing while %s', (name) => {
    for (const timer of TIMERS) {
      const world = situation(name);
      const { state } = world;
      const effects = world.step({ type: 'timer', timer });
      expect(world.state).toEqual(state);
      // One that was put off may have been taken away by its going off early: then it is armed again.
      const at = state.timers[timer];
      expect(effects).toEqual(
        at === null || name === 'closed' ? [] : [{ type: 'arm', timer, at, slackMs: 0 }],
      );
    }
  });

  it('does not fail the next connection', () => {
    const world = new World().goConnecting();
    world.pass(14_000);
    world.unreach(true);
    world.until(() => world.phase === 'acquiring', 1000);
    world.grant();
    world.step({ type: 'timer', timer: 'setup' });
    expect(world.phase).toBe('connecting');
  });

  it('does not send fillers while the microphone works', () => {
    const world = new World().goLive();
    world.speak(5);
    for (let i = 0; i < 10; i++) world.step({ type: 'timer', timer: 'pace' });
    expect(world.wire).toBe('sssss');
  });

  it('does not forget failures early', () => {
    const world = new World().goConnecting();
    world.unreach(true);
    world.comeBack();
    world.step({ type: 'timer', timer: 'stable' });
    expect(world.state.failures).toBe(1);
  });

  it('works late: what was due happens when it can', () => {
    const world = new World().goConfiguring();
    world.stall(1500);
    world.pass(0);
    expect(world.all('poll_task')).toHaveLength(1);
    world.stall(5000);
    world.pass(0);
    expect(world.all('poll_task')).toHaveLength(2);
    expect(world.due('poll')).toBe(2050);
  });
});

describe('the voice of a stream that is gone', () => {
  const events: readonly LaneEvent[] = [
    { type: 'opened', stream: 1 },
    {
      type: 'refused',
      stream: 1,
      refusal: { status: 403, errorCode: null, texts: [], detail: null, retryAfterMs: null },
    },
    { type: 'unreached', stream: 1, spent: false, message: 'late' },
    { type: 'message', stream: 1, message: { message_type: 'session_revoked', data: {} } },
    {
      type: 'message',
      stream: 1,
      message: { message_type: 'current_task', data: { task_status: 'running' } },
    },
    {
      type: 'message',
      stream: 1,
      message: {
        message_type: 'output_audio',
        pcm: new Uint8Array(960),
        sentence: 'a',
        language: null,
        utterance: 'a',
        last: false,
      },
    },
    { type: 'pong', stream: 1 },
    { type: 'ended', stream: 1, code: 1006, reason: '' },
  ];

  it.each(events)('changes nothing but the count of what was ignored: $type', (event) => {
    const world = new World().goLive();
    world.end();
    world.comeBack();
    expect(world.stream).toBe(2);
    const { state } = world;
    expect(world.step(event)).toEqual([]);
    expect(world.state).toEqual({ ...state, counts: { ...state.counts, ignored: state.counts.ignored + 1 } });
  });

  it('is ignored while there is no stream at all, too', () => {
    const world = new World().goLive();
    world.end();
    for (const event of events) expect(world.step(event)).toEqual([]);
    expect(world.phase).toBe('waiting');
    expect(world.state.counts.ignored).toBe(events.length);
  });
});
