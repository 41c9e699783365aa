import { describe, expect, it } from 'vitest';
import { degradedReasons, reportLane } from '../../../src/core/lane/report.ts';
import { World } from './world.ts';

const DEVICE = { capture: 'mic', playback: 'speaker' };
const stamp = (at: number): string => `at ${at}`;

describe('the report of a lane', () => {
  it('tells the phase, the orders and the session', () => {
    const world = new World({ orders: { targets: ['es', 'fr'], muted: true } }).goLive();
    expect(reportLane('main', world.state, DEVICE, stamp)).toEqual({
      id: 'main',
      phase: 'live',
      source: 'en',
      targets: ['es', 'fr'],
      muted: true,
      volume: 100,
      ...DEVICE,
      capture_findings: [],
      echo: {
        wanted: 'half-duplex',
        mode: 'half-duplex',
        fallback: null,
        tail_ms: 300,
        delay_ms: null,
        gain_db: null,
      },
      session: 'test-1...',
      stream_host: 'stream.example',
      last_error: null,
    });
  });

  it('tells the last problem and when it was', () => {
    const world = new World().goLive();
    world.end(1006);
    const report = reportLane('main', world.state, DEVICE, stamp);
    expect(report.session).toBeNull();
    expect(report.last_error).toEqual({
      ts: `at ${world.now}`,
      code: 'network',
      message: 'the service closed the stream (1006)',
    });
    expect(reportLane('main', world.state, DEVICE, () => null).last_error?.ts).toBeNull();
  });
});

describe('a lane is degraded', () => {
  it('not when it does what is wanted', () => {
    for (const world of [new World(), new World().goAcquiring(), new World().goLive()]) {
      expect(degradedReasons(world.state)).toEqual([]);
    }
  });

  it('when it is parked, and why', () => {
    expect(degradedReasons(new World().goParked().state)).toEqual(['parked:token_denied_final']);
  });

  it('from the third failure in a row on, until it is live', () => {
    const world = new World().goConnecting();
    for (let failures = 1; failures <= 3; failures++) {
      world.unreach(true);
      expect(degradedReasons(world.state)).toEqual(failures < 3 ? [] : ['failing:network']);
      world.until(() => world.phase === 'acquiring', 61_000);
      world.grant();
    }
    expect(degradedReasons(world.state)).toEqual(['failing:network']);
    world.open();
    world.taskRuns();
    expect(degradedReasons(world.state)).toEqual([]);
  });

  it('while its microphone is lost, whatever else', () => {
    const world = new World().goLive();
    world.fault('capture');
    expect(degradedReasons(world.state)).toEqual(['capture_lost']);
    world.speak(1);
    expect(degradedReasons(world.state)).toEqual([]);
  });
});
