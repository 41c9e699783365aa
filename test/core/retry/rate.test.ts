import { expect, it } from 'vitest';
import { fullBucket, spend } from '../../../src/core/retry/rate.ts';
import { fc } from '../../properties.ts';

it('grants a burst, then as many as a minute allows, and returns the wait', () => {
  const rate = { burst: 2, perMinute: 6 };
  let bucket = fullBucket(rate, 0);
  const at = (now: number): number => {
    const spent = spend(bucket, rate, now);
    bucket = spent.bucket;
    return spent.waitMs;
  };
  expect([at(0), at(0), at(0), at(4000), at(10_000), at(10_000)]).toEqual([0, 0, 10_000, 6000, 0, 10_000]);
  expect([at(1_000_000), at(1_000_000), at(1_000_000)]).toEqual([0, 0, 10_000]);
});

it('grants several tokens together or none', () => {
  const rate = { burst: 10, perMinute: 60 };
  const first = spend(fullBucket(rate, 0), rate, 0, 8);
  expect(first.waitMs).toBe(0);
  const second = spend(first.bucket, rate, 0, 5);
  expect(second.waitMs).toBe(3000);
  expect(spend(second.bucket, rate, 3000, 5).waitMs).toBe(0);
});

it('never grants more than the burst and the rate together', () => {
  void fc.assert(
    fc.property(fc.array(fc.nat({ max: 20_000 }), { maxLength: 100 }), (gaps) => {
      const rate = { burst: 3, perMinute: 12 };
      let bucket = fullBucket(rate, 0);
      let now = 0;
      let granted = 0;
      for (const gap of gaps) {
        now += gap;
        const spent = spend(bucket, rate, now);
        bucket = spent.bucket;
        if (spent.waitMs === 0) granted += 1;
        expect(granted).toBeLessThanOrEqual(3 + (now / 60_000) * 12 + 1e-6);
      }
    }),
  );
});
