import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import {
  deviceStatus,
  LONG_WITHOUT_SESSION_MS,
  laneStatus,
} from '../../../src/device/status/status-rules.ts';
import { LaneHarness } from '../lane/lane-harness.ts';
import { SITUATIONS, situation } from '../lane/situations.ts';

/** Status and reasons as an owner reads them. */
function told(lane: LaneHarness): string {
  const { status, reasons } = deviceStatus([{ id: 'main', ...laneStatus(lane.state, lane.now) }]);
  return [status, ...reasons].join(' ');
}

describe('the status of a lane', () => {
  const EXPECTED: Readonly<Record<string, string>> = {
    idle: 'idle stopped',
    standby: 'ready',
    acquiring: 'ready',
    connecting: 'ready',
    configuring: 'ready',
    live: 'ready',
    rolling: 'ready',
    draining: 'idle stopped',
    waiting: 'ready',
    parked: 'degraded parked:token_denied_final',
    restarting: 'degraded internal_error',
    closed: 'idle stopped',
    'rolling, connecting': 'ready',
    'rolling, configuring': 'ready',
    'rolling, ready': 'ready',
    'live, old session': 'ready',
    'waiting, old session': 'ready',
    'live, changing its task': 'ready',
  };
  it('is expected here for every situation', () =>
    expect(Object.keys(EXPECTED).toSorted()).toEqual(Object.keys(SITUATIONS).toSorted()));

  it.each(Object.entries(EXPECTED))('%s: %s', (name, expected) => {
    expect(told(situation(name))).toBe(expected);
  });

  it.each(Object.entries(EXPECTED))('%s, muted: idle, unless it is degraded', (name, expected) => {
    const lane = situation(name);
    lane.options({ muted: true });
    const muted = expected.startsWith('idle') ? expected : `${expected} muted`;
    expect(told(lane)).toBe(muted.replace(/^ready/, 'idle'));
  });

  it.each(['acquiring', 'connecting', 'configuring'])(
    'is degraded when %s takes longer than usual, and announces that moment',
    (phase) => {
      const lane = situation(phase);
      const { changesAt } = laneStatus(lane.state, lane.now);
      expect(changesAt).toBeLessThanOrEqual(lane.now + LONG_WITHOUT_SESSION_MS);
      const at = (now: number) => laneStatus(lane.state, now);
      expect(at((changesAt ?? 0) - 1).status).toBe('ready');
      expect(at(changesAt ?? 0)).toEqual({
        status: 'degraded',
        reasons: [{ code: 'no_session', detail: phase }],
        changesAt: null,
      });
    },
  );

  it('is degraded at the announced moment, whatever the fractions of the clock', () => {
    const { state } = new LaneHarness().goAcquiring();
    for (let i = 0; i < 500; i++) {
      const since = 247_075.781_416_133_16 + i * 0.137_931;
      const changed = { ...state, noSessionSince: since };
      const { changesAt } = laneStatus(changed, since);
      expect(laneStatus(changed, changesAt ?? 0).status).toBe('degraded');
    }
  });

  it('does not change during a rollover or a short interruption', () => {
    const lane = new LaneHarness().goLive({ maxDurationMs: 60_000 });
    const seen = new Set<string>();
    const look = () => seen.add(told(lane));
    lane.watchers.push(look);
    for (let i = 0; i < 3; i++) {
      lane.until(() => lane.phase === 'rolling', 60_000);
      lane.grant({ maxDurationMs: 60_000 });
      lane.open();
      lane.taskRuns();
      lane.hush(12);
    }
    lane.end();
    lane.comeBack();
    expect(lane.state.counts.sessions).toBe(5);
    expect([...seen]).toEqual(['ready']);
  });

  it('is degraded from the third failure in a row on, until it is live', () => {
    const lane = new LaneHarness().goConnecting();
    for (let failures = 1; failures <= 3; failures++) {
      lane.unreach(true);
      expect(told(lane)).toBe(failures < 3 ? 'ready' : 'degraded failing:network');
      lane.until(() => lane.phase === 'acquiring', 61_000);
      lane.grant();
    }
    expect(told(lane)).toBe('degraded failing:network');
    lane.open();
    lane.taskRuns();
    expect(told(lane)).toBe('ready');
  });

  it('stays ready during a change of the languages soon after several failures', () => {
    const lane = new LaneHarness().goConnecting();
    for (let failures = 1; failures <= 3; failures++) {
      lane.unreach(true);
      lane.until(() => lane.phase === 'acquiring', 61_000);
      lane.grant();
    }
    lane.open();
    lane.taskRuns();
    expect(lane.state.failures).toBeGreaterThanOrEqual(3);
    lane.pass(3000);
    lane.options({ targets: ['de'] });
    expect(lane.phase).toBe('configuring');
    expect(told(lane)).toBe('ready');
  });

  it('is degraded after one failure that lasts', () => {
    const lane = new LaneHarness().goAcquiring();
    lane.deny();
    expect(told(lane)).toBe('ready');
    lane.until(() => lane.phase === 'acquiring', LONG_WITHOUT_SESSION_MS);
    lane.pass(LONG_WITHOUT_SESSION_MS);
    expect(told(lane)).toBe('degraded failing:token_denied');
  });

  it('is degraded at once when a long wait begins, and not for a short one', () => {
    for (const [retryAfterMs, expected] of [
      [10_000, 'ready'],
      [600_000, 'degraded failing:token_denied'],
    ] as const) {
      const lane = new LaneHarness().goAcquiring();
      lane.deny({ retryAfterMs });
      expect(told(lane)).toBe(expected);
    }
  });

  it('is degraded without a connection to the broker when a token is or may be needed', () => {
    for (const [name, expected] of [
      ['live', 'ready'],
      ['standby', 'degraded no_broker'],
      ['acquiring', 'degraded no_broker'],
      ['rolling', 'degraded no_broker'],
      ['connecting', 'ready'],
    ] as const) {
      const lane = situation(name);
      lane.brokerIs(false);
      expect(`${name}: ${told(lane)}`).toBe(`${name}: ${expected}`);
    }
  });

  it('is degraded while the backend is silent and the lane is wanted', () => {
    for (const name of ['live', 'standby', 'acquiring', 'rolling']) {
      const lane = situation(name);
      lane.step({ type: 'backend', silent: true });
      expect(told(lane)).toBe('degraded no_backend');
      lane.step({ type: 'backend', silent: false });
      expect(told(lane)).toBe('ready');
    }
    const stopped = situation('idle');
    stopped.step({ type: 'backend', silent: true });
    expect(told(stopped)).toBe('idle stopped');
  });

  it('is degraded while its microphone is lost or hears nothing, or its loudspeaker is lost', () => {
    const lane = new LaneHarness().goLive();
    lane.fault('capture');
    lane.fault('playback');
    expect(told(lane)).toBe('degraded capture:lost playback:lost');
    lane.speak(1);
    lane.step({ type: 'playback_back' });
    lane.step({ type: 'capture_news', finding: 'deaf', present: true, message: 'deaf' });
    lane.step({ type: 'capture_news', finding: 'clipping', present: true, message: 'too loud' });
    expect(told(lane)).toBe('degraded capture:deaf');
  });

  it('is degraded when two sessions in a row were silent, for an hour at most', () => {
    const lane = new LaneHarness({ settings: { silentAskMs: LANE_DEFAULTS.silentAskMs } }).goLive();
    for (let i = 0; i < 2; i++) {
      expect(told(lane)).toBe('ready');
      while (lane.phase === 'live') lane.speak(1);
      lane.comeBack();
    }
    // Speech sent twice in vain was too long for the backlog, and the loss must be over first.
    lane.hush(40);
    expect(told(lane)).toBe('degraded silent_service');
    const { changesAt } = laneStatus(lane.state, lane.now);
    expect(laneStatus(lane.state, (changesAt ?? 0) - 1).status).toBe('degraded');
    expect(laneStatus(lane.state, changesAt ?? 0).status).toBe('ready');
    lane.understands('a');
    expect(told(lane)).toBe('ready');
  });
});

describe('the status of a device', () => {
  const ready = { status: 'ready', reasons: [], changesAt: null } as const;
  const idle = { status: 'idle', reasons: [{ code: 'stopped' }], changesAt: null } as const;
  const lost = {
    status: 'degraded',
    reasons: [{ code: 'capture', detail: 'lost' }, { code: 'no_backend' }],
    changesAt: null,
  } as const;

  it('is that of its worst lane, and names that', () => {
    const of = (left: Parameters<typeof deviceStatus>[0][number], right: typeof left) =>
      deviceStatus([left, right]);
    expect(of({ id: 'left', ...ready }, { id: 'right', ...ready })).toEqual({ status: 'ready', reasons: [] });
    expect(of({ id: 'left', ...ready }, { id: 'right', ...idle })).toEqual({
      status: 'idle',
      reasons: ['stopped:right'],
    });
    expect(of({ id: 'left', ...lost }, { id: 'right', ...lost })).toEqual({
      status: 'degraded',
      reasons: ['capture:left/lost', 'no_backend', 'capture:right/lost'],
    });
  });

  it('is that of the whole device if that is worse', () => {
    expect(deviceStatus([{ id: 'main', ...ready }], [{ code: 'identity_conflict' }])).toEqual({
      status: 'degraded',
      reasons: ['identity_conflict'],
    });
    const missing = ['cmd', 'all/cmd'].map((detail) => ({ code: 'not_subscribed', detail }) as const);
    expect(deviceStatus([{ id: 'main', ...idle }], missing)).toEqual({
      status: 'degraded',
      reasons: ['stopped', 'not_subscribed:cmd', 'not_subscribed:all/cmd'],
    });
  });
});
