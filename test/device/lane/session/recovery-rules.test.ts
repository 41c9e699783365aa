import { describe, expect, it } from 'vitest';
import { drawBackoff } from '../../../../src/core/retry/backoff.ts';
import { PATIENCE, type Patience, RECOVERY } from '../../../../src/device/lane/session/recovery.ts';
import type { Cause } from '../../../../src/protocol/mqtt/causes.ts';

describe('the recovery table', () => {
  const WAITS: Readonly<Record<Patience, readonly [first: number, longest: number]>> = {
    prompt: [1000, 60_000],
    patient: [5000, 120_000],
    parked: [360_000, 360_000],
  };

  it.each<[Cause, Patience]>([
    ['network', 'prompt'],
    ['unresponsive', 'prompt'],
    ['silent_service', 'prompt'],
    ['setup_timeout', 'prompt'],
    ['stream_ended', 'prompt'],
    ['service_timeout', 'prompt'],
    ['session_revoked', 'prompt'],
    ['max_duration_reached', 'prompt'],
    ['session_already_used', 'prompt'],
    ['connect_window_expired', 'prompt'],
    ['grant_unusable', 'patient'],
    ['session_limit_reached', 'patient'],
    ['service_error', 'patient'],
    ['protocol_error', 'patient'],
    ['flooded', 'patient'],
    ['internal_error', 'patient'],
    ['token_denied', 'patient'],
    ['forbidden', 'parked'],
    ['insufficient_balance', 'parked'],
    ['account_blocked', 'parked'],
    ['intent_mismatch', 'parked'],
    ['connection_type_mismatch', 'parked'],
    ['task_rejected', 'parked'],
    ['token_denied_final', 'parked'],
  ])('makes the cause %s %s', (cause, patience) => {
    expect(RECOVERY[cause].patience).toBe(patience);
  });

  it('has a row for each known cause, and no other', () => {
    expect(Object.keys(RECOVERY)).toHaveLength(24);
  });

  it.each(Object.entries(WAITS))(
    'bounds the first and the longest wait of %s',
    (patience, [first, longest]) => {
      const policy = PATIENCE[patience as Patience];
      const waits = (failures: number): number[] =>
        Array.from({ length: 3000 }, (_, seed) => drawBackoff(policy, failures, seed * 104_729).waitMs);
      expect(Math.max(...waits(1))).toBeLessThanOrEqual(first);
      expect(Math.max(...waits(40))).toBeLessThanOrEqual(longest);
      expect(Math.max(...waits(40))).toBeGreaterThan(longest * 0.98);
    },
  );

  it('never lets a fleet return in step: every wait is spread over a good part of its length', () => {
    for (const policy of Object.values(PATIENCE)) {
      const waits = Array.from({ length: 3000 }, (_, seed) => drawBackoff(policy, 1, seed * 104_729).waitMs);
      expect(Math.max(...waits) - Math.min(...waits)).toBeGreaterThan(Math.max(...waits) / 4);
    }
  });

  it('keeps a parked lane away for minutes', () => {
    const waits = Array.from({ length: 3000 }, (_, seed) => drawBackoff(PATIENCE.parked, 1, seed).waitMs);
    expect(Math.min(...waits)).toBeGreaterThanOrEqual(240_000);
  });

  it('names the reason for the next token', () => {
    expect(RECOVERY.session_revoked.tokenReason).toBe('revoked');
    expect(RECOVERY.max_duration_reached.tokenReason).toBe('max_duration');
    expect(RECOVERY.network.tokenReason).toBe('network');
    expect(RECOVERY.forbidden.tokenReason).toBe('refused');
  });
});
