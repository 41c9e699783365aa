import type { WallMs } from '../../../../protocol/common/time.ts';
import { type Outcome, ok, problem, warning } from '../../report/finding.ts';

/** Another clock compared with ours. */
export interface ClockReading {
  readonly who: string;
  /** Their time minus ours, milliseconds. */
  readonly offsetMs: number;
  /** Possible error of the comparison. */
  readonly uncertaintyMs: number;
}

/** Latest credible time if there is no other clock to compare with: a clock chip that has lost power may show any time. */
const LATEST_BELIEVABLE_WALL_MS = Date.UTC(2060, 0, 1);
const NOTABLE_OFFSET_MS = 30_000;
const HARMFUL_OFFSET_MS = 300_000;
const SET_CLOCK =
  'Let the machine reach a time server: "timedatectl set-ntp true", and look at "timedatectl".';

/** @param wall null while the machine's clock is not set */
export function judgeClock(wall: WallMs | null, sights: readonly ClockReading[]): Outcome {
  if (wall === null)
    return problem(
      'the clock is not set: certificates cannot be checked, and messages carry no time',
      SET_CLOCK,
    );
  const now = new Date(wall).toISOString().replace(/\.\d+Z$/, 'Z');
  const best = [...sights].sort((a, b) => a.uncertaintyMs - b.uncertaintyMs)[0];
  if (best === undefined && wall >= LATEST_BELIEVABLE_WALL_MS)
    return problem(`${now} cannot be right: certificates count as expired`, SET_CLOCK, { now });
  if (best === undefined) return ok(`${now}; no other clock to compare it with`, { now });
  const { who } = best;
  const sure = Math.max(0, Math.abs(best.offsetMs) - best.uncertaintyMs);
  const data = { now, compared_with: who, offset_s: Math.round(best.offsetMs / 100) / 10 };
  const by = `${span(Math.abs(best.offsetMs))} ${best.offsetMs > 0 ? 'behind' : 'ahead of'} ${who}`;
  if (sure >= HARMFUL_OFFSET_MS) return problem(`${now} is ${by}`, SET_CLOCK, data);
  if (sure >= NOTABLE_OFFSET_MS) return warning(`${now} is ${by}`, SET_CLOCK, data);
  return ok(`${now}, like ${who}`, data);
}

function span(ms: number): string {
  if (ms < 120_000) return `${Math.round(ms / 1000)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  if (ms < 172_800_000) return `${Math.round(ms / 3_600_000)} h`;
  return `${Math.round(ms / 86_400_000)} days`;
}
