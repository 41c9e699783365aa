import { expect, it } from 'vitest';
import { asWall, type MonotonicMs } from '../../../src/protocol/common/time.ts';
import { timestamp } from '../../../src/protocol/mqtt/envelope.ts';
import { createVirtualClock } from '../../virtual-clock.ts';

const clock = createVirtualClock(1000, 5_000_000);
const due = (at: MonotonicMs): number => at - clock.now();

/** The test is that the compiler rejects these lines: `npm run typecheck` fails if it accepts one. */
it('keeps moments of the two clocks apart', () => {
  // @ts-expect-error: a monotonic moment is not a wall clock moment
  timestamp(clock.now());
  // @ts-expect-error: nor is a number without `asWall`
  timestamp(5_000_000);
  const wall = clock.wall() ?? asWall(0);
  // @ts-expect-error: a timer needs a monotonic moment
  clock.at(wall, () => {})();
  // @ts-expect-error: a wall clock moment cannot be compared with the monotonic clock
  due(wall);
  expect(timestamp(wall)).toBe('1970-01-01T01:23:20.000Z');
});

it('keeps the clock of a moment when a duration is added', () => {
  expect(due(clock.now() + 250)).toBe(250);
  expect(timestamp(asWall((clock.wall() ?? 0) + 1000))).toBe('1970-01-01T01:23:21.000Z');
});
