import type { LaneState } from '../../core/lane/state.ts';

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

/** The faults that are struck at what stands around the agent; an echo is in the room instead. */
export type EnvironmentFault = Exclude<DemoFault, 'echo'>;

/** A session must have been live this long before the next fault strikes, so that each is seen by itself. */
const LIVE_BEFORE_FAULT_MS = 4500;
/** What one fault takes with its recovery: this much more must be heard. */
export const FAULT_COST_MS = 12_000;

/** Strikes one fault after another, each in a session that has settled. */
export interface FaultSchedule {
  /** The fault that is due now, if any; it counts as struck. */
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
      // A sentence must be under way: a fault in a pause proves little.
      const speaking = state.backlog.quietRun === 0;
      if (!speaking || now - stream.liveAt < LIVE_BEFORE_FAULT_MS) return null;
      const fault = remaining.shift();
      if (fault === undefined) return null;
      struckIn = stream.id;
      return fault;
    },
  };
}
