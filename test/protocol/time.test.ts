import { expect, it } from 'vitest';
import { timestamp } from '../../src/protocol/mqtt/envelope.ts';
import { asWall, type MonotonicMs } from '../../src/protocol/time.ts';
import { createVirtualClock } from '../virtual-clock.ts';

const clock = createVirtualClock(1000, 5_000_000);
const due = (at: MonotonicMs): number => at - clock.now();

/** What the compiler refuses here is the test: `npm run typecheck` fails where it does not. */
it('one clock never stands in for the other', () => {
  // @ts-expect-error: a monotonic moment is none of the calendar
  timestamp(clock.now());
  // @ts-expect-error: nor is a number of which nobody has said so
  timestamp(5_000_000);
  const wall = clock.wall() ?? asWall(0);
  // @ts-expect-error: and a moment of the calendar is none to wait for
  clock.at(wall, () => {})();
  // @ts-expect-error: nor one to compare with the monotonic clock
  due(wall);
  expect(timestamp(wall)).toBe('1970-01-01T01:23:20.000Z');
});

it('a duration later is a moment by the same clock', () => {
  expect(due(clock.now() + 250)).toBe(250);
  expect(timestamp(asWall((clock.wall() ?? 0) + 1000))).toBe('1970-01-01T01:23:21.000Z');
});
