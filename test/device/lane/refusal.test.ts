import { describe, expect, it } from 'vitest';
import { RECOVERY } from '../../../src/device/lane/session/recovery.ts';
import { LANE_DEFAULTS } from '../../../src/device/lane/state/lane-options.ts';
import { REFUSALS } from '../../../src/ports/stream.ts';
import { LaneHarness } from './lane-harness.ts';

describe('an upgrade that is refused', () => {
  it.each(REFUSALS)('for %s follows the table', (cause) => {
    const lane = new LaneHarness().goConnecting();
    lane.refuse(cause);
    const row = RECOVERY[cause];
    const isParked = row.patience === 'parked' && row.promptTries === undefined;
    expect(lane.phase).toBe(isParked ? 'parked' : 'waiting');
    expect(lane.state.problem).toMatchObject({
      code: cause,
      message: 'the service refused the stream with HTTP 403',
    });
    // It never was a session, so none ended; the token is not tried again, unless there was just no room for a stream.
    expect(lane.notes[0] ?? null).toBe(row.event);
    const isKept = cause === 'session_limit_reached';
    expect(lane.all('forget_grant').map(({ grant }) => grant)).toEqual(isKept ? [] : ['test-1']);
    lane.comeBack();
    expect(lane.last('open_stream')).toMatchObject({ stream: 2, grant: isKept ? 'test-1' : 'test-2' });
  });

  it('without a reason is tried once more with a fresh token, then parks', () => {
    const lane = new LaneHarness().goConnecting();
    lane.refuse('forbidden');
    expect(lane.phase).toBe('waiting');
    expect(lane.due('retry')).toBeLessThanOrEqual(1000);
    expect(lane.notes).toEqual(['refused']);
    lane.until(() => lane.phase === 'acquiring', 1010);
    expect(lane.last('forget_grant').grant).toBe('test-1');
    lane.grant();
    lane.refuse('forbidden');
    expect(lane.phase).toBe('parked');
    expect(lane.due('retry')).toBeGreaterThanOrEqual(240_000);
    expect(lane.notes).toEqual(['refused', 'refused', 'parked']);
    // A parked lane that retries is not in doubt any more.
    lane.until(() => lane.phase === 'acquiring', 610_000);
    lane.grant();
    lane.refuse('forbidden');
    expect(lane.phase).toBe('parked');
  });

  it('with a bare 403 before each of many sessions costs a second each, not minutes', () => {
    const lane = new LaneHarness().goLive();
    for (let i = 0; i < 5; i++) {
      lane.end();
      lane.until(() => lane.phase === 'acquiring', 1010);
      lane.grant();
      lane.refuse('forbidden');
      const { now } = lane;
      lane.comeBack();
      expect(lane.now - now).toBeLessThan(5000);
      lane.pass(LANE_DEFAULTS.stableMs + 1000);
    }
    expect(lane.notes).not.toContain('parked');
  });

  it('because of the balance parks at once, and the report shows why', () => {
    const lane = new LaneHarness().goConnecting();
    lane.refuse('insufficient_balance', { errorCode: 100_050, detail: 'Insufficient balance: top up' });
    expect(lane.phase).toBe('parked');
    const message = 'the service refused the stream with HTTP 403: 100050 Insufficient balance: top up';
    expect(lane.state.problem).toMatchObject({ code: 'insufficient_balance', message });
    expect(lane.all('notify')[0]).toMatchObject({
      kind: 'refused',
      detail: { cause: 'insufficient_balance', message, error_code: 100_050 },
    });
  });

  it('is retried after its Retry-After', () => {
    const lane = new LaneHarness().goConnecting();
    lane.refuse('service_error', { status: 503, retryAfterMs: 30_000 });
    expect(lane.phase).toBe('waiting');
    expect(lane.due('retry')).toBeGreaterThanOrEqual(30_000);
    expect(lane.due('retry')).toBeLessThanOrEqual(34_000);
  });

  it('counts as an ordinary failure when the connection just closes', () => {
    const lane = new LaneHarness().goConnecting();
    lane.end();
    expect(lane.phase).toBe('waiting');
    expect(lane.state.problem?.code).toBe('network');
  });
});
