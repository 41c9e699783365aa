import { describe, expect, it } from 'vitest';
import { drawBackoff } from '../../../src/core/retry/backoff.ts';
import {
  type Cause,
  classifyRefusal,
  PATIENCE,
  type Patience,
  RECOVERY,
  readRefusalReason,
} from '../../../src/core/retry/recovery.ts';
import {
  PUBLISHED_REFUSALS,
  REFUSAL_REASONS,
  type RefusalReason,
} from '../../../src/protocol/service/error.ts';

/** Cause for each refusal of docs/service.md 7. */
const CAUSE_OF: Readonly<Record<RefusalReason, Cause>> = {
  session_already_used: 'session_already_used',
  max_duration_reached: 'max_duration_reached',
  intent_mismatch: 'intent_mismatch',
  connection_type_mismatch: 'connection_type_mismatch',
  connect_window_expired: 'connect_window_expired',
  session_limit_reached: 'session_limit_reached',
  pending_sessions_limit_reached: 'session_limit_reached',
  session_revoked: 'session_revoked',
};

const title = (reason: string): string => {
  const words = reason.replaceAll('_', ' ');
  return words.slice(0, 1).toUpperCase() + words.slice(1);
};

describe.each(REFUSAL_REASONS)('the refusal %s', (reason) => {
  const cause = CAUSE_OF[reason];

  it.each([
    ['at the upgrade, in a field of its own', { httpStatus: 403, errorCode: 1, texts: [reason] }],
    ['at the upgrade, in the type', { httpStatus: 403, texts: [null, `https://errors.example/${reason}`] }],
    ['at the upgrade, in a hyphenated type', { texts: [`https://e.example/${reason.replaceAll('_', '-')}`] }],
    ['at the upgrade, in the title', { httpStatus: 403, texts: [undefined, title(reason)] }],
    ['at the upgrade, in the detail', { httpStatus: 500, texts: [`refused: ${reason}.`] }],
    ['under a status that says something else', { httpStatus: 410, errorCode: 202100, texts: [reason] }],
    ['in a message', { errorCode: null, texts: [reason, 'ERROR', null] }],
    ['in a message, as the code', { texts: [undefined, reason.toUpperCase(), 'words'] }],
    ['in a close', { texts: [reason] }],
    ['in a close with words round it', { texts: [`Policy violation (${reason})`] }],
  ])('is known %s', (_, signs) => {
    expect(readRefusalReason(signs)).toBe(reason);
    expect(classifyRefusal(signs)).toBe(cause);
  });

  it('is in the recovery table', () => {
    expect(RECOVERY[cause].meaning).not.toBe('');
  });
});

describe('a refusal without a name', () => {
  it.each(Object.entries(PUBLISHED_REFUSALS))('goes by its number or status: %s', (reason, published) => {
    const cause = CAUSE_OF[reason as RefusalReason];
    expect(classifyRefusal({ errorCode: published?.errorCode, texts: [] })).toBe(cause);
    expect(classifyRefusal({ httpStatus: published?.http, texts: [] })).toBe(cause);
    expect(classifyRefusal({ httpStatus: 403, errorCode: published?.errorCode, texts: ['', null] })).toBe(
      cause,
    );
  });

  it.each<[number | undefined, Cause]>([
    [401, 'forbidden'],
    [402, 'insufficient_balance'],
    [403, 'forbidden'],
    [404, 'forbidden'],
    [409, 'session_already_used'],
    [410, 'max_duration_reached'],
    [400, 'service_error'],
    [408, 'service_error'],
    [426, 'service_error'],
    [429, 'service_error'],
    [500, 'service_error'],
    [503, 'service_error'],
    [200, 'service_error'],
    [undefined, 'service_error'],
  ])('HTTP %s is %s', (httpStatus, cause) => {
    expect(classifyRefusal({ httpStatus, texts: [] })).toBe(cause);
    expect(classifyRefusal({ httpStatus, errorCode: 100_001, texts: ['Load balancer timeout'] })).toBe(cause);
  });

  it.each<[string, Cause, Parameters<typeof classifyRefusal>[0]]>([
    [
      'the number of an empty balance',
      'insufficient_balance',
      { httpStatus: 403, errorCode: 100_050, texts: [] },
    ],
    [
      'an empty balance in words',
      'insufficient_balance',
      { httpStatus: 401, texts: ['Insufficient balance'] },
    ],
    ['an empty balance in a message', 'insufficient_balance', { texts: [null, 'INSUFFICIENT_BALANCE'] }],
    ['a blocked account', 'account_blocked', { httpStatus: 403, texts: ['Account blocked'] }],
    ['a blocked account in a close', 'account_blocked', { texts: ['account_blocked'] }],
    [
      'a blocked account in a sentence',
      'account_blocked',
      { httpStatus: 403, texts: ['the account is blocked'] },
    ],
  ])('about the state of the account (3.3) is known by %s', (_, cause, signs) => {
    expect(classifyRefusal(signs)).toBe(cause);
  });

  it('is not found in other words', () => {
    expect(readRefusalReason({ texts: ['the session is fine', 'revoked', 'max_duration', ''] })).toBeNull();
    expect(readRefusalReason({ errorCode: 202_101, texts: [] })).toBeNull();
    expect(readRefusalReason({ errorCode: 0, texts: [] })).toBeNull();
  });

  it('prefers an exact name to a mention', () => {
    const texts = ['not session_already_used but', 'session_revoked'];
    expect(readRefusalReason({ texts })).toBe('session_revoked');
  });
});

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
  ])('%s is %s', (cause, patience) => {
    expect(RECOVERY[cause].patience).toBe(patience);
  });

  it('has a row for each of these, and no other', () => {
    expect(Object.keys(RECOVERY)).toHaveLength(24);
  });

  it.each(Object.entries(WAITS))(
    '%s waits at most this long, at first and in the end',
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
