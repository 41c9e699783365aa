import { describe, expect, it } from 'vitest';
import {
  CONSEQUENCES,
  denialOf,
  pauseMs,
  type TroubleKind,
} from '../../../src/backend/service/service-trouble.ts';

const KINDS = Object.keys(CONSEQUENCES) as TroubleKind[];

describe('troubles with the service', () => {
  it.each(KINDS)('%s: has its own code and a wait, a long one when a person must fix it', (kind) => {
    const denial = denialOf({ kind, detail: null, retryAfterS: null }, 0);
    expect(KINDS.filter((other) => CONSEQUENCES[other].code === denial.code)).toEqual([kind]);
    expect(denial.code).toMatch(/^[a-z_]+$/);
    expect(denial.detail).toMatch(/\.$/);
    expect(denial.retry_after_s).toBeGreaterThanOrEqual(denial.final ? 60 : 1);
  });

  it.each(KINDS)('%s: lets no device retry before the service allows it', (kind) => {
    const trouble = { kind, detail: null, retryAfterS: 700 };
    expect(denialOf(trouble, 0).retry_after_s).toBe(700);
    expect(denialOf(trouble, 1).retry_after_s).toBe(1050);
    expect(pauseMs(trouble)).toBe(700_000);
  });

  it("does not pause other devices when one device's request is rejected", () => {
    for (const kind of ['rejected', 'timeout', 'malformed'] as const) {
      expect(pauseMs({ kind, detail: null, retryAfterS: null })).toBe(0);
    }
    expect(pauseMs({ kind: 'balance', detail: null, retryAfterS: null })).toBeGreaterThan(0);
  });

  it("passes the service's message on", () => {
    const { detail } = denialOf(
      { kind: 'balance', detail: 'Insufficient balance: top up', retryAfterS: null },
      0,
    );
    expect(detail).toBe('The account has no balance left: Insufficient balance: top up');
  });
});
