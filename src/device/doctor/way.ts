import type { MachineParts } from '../../ports/machine.ts';
import type { Config } from '../../protocol/config.ts';
import type { CheckName } from '../../protocol/mqtt/diagnose.ts';
import type { Inside } from './inside.ts';
import type { Configured, Outside } from './outside.ts';
import { about, type Check, type LaneOutcome } from './report/check.ts';
import { type Outcome, skipped } from './report/finding.ts';

/** One result for the whole device, or one for each lane; none if there is nothing to report. */
type Result = Outcome | readonly LaneOutcome[];

/** How a check gets its facts in one place, and judges them. */
export interface Way<Place> {
  /** Time limit (ms). */
  limitMs(place: Place): number;
  run(place: Place): Result | Promise<Result>;
}

export interface ListedCheck {
  /** For `dragoman doctor`: from the machine, and over connections of the doctor's own. */
  readonly outside: Way<Outside>;
  /** For the command `diagnose`: from the state of the running agent. */
  readonly inside: Way<Inside>;
}

export const UNUSABLE = skipped('the configuration cannot be used');

export function within<Place>(limitMs: number, run: Way<Place>['run']): Way<Place> {
  return { limitMs: () => limitMs, run };
}

/** From outside, for a check that means nothing without a configuration. */
export function configured(
  limitMs: number | Way<Outside>['limitMs'],
  run: (place: Configured, outside: Outside) => Result | Promise<Result>,
): Way<Outside> {
  return {
    limitMs: (outside) => (typeof limitMs === 'number' ? limitMs : limitMs(outside)),
    run: (outside) => (outside.configured === null ? UNUSABLE : run(outside.configured, outside)),
  };
}

/** Alike in both places: from the machine itself. @param run gets no configuration if it cannot be used */
export function onMachine(
  limitMs: number,
  run: (machine: MachineParts, config: Config | null) => Outcome | Promise<Outcome>,
): ListedCheck {
  return {
    outside: within(limitMs, ({ machine, configured }) => run(machine, configured?.config ?? null)),
    inside: within(limitMs, ({ machine, config }) => (machine === null ? [] : run(machine, config))),
  };
}

/** Checks of the list, for one place. */
export function checksAt<Place>(
  place: Place,
  list: Readonly<Record<CheckName, ListedCheck>>,
  names: readonly CheckName[],
  wayOf: (check: ListedCheck) => Way<Place>,
): Check[] {
  return names.map((name) => {
    const { limitMs, run } = wayOf(list[name]);
    return {
      name,
      limitMs: limitMs(place),
      async run() {
        const result = await run(place);
        return 'verdict' in result ? [about(null, result)] : result;
      },
    };
  });
}
