/** Delays outside events until the lane enters a drawn phase, so that they reach it in every phase. */
import type { LaneStep } from '../../src/device/lane/runner/lane-runner.ts';
import { phaseOf } from '../../src/device/lane/state/session-state.ts';
import { PHASE_NAMES, type Phase } from '../../src/protocol/phases.ts';
import type { Dice } from './dice.ts';
import type { SimClock } from './sim-clock.ts';

/** Number of outside events by kind and by phase of the lane; `none`: no process ran. */
export type ReachedPhases = Record<string, Partial<Record<Phase | 'none', number>>>;

export interface Moments {
  readonly reached: ReachedPhases;
  /** Counts an outside event. */
  count(kind: string, phase: Phase | 'none'): void;
  /** Acts now, or soon after the lane has entered a drawn phase, after a minute at the latest. */
  choose(act: () => void): void;
  step(step: LaneStep): void;
}

/** Phases that can be reached: a closed lane gets no messages, and no step throws in this world. */
const REACHED = PHASE_NAMES.filter((phase) => phase !== 'closed' && phase !== 'restarting');
const PATIENCE_MS = 60_000;
/** Longest delay after the phase begins (ms): most phases last longer. */
const AFTER_MS = 400;

export function createMoments(clock: SimClock, dice: Dice): Moments {
  const reached: ReachedPhases = {};
  let waiting: { readonly phase: Phase; readonly act: () => void }[] = [];
  return {
    reached,
    count(kind, phase) {
      const of = reached[kind] ?? {};
      reached[kind] = of;
      of[phase] = (of[phase] ?? 0) + 1;
    },
    choose(act) {
      if (dice.chance(0.3)) return act();
      const one = { phase: dice.pick(REACHED as [Phase, ...Phase[]]), act };
      waiting.push(one);
      clock.at(clock.now() + PATIENCE_MS, () => {
        if (!waiting.includes(one)) return;
        waiting = waiting.filter((other) => other !== one);
        act();
      });
    },
    step({ before, after }) {
      const entered = phaseOf(after.session);
      if (waiting.length === 0 || phaseOf(before.session) === entered) return;
      const due = waiting.filter(({ phase }) => phase === entered);
      waiting = waiting.filter((one) => !due.includes(one));
      for (const { act } of due)
        clock.at(clock.now() + (dice.chance(0.5) ? 0 : dice.between(0, AFTER_MS)), act);
    },
  };
}
