import { describe, expect, it } from 'vitest';
import { judgeClock } from '../../../../../src/device/doctor/checks/clock/clock-rules.ts';
import { asWall } from '../../../../../src/protocol/common/time.ts';

const DAY_MS = 86_400_000;
const NOW = asWall(Date.UTC(2026, 0, 15));

describe('the clock', () => {
  const sight = (offsetMs: number, uncertaintyMs = 100) => ({ who: 'the backend', offsetMs, uncertaintyMs });
  it('is compared with other clocks, the most certain first', () => {
    expect(judgeClock(NOW, []).verdict).toBe('ok');
    expect(judgeClock(NOW, [sight(2000)]).verdict).toBe('ok');
    expect(judgeClock(NOW, [sight(-40_000)]).finding).toContain('40 s ahead of');
    expect(judgeClock(NOW, [sight(200_000, 500), sight(100, 10)]).verdict).toBe('ok');
    expect(judgeClock(NOW, [sight(40_000, 20_000)]).verdict).toBe('ok');
    expect(judgeClock(NOW, [sight(20 * 60_000)])).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('20 min behind'),
    });
    expect(judgeClock(NOW, [sight(5 * 3_600_000)]).finding).toContain('5 h behind');
    expect(judgeClock(NOW, [sight(400 * DAY_MS)]).finding).toContain('400 days behind');
    expect(judgeClock(null, [sight(0)]).verdict).toBe('problem');
    const far = asWall(Date.UTC(2101, 5, 1));
    expect(judgeClock(far, [])).toMatchObject({
      verdict: 'problem',
      finding: expect.stringContaining('2101'),
    });
    expect(judgeClock(far, [sight(0)]).verdict).toBe('ok');
  });
});
