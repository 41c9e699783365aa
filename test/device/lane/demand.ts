import type { LaneEffect } from '../../../src/device/lane/state/lane-effect.ts';
import type { LaneEvent, TimerName } from '../../../src/device/lane/state/lane-event.ts';
import type { LaneState } from '../../../src/device/lane/state/lane-state.ts';
import type { Phase } from '../../../src/protocol/phases.ts';

/** One transition of the phase table. */
export interface Walk {
  readonly from: Phase;
  readonly to: Phase;
}

/** One step of a lane, with everything that a check may need. */
export interface Step {
  readonly before: LaneState;
  readonly event: LaneEvent;
  readonly state: LaneState;
  readonly effects: readonly LaneEffect[];
  readonly now: number;
  readonly walks: readonly Walk[];
  /** The armed timers after the step, as seen from outside. */
  readonly timers: ReadonlyMap<TimerName, number>;
}

/** Fails with a sentence that names the broken invariant. */
export function demand(holds: boolean, broken: string): void {
  if (!holds) throw new Error(`invariant broken: ${broken}`);
}
