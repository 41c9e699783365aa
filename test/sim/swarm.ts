/** Which faults a run meets with, and when. */
import type { Dice } from './dice.ts';
import { FAULTS } from './faults.ts';
import { HOURS_FAULTS } from './hours-faults.ts';
import { LATER_FAULTS } from './later-faults.ts';
import { NAMED_FAULTS } from './named-faults.ts';
import { OWNER_FAULTS } from './owner-faults.ts';
import type { Generation } from './terms.ts';
import type { Meddling, World } from './world.ts';

/** Each generation knows the faults of its time. */
export function kindsOf(generation: Generation): string[] {
  return Object.keys(FAULTS).filter(
    (kind) =>
      !Object.hasOwn(NAMED_FAULTS, kind) &&
      (generation > 1 || !Object.hasOwn(LATER_FAULTS, kind)) &&
      (generation > 2 || !Object.hasOwn(OWNER_FAULTS, kind)) &&
      (generation > 3 || !Object.hasOwn(HOURS_FAULTS, kind)),
  );
}

export interface Drawn {
  readonly kind: string;
  readonly meanMs: number;
}

/** A kind that is there for sure. */
export function oftenAtRandom(dice: Dice): (kind: string) => Drawn {
  return (kind) => ({ kind, meanMs: dice.pick([60_000, 300_000]) });
}

/** Which faults are on, and how often each comes: none of two seeds test the same mixture. */
export function drawSwarm(dice: Dice, kinds: readonly string[]): Drawn[] {
  // A third of the seeds have one kind alone: what it takes to recover from it can be told from nothing else.
  if (dice.chance(0.33)) return [oftenAtRandom(dice)(kinds[dice.whole(0, kinds.length - 1)] ?? 'reset')];
  const share = dice.pick([0.05, 0.15, 0.4]);
  return kinds
    .filter(() => dice.chance(share))
    .map((kind) => ({ kind, meanMs: dice.pick([60_000, 300_000, 900_000, 2_400_000]) }));
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
  onFault: Meddling['onFault'],
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
