import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { ok } from '../src/device/doctor/report/finding.ts';
import { keysNotSnake, wrongIn } from './snake-case.ts';

describe('names that are not snake_case', () => {
  it('are found at any depth', () => {
    const value = { a_b: [{ cD: 1 }, { 'e-f': null }], G: { h1: 2 }, i__j: 0 };
    expect(keysNotSnake(value)).toEqual(['a_b[0].cD', 'a_b[1].e-f', 'G', 'i__j']);
    expect(keysNotSnake([null, 'aB', 7])).toEqual([]);
  });

  it('are reported together with other violations of a schema', () => {
    const schema = z.object({ a: z.number() });
    expect(wrongIn(schema, { a: 1 })).toBeNull();
    expect(wrongIn(schema, { a: '1' })).toContain('number');
    expect(wrongIn(schema, { a: 1, b: 2 })).toContain('has keys');
    expect(wrongIn(schema, { a: 1, bC: 2 })).toBe('not snake_case: bC');
  });

  it('are compile errors in the doctor’s figures', () => {
    // @ts-expect-error -- a key with a capital
    expect(ok('fine', { tookMs: 1 }).data).toEqual({ tookMs: 1 });
    // @ts-expect-error -- inside of a list, too
    expect(ok('fine', { all: [{ tookMs: 1 }] }).verdict).toBe('ok');
    expect(ok('fine', { took_ms: 1, all: [{ n: 1 }] }).data).toEqual({ took_ms: 1, all: [{ n: 1 }] });
  });
});
