import { describe, expect, it } from 'vitest';
import type { LaneEvent, TimerName } from '../../../src/device/lane/state/lane-event.ts';
import { closed, limit, ready, refused, spoke } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';
import { SITUATIONS, situation } from './situations.ts';

const TIMERS = Object.keys(new LaneHarness().state.timers) as readonly TimerName[];

describe('a stale timer event', () => {
  it.each(Object.keys(SITUATIONS))('changes nothing while %s', (name) => {
    for (const timer of TIMERS) {
      const lane = situation(name);
      const { state } = lane;
      const effects = lane.step({ type: 'timer', timer });
      expect(lane.state).toEqual(state);
      // A postponed timer may have been removed when it fired early: then it is armed again.
      const at = state.timers[timer];
      expect(effects).toEqual(
        at === null || name === 'closed' ? [] : [{ type: 'arm', timer, at, slackMs: 0 }],
      );
    }
  });

  it('does not fail the next connection', () => {
    const lane = new LaneHarness().goConnecting();
    lane.pass(14_000);
    lane.unreach(true);
    lane.until(() => lane.phase === 'acquiring', 1000);
    lane.grant();
    lane.step({ type: 'timer', timer: 'setup' });
    expect(lane.phase).toBe('connecting');
  });

  it('does not send fillers while the microphone works', () => {
    const lane = new LaneHarness().goLive();
    lane.speak(5);
    for (let i = 0; i < 10; i++) lane.step({ type: 'timer', timer: 'pace' });
    expect(lane.wire).toBe('sssss');
  });

  it('does not forget failures early', () => {
    const lane = new LaneHarness().goConnecting();
    lane.unreach(true);
    lane.comeBack();
    lane.step({ type: 'timer', timer: 'stable' });
    expect(lane.state.failures).toBe(1);
  });

  it('works late: due actions happen when it fires', () => {
    const lane = new LaneHarness().goConfiguring();
    lane.stall(1500);
    lane.pass(0);
    expect(lane.all('poll_task')).toHaveLength(1);
    lane.stall(5000);
    lane.pass(0);
    expect(lane.all('poll_task')).toHaveLength(2);
    expect(lane.due('poll')).toBe(2050);
  });
});

describe('an event of a stream that is gone', () => {
  const events: readonly LaneEvent[] = [
    { type: 'opened', stream: 1 },
    { type: 'service', stream: 1, said: refused('forbidden', { status: 403 }) },
    { type: 'unreached', stream: 1, spent: false, message: 'late' },
    { type: 'service', stream: 1, said: limit('revoked') },
    { type: 'service', stream: 1, said: ready() },
    { type: 'service', stream: 1, said: spoke(new Uint8Array(960), { sentence: 'a', utterance: 'a' }) },
    { type: 'pong', stream: 1 },
    { type: 'unreadable', stream: 1, what: 'speech', description: 'sound without data' },
    { type: 'service', stream: 1, said: closed() },
  ];

  it.each(events)('only changes the count of ignored events: $type', (event) => {
    const lane = new LaneHarness().goLive();
    lane.end();
    lane.comeBack();
    expect(lane.stream).toBe(2);
    const { state } = lane;
    expect(lane.step(event)).toEqual([]);
    expect(lane.state).toEqual({ ...state, counts: { ...state.counts, ignored: state.counts.ignored + 1 } });
  });

  it('is ignored while there is no stream at all, too', () => {
    const lane = new LaneHarness().goLive();
    lane.end();
    for (const event of events) expect(lane.step(event)).toEqual([]);
    expect(lane.phase).toBe('waiting');
    expect(lane.state.counts.ignored).toBe(events.length);
  });
});
