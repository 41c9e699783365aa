import { describe, expect, it } from 'vitest';
import { judgeMemory } from '../../../../../src/device/doctor/checks/memory/memory-rules.ts';

const GB = 1e9;
const MB = 1e6;

describe('the memory', () => {
  it.each([
    [{ total: 1 * GB, available: 700 * MB, limit: null }, 'ok'],
    [{ total: 1 * GB, available: 100 * MB, limit: null }, 'warning'],
    [{ total: 1 * GB, available: 30 * MB, limit: null }, 'problem'],
    [{ total: 1 * GB, available: 700 * MB, limit: 64 * MB }, 'warning'],
    [{ total: 1 * GB, available: 700 * MB, limit: 300 * MB }, 'ok'],
  ])('is judged: %j is %s', (facts, verdict) => {
    expect(judgeMemory(facts).verdict).toBe(verdict);
  });

  it('has a warning when the kernel cannot limit memory', () => {
    const facts = { total: 4 * GB, available: 3 * GB, limit: null };
    expect(judgeMemory({ ...facts, canLimit: true }).verdict).toBe('ok');
    const { verdict, finding } = judgeMemory({ ...facts, canLimit: false });
    expect(verdict).toBe('warning');
    expect(finding).toContain('MemoryMax has no effect');
  });
});
