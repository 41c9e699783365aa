import { createSystemClock } from '../../../src/adapters/clock.ts';
import type { Clock } from '../../../src/ports/clock.ts';
import { asWall } from '../../../src/protocol/common/time.ts';

/** The machine's clocks, which a test can set forward: then everything that has become due happens. */
export interface JumpingClock extends Clock {
  jump(ms: number): void;
}

export function createJumpingClock(): JumpingClock {
  const system = createSystemClock();
  const timers = new Set<{ at: number; fire: () => void }>();
  let ahead = 0;
  const now = (): number => system.now() + ahead;
  return {
    now,
    wall() {
      const wall = system.wall();
      return wall === null ? null : asWall(wall + ahead);
    },
    at(at, callback) {
      const timer = { at, fire: () => {} };
      const cancelSystem = system.at(at - ahead, () => timer.fire());
      const cancel = (): void => {
        cancelSystem();
        timers.delete(timer);
      };
      timer.fire = () => {
        cancel();
        callback();
      };
      timers.add(timer);
      return cancel;
    },
    jump(ms) {
      ahead += ms;
      for (const timer of [...timers].sort((a, b) => a.at - b.at))
        if (timers.has(timer) && timer.at <= now()) timer.fire();
    },
  };
}
