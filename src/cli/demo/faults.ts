import type { LaneState } from '../../core/lane/lane-state.ts';

/** The faults that a demo can show. */
export const DEMO_FAULTS = [
  'revoke',
  'max-duration',
  'network-drop',
  'broker-drop',
  'token-denied',
  'echo',
] as const;
export type DemoFault = (typeof DEMO_FAULTS)[number];

/** Faults of the environment of the agent; the fault "echo" is in the room instead. */
export type EnvironmentFault = Exclude<DemoFault, 'echo'>;

/** Minimum time between a live session and the next fault (ms), so that each fault is visible on its own. */
const LIVE_BEFORE_FAULT_MS = 4500;
/** Additional input per fault (ms): time for the fault, its recovery, and catching up. */
export const FAULT_COST_MS = 20_000;

/** Schedules the faults one after another, each in a stable session. */
export interface FaultSchedule {
  /** Returns the fault that is due now, if any, and removes it from the schedule. */
  due(state: LaneState, now: number): DemoFault | null;
  readonly remaining: readonly DemoFault[];
}

export function scheduleFaults(faults: readonly DemoFault[]): FaultSchedule {
  const remaining = [...faults];
  let struckIn: number | null = null;
  return {
    remaining,
    due(state, now) {
      const { session } = state;
      if (session.kind !== 'live' || session.stream.id === struckIn) return null;
      const { stream } = session;
      // Only during a sentence: a fault in a pause shows little.
      const speaking = state.backlog.quietRun === 0;
      // Outages that follow each other before the lane has caught up add up to more than the backlog holds.
      const isBehind = struckIn !== null && state.backlog.chunks.length > 0 && remaining[0] !== 'echo';
      if (!speaking || isBehind || now - stream.liveAt < LIVE_BEFORE_FAULT_MS) return null;
      const fault = remaining.shift();
      if (fault === undefined) return null;
      struckIn = stream.id;
      return fault;
    },
  };
}
