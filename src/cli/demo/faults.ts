import type { LaneState } from '../../device/lane/state/lane-state.ts';

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

/** Minimum time after the start of a session or another fault (ms), so that each fault is visible on its own. */
const LIVE_BEFORE_FAULT_MS = 4500;
/** Input per fault (ms): time for the fault, its recovery, and catching up. */
const FAULT_COST_MS = 25_000;
/** Held speech above which the next fault waits (ms): a third of what the backlog holds, because each outage adds to it. */
const MOST_HELD_MS = 10_000;

/** Length of the input that these faults need (ms). */
export function inputFor(faults: readonly DemoFault[]): number {
  return faults.length * FAULT_COST_MS;
}

/** The lane's state that the schedule needs. */
export interface LaneMoment {
  /** The session that hears speech; null: none. */
  readonly live: { readonly id: number; readonly liveAt: number } | null;
  readonly isSpeaking: boolean;
  /** Sound that waits for a stream (ms). */
  readonly heldMs: number;
}

/** Schedules the faults one after another, each in a stable session. */
export interface FaultSchedule {
  /** Faults that were not due yet. */
  readonly remaining: readonly DemoFault[];
  /** Whether a fault waits because the lane is behind: then the visitor waits, too. */
  isBehind(lane: LaneMoment): boolean;
  /** Returns the fault that is due now, if any, and removes it from the schedule. */
  due(lane: LaneMoment, now: number): DemoFault | null;
}

export function scheduleFaults(faults: readonly DemoFault[]): FaultSchedule {
  const remaining = [...faults];
  let struckIn: number | null = null;
  let struckAt = Number.NEGATIVE_INFINITY;
  const isBehind = ({ heldMs }: LaneMoment): boolean => remaining.length > 0 && heldMs > MOST_HELD_MS;
  return {
    remaining,
    isBehind,
    due(lane, now) {
      const { live, isSpeaking } = lane;
      if (live === null || live.id === struckIn) return null;
      // Only during a sentence: a fault in a pause shows little.
      if (!isSpeaking || isBehind(lane)) return null;
      if (now - Math.max(live.liveAt, struckAt) < LIVE_BEFORE_FAULT_MS) return null;
      const fault = remaining.shift();
      if (fault === undefined) return null;
      // The echo does not end the session.
      if (fault !== 'echo') struckIn = live.id;
      struckAt = now;
      return fault;
    },
  };
}

export function momentOf({ session, backlog, settings }: LaneState): LaneMoment {
  return {
    live: session.kind === 'live' ? session.stream : null,
    isSpeaking: backlog.quietRun === 0,
    heldMs: backlog.chunks.length * settings.chunkMs,
  };
}
