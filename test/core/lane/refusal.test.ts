import { describe, expect, it } from 'vitest';
import { LANE_DEFAULTS } from '../../../src/core/lane/settings.ts';
import { RECOVERY } from '../../../src/core/recovery.ts';
import { REFUSAL_REASONS } from '../../../src/protocol/service/error.ts';
import { World } from './world.ts';

describe('an upgrade that is refused', () => {
  it.each(REFUSAL_REASONS)('for %s follows the table', (reason) => {
    const world = new World().goConnecting();
    world.refuse({ status: 403, texts: [reason] });
    const cause = reason === 'pending_sessions_limit_reached' ? 'session_limit_reached' : reason;
    const row = RECOVERY[cause];
    expect(world.phase).toBe(row.patience === 'parked' ? 'parked' : 'waiting');
    expect(world.state.problem).toMatchObject({
      code: cause,
      message: 'the service refused the stream with HTTP 403',
    });
    // It never was a session, so none ended; the token is not tried again, unless there was just no room for a stream.
    expect(world.notes[0]).toBe(row.event);
    const isKept = cause === 'session_limit_reached';
    expect(world.all('forget_grant').map(({ grant }) => grant)).toEqual(isKept ? [] : ['test-1']);
    world.comeBack();
    expect(world.last('open_stream')).toMatchObject({ stream: 2, grant: isKept ? 'test-1' : 'test-2' });
  });

  it.each([401, 403, 404])('with a bare %i is tried once more with a fresh token, then parks', (status) => {
    const world = new World().goConnecting();
    world.refuse({ status });
    expect(world.phase).toBe('waiting');
    expect(world.due('retry')).toBeLessThanOrEqual(1000);
    expect(world.notes).toEqual(['refused']);
    world.until(() => world.phase === 'acquiring', 1010);
    expect(world.last('forget_grant').grant).toBe('test-1');
    world.grant();
    world.refuse({ status });
    expect(world.phase).toBe('parked');
    expect(world.due('retry')).toBeGreaterThanOrEqual(240_000);
    expect(world.notes).toEqual(['refused', 'refused', 'parked']);
    // A parked lane that tries again is not in doubt any more.
    world.until(() => world.phase === 'acquiring', 610_000);
    world.grant();
    world.refuse({ status });
    expect(world.phase).toBe('parked');
  });

  it('with a bare 403 before each of many sessions costs a second each, not minutes', () => {
    const world = new World().goLive();
    for (let i = 0; i < 5; i++) {
      world.end();
      world.until(() => world.phase === 'acquiring', 1010);
      world.grant();
      world.refuse({ status: 403 });
      const { now } = world;
      world.comeBack();
      expect(world.now - now).toBeLessThan(5000);
      world.pass(LANE_DEFAULTS.stableMs + 1000);
    }
    expect(world.notes).not.toContain('parked');
  });

  it('because of the balance parks at once, and the operator reads why', () => {
    const world = new World().goConnecting();
    const said = {
      errorCode: 100_050,
      detail: 'Insufficient balance: top up',
      texts: ['Insufficient balance'],
    };
    world.refuse({ status: 403, ...said });
    expect(world.phase).toBe('parked');
    const message = 'the service refused the stream with HTTP 403: 100050 Insufficient balance: top up';
    expect(world.state.problem).toMatchObject({ code: 'insufficient_balance', message });
    expect(world.all('notify')[0]).toMatchObject({
      kind: 'refused',
      detail: { cause: 'insufficient_balance', message, error_code: 100_050 },
    });
  });

  it('with 402 is the balance, whatever the body says', () => {
    const world = new World().goConnecting();
    world.refuse({ status: 402 });
    expect(world.phase).toBe('parked');
    expect(world.state.problem?.code).toBe('insufficient_balance');
  });

  it('is asked again when its Retry-After is over', () => {
    const world = new World().goConnecting();
    world.refuse({ status: 503, retryAfterMs: 30_000 });
    expect(world.phase).toBe('waiting');
    expect(world.due('retry')).toBeGreaterThanOrEqual(30_000);
    expect(world.due('retry')).toBeLessThanOrEqual(34_000);
  });

  it('before it is open is a failure like any other when it only closes', () => {
    const world = new World().goConnecting();
    world.end(1006);
    expect(world.phase).toBe('waiting');
    expect(world.state.problem?.code).toBe('network');
  });
});
