import { describe, expect, it } from 'vitest';
import { reportLane } from '../../../src/device/lane/lane-report.ts';
import { rejected } from '../../service-events.ts';
import { LaneHarness } from './lane-harness.ts';

const DEVICE = { capture: 'mic', playback: 'speaker' };
const stamp = (at: number): string => `at ${at}`;

describe('the report of a lane', () => {
  it('shows the phase, the options and the session', () => {
    const lane = new LaneHarness({ options: { targets: ['es', 'fr'], muted: true } }).goLive();
    expect(reportLane('main', lane.state, DEVICE, stamp)).toEqual({
      id: 'main',
      phase: 'live',
      source: 'en',
      targets: ['es', 'fr'],
      refused_task: null,
      conversation: null,
      muted: true,
      headset: false,
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
      speech_dropped_ms: 0,
      unspoken_ms: 0,
      closed_until: null,
      deaf_since: null,
      next_try_at: null,
      last_error: null,
      last_warning: null,
    });
  });

  it('shows the languages in use, and separately the refused order', () => {
    const lane = new LaneHarness().goLive();
    lane.pass(3000);
    lane.options({ source: 'de', targets: ['xx'], voice: 'low' });
    lane.says(rejected('unknown target_language'));
    expect(reportLane('main', lane.state, DEVICE, stamp)).toMatchObject({
      source: 'en',
      targets: ['es'],
      refused_task: { source: 'de', targets: ['xx'], voice: 'low', message: 'unknown target_language' },
    });
    lane.options({ source: 'de', targets: ['es'] });
    expect(reportLane('main', lane.state, DEVICE, stamp).refused_task).toEqual({
      voice: 'low',
      message: 'unknown target_language',
    });
  });

  it('shows the last problem and its time', () => {
    const lane = new LaneHarness().goLive();
    lane.end();
    const report = reportLane('main', lane.state, DEVICE, stamp);
    expect(report.session).toBeNull();
    expect(report.last_error).toEqual({
      ts: `at ${lane.now}`,
      code: 'network',
      message: 'the service closed the stream (cut)',
    });
    expect(reportLane('main', lane.state, DEVICE, () => null).last_error?.ts).toBeNull();
  });
});
