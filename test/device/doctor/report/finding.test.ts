import { describe, expect, it } from 'vitest';
import {
  combine,
  diagnosisOf,
  ok,
  problem,
  skipped,
  warning,
  worstOf,
} from '../../../../src/device/doctor/report/finding.ts';

describe('findings', () => {
  it('show the worst of several steps, with all figures', () => {
    const steps = [ok('a', { a: 1 }), warning('b', 'B.', { b: 2 }), warning('c', 'C.'), skipped('d')];
    expect(combine(steps)).toEqual({
      verdict: 'warning',
      finding: 'b; c',
      fix: 'B. C.',
      data: { a: 1, b: 2 },
    });
    expect(combine([...steps, problem('e', 'E.')])).toMatchObject({
      verdict: 'problem',
      finding: 'e',
      fix: 'E.',
    });
    const twice = [problem('c', 'Fix it.'), problem('d', 'Fix it.')];
    expect(combine(twice)).toMatchObject({ finding: 'c; d', fix: 'Fix it.' });
    expect(combine([ok('a'), ok('b')])).toMatchObject({ verdict: 'ok', finding: 'a; b', fix: null });
    expect(worstOf([])).toBe('skipped');
    expect(worstOf(['ok', 'skipped'])).toBe('ok');
  });

  it('are one document in fixed order', () => {
    const finding = { lane: null, ...ok('a') };
    const { verdict, checks } = diagnosisOf('1', [
      { check: 'memory', ...finding },
      { check: 'broker', ...finding },
    ]);
    expect(verdict).toBe('ok');
    expect(checks.map(({ check }) => check)).toEqual(['broker', 'memory']);
  });
});
