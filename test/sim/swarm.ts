/** Draws the faults of a run and their times. */
import type { Dice } from './dice.ts';
import { FAULTS } from './faults.ts';
import { HOURS_FAULTS, LATER_FAULTS, NAMED_FAULTS, OWNER_FAULTS } from './later-faults.ts';
import type { Generation } from './terms.ts';
import type { RunOptions, World } from './world.ts';

/** The kinds of faults that a generation draws from. */
export function kindsOf(generation: Generation): string[] {
  return Object.keys(FAULTS).filter(
    (kind) =>
      !Object.hasOwn(NAMED_FAULTS, kind) &&
      (generation > 1 || !Object.hasOwn(LATER_FAULTS, kind)) &&
      (generation > 1 || !Object.hasOwn(OWNER_FAULTS, kind)) &&
      (generation > 2 || !Object.hasOwn(HOURS_FAULTS, kind)),
  );
}

export interface Drawn {
  readonly kind: string;
  readonly meanMs: number;
}

/** Draws the frequency of a kind that is always on. */
export function oftenAtRandom(dice: Dice): (kind: string) => Drawn {
  return (kind) => ({ kind, meanMs: dice.pick([60_000, 300_000]) });
}

/** Removed kinds, and the kind before them: they keep their places, so that regression seeds draw the same as before. */
const RETIRED = ['transcripts_late', 'times_wrong'];
const BEFORE_RETIRED = 'translation_cut';

/** Draws which faults are on, and how often each comes: each seed has its own mixture. */
export function drawSwarm(dice: Dice, kinds: readonly string[]): Drawn[] {
  const places = kinds.flatMap((kind) => (kind === BEFORE_RETIRED ? [kind, ...RETIRED] : [kind]));
  const isKnown = ({ kind }: Drawn): boolean => Object.hasOwn(FAULTS, kind);
  // A third of the seeds have a single kind: only these show how long its recovery takes.
  if (dice.chance(0.33)) {
    const alone = oftenAtRandom(dice)(places[dice.whole(0, places.length - 1)] ?? 'reset');
    return [isKnown(alone) ? alone : { ...alone, kind: 'reset' }];
  }
  const share = dice.pick([0.05, 0.15, 0.4]);
  return places
    .filter(() => dice.chance(share))
    .map((kind) => ({ kind, meanMs: dice.pick([60_000, 300_000, 900_000, 2_400_000]) }))
    .filter(isKnown);
}

export interface Happening {
  readonly kind: string;
  readonly begun: number;
  readonly over: number;
}

export function inject(
  world: World,
  swarm: readonly Drawn[],
  until: number,
  counts: Record<string, number>,
  happened: (happening: Happening) => void,
  onFault: RunOptions['onFault'],
): void {
  const { clock, dice } = world;
  const plan = (drawn: Drawn): void => {
    const at = clock.now() + dice.wait(drawn.meanMs);
    if (at >= until) return;
    clock.at(at, () => {
      counts[drawn.kind] = (counts[drawn.kind] ?? 0) + 1;
      const lasts = FAULTS[drawn.kind]?.(world);
      const begun = clock.now();
      onFault?.(drawn.kind, lasts?.forMs ?? 0, begun);
      const over = begun + (lasts?.forMs ?? 0);
      happened({ kind: drawn.kind, begun, over });
      if (lasts === undefined) return plan(drawn);
      clock.at(over, () => {
        lasts.end();
        plan(drawn);
      });
    });
  };
  for (const drawn of swarm) plan(drawn);
}
