import { describe, expect, it } from 'vitest';
import { reportLane } from '../../../src/core/lane/report.ts';
import { LaneHarness } from './lane-harness.ts';

const DEVICE = { capture: 'mic', playback: 'speaker' };
const stamp = (at: number): string => `at ${at}`;

describe('the report of a lane', () => {
  it('tells the phase, the orders and the session', () => {
    const lane = new LaneHarness({ options: { targets: ['es', 'fr'], muted: true } }).goLive();
    expect(reportLane('main', lane.state, DEVICE, stamp)).toEqual({
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
      room_dbfs: null,
      vain_wakes: 0,
      session: 'test-1...',
      stream_host: 'stream.example',
      speech_lost_ms: 0,
      closed_until: null,
      deaf_since: null,
      next_try_at: null,
      last_error: null,
      last_warning: null,
    });
  });

  it('tells the last problem and when it was', () => {
    const lane = new LaneHarness().goLive();
    lane.end(1006);
    const report = reportLane('main', lane.state, DEVICE, stamp);
    expect(report.session).toBeNull();
    expect(report.last_error).toEqual({
      ts: `at ${lane.now}`,
      code: 'network',
      message: 'the service closed the stream (1006)',
    });
    expect(reportLane('main', lane.state, DEVICE, () => null).last_error?.ts).toBeNull();
  });
});
