/** Checks that the device counts speech that was not translated for lack of a stream, or that the service did not speak. */
import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import { TICK_MS } from './sound.ts';
import type { Excuse } from './speech-excuses.ts';
import type { Violations } from './violations.ts';

const CHUNK_MS = 320;
/** Allowed difference over a whole run (ms): the device estimates lengths and does not count very short words. */
const SLACK_MS = 4000;

export interface Counted {
  step(step: LaneStep): void;
  /** A piece of speech was not translated. */
  unsaid(why: Excuse): void;
  compare(): void;
}

export function createCounted(violations: Violations): Counted {
  let countedMs = 0;
  let unsaidMs = 0;
  return {
    step({ before, after }) {
      countedMs += Math.max(0, after.backlog.accounts.lost - before.backlog.accounts.lost) * CHUNK_MS;
      countedMs += Math.max(0, after.counts.unspokenMs - before.counts.unspokenMs);
    },
    unsaid(why) {
      if (why === 'service' || why === 'outage') unsaidMs += TICK_MS;
    },
    compare() {
      violations.check(
        'counted',
        unsaidMs <= countedMs + SLACK_MS,
        () => `${unsaidMs} ms of speech were not said, but the device counted ${Math.round(countedMs)} ms`,
      );
    },
  };
}
