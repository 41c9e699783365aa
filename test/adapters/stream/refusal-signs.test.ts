import { describe, expect, it } from 'vitest';
import { classifyRefusal, readRefusalReason } from '../../../src/adapters/stream/refusal.ts';
import type { Refusal } from '../../../src/ports/stream.ts';
import {
  PUBLISHED_REFUSALS,
  REFUSAL_REASONS,
  type RefusalReason,
} from '../../../src/protocol/service/error.ts';

/** Reason for each refusal of docs/service.md 7. */
const CAUSE_OF: Readonly<Record<RefusalReason, Refusal>> = {
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
    [
      'with the status and number of another refusal',
      { httpStatus: 410, errorCode: 202100, texts: [reason] },
    ],
    ['in a message', { errorCode: null, texts: [reason, 'ERROR', null] }],
    ['in a message, as the code', { texts: [undefined, reason.toUpperCase(), 'words'] }],
    ['in a close', { texts: [reason] }],
    ['in a close, within a sentence', { texts: [`Policy violation (${reason})`] }],
  ])('is recognised %s', (_, signs) => {
    expect(readRefusalReason(signs)).toBe(reason);
    expect(classifyRefusal(signs)).toBe(cause);
  });
});

describe('a refusal without a name', () => {
  it.each(Object.entries(PUBLISHED_REFUSALS))(
    'is recognised by its number or status: %s',
    (reason, published) => {
      const cause = CAUSE_OF[reason as RefusalReason];
      expect(classifyRefusal({ errorCode: published?.errorCode, texts: [] })).toBe(cause);
      expect(classifyRefusal({ httpStatus: published?.http, texts: [] })).toBe(cause);
      expect(classifyRefusal({ httpStatus: 403, errorCode: published?.errorCode, texts: ['', null] })).toBe(
        cause,
      );
    },
  );

  it.each<[number | undefined, Refusal]>([
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

  it.each<[string, Refusal, Parameters<typeof classifyRefusal>[0]]>([
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
  ])('reports the state of the account (3.3) by %s', (_, cause, signs) => {
    expect(classifyRefusal(signs)).toBe(cause);
  });

  it('has no reason when the text only resembles one', () => {
    expect(readRefusalReason({ texts: ['the session is fine', 'revoked', 'max_duration', ''] })).toBeNull();
    expect(readRefusalReason({ errorCode: 202_101, texts: [] })).toBeNull();
    expect(readRefusalReason({ errorCode: 0, texts: [] })).toBeNull();
  });

  it('takes its reason from an exact name rather than from a mention', () => {
    const texts = ['not session_already_used but', 'session_revoked'];
    expect(readRefusalReason({ texts })).toBe('session_revoked');
  });
});
