import { describe, expect, it } from 'vitest';
import { judgePower } from '../../../../../src/device/doctor/checks/power/power-rules.ts';

describe('the power supply', () => {
  it.each<[number | null, boolean | null, string, string]>([
    [null, null, 'skipped', 'does not report'],
    [0, null, 'ok', 'no trouble'],
    [null, false, 'ok', 'no trouble'],
    [0x1, null, 'problem', 'too low right now'],
    [0x50005, null, 'problem', 'too low right now'],
    [null, true, 'problem', 'too low right now'],
    [0x2, null, 'warning', 'slowed down right now'],
    [0x8, null, 'warning', 'slowed down right now'],
    [0x10000, null, 'warning', 'too low since the last boot'],
    [0x40000, null, 'warning', 'slowed down since the last boot'],
  ])('that reports %s and %s is judged', (throttled, alarm, verdict, words) => {
    expect(judgePower({ throttled, alarm })).toMatchObject({
      verdict,
      finding: expect.stringContaining(words),
    });
  });
});
