import { describe, expect, it } from 'vitest';
import {
  CONSEQUENCES,
  denialOf,
  pauseMs,
  type TroubleKind,
} from '../../../src/backend/service/service-trouble.ts';

const KINDS = Object.keys(CONSEQUENCES) as TroubleKind[];

describe('troubles with the service', () => {
  it.each(KINDS)('%s: has its own code, and a sentence', (kind) => {
    const denial = denialOf({ kind, detail: null, retryAfterS: null }, 0);
    expect(KINDS.filter((other) => CONSEQUENCES[other].code === denial.code)).toEqual([kind]);
    expect(denial.code).toMatch(/^[a-z_]+$/);
    expect(denial.detail).toMatch(/\.$/);
  });

  /** Seconds until the device retries, and for which all other devices wait. */
  const WAITS: Record<TroubleKind, [number, number]> = {
    unreachable: [5, 0],
    timeout: [5, 0],
    unavailable: [5, 0],
    malformed: [15, 0],
    rate_limited: [5, 5],
    pending_limit: [15, 5],
    session_limit: [30, 0],
    balance: [300, 30],
    blocked: [300, 30],
    unauthorized: [300, 30],
    misconfigured: [300, 30],
    rejected: [300, 0],
  };
  it.each(KINDS)('%s: makes the device wait, and all others while the account is in trouble', (kind) => {
    const trouble = { kind, detail: null, retryAfterS: null };
    expect([denialOf(trouble, 0).retry_after_s, pauseMs(trouble) / 1000]).toEqual(WAITS[kind]);
  });

  it.each(KINDS)('%s: lets no device retry before the service allows it', (kind) => {
    const trouble = { kind, detail: null, retryAfterS: 700 };
    expect(denialOf(trouble, 0).retry_after_s).toBe(700);
    expect(denialOf(trouble, 1).retry_after_s).toBe(1050);
    expect(pauseMs(trouble)).toBe(700_000);
  });

  it("passes the service's message on", () => {
    const { detail } = denialOf(
      { kind: 'balance', detail: 'Insufficient balance: top up', retryAfterS: null },
      0,
    );
    expect(detail).toBe('The account has no balance left: Insufficient balance: top up');
  });
});
