import type { LaneReport } from '../../protocol/mqtt/device.ts';
import type { Phase } from './phases.ts';
import type { LaneState } from './state.ts';

/** In these phases the lane does what is wanted, whatever came before. */
const WELL: readonly Phase[] = ['live', 'rolling', 'standby'];

/** A wait this many failures long is no passing trouble any more. */
const FAILURES_TO_DEGRADE = 3;

/** Why a lane does not do what is wanted of it, in codes an operator can act on; empty when all is well. */
export function degradedReasons(state: LaneState): string[] {
  const reasons: string[] = [];
  const code = state.problem?.code ?? 'unknown';
  if (state.phase === 'parked') reasons.push(`parked:${code}`);
  else if (state.failures >= FAILURES_TO_DEGRADE && !WELL.includes(state.phase))
    reasons.push(`failing:${code}`);
  if (state.captureLost) reasons.push('capture_lost');
  if (state.playbackLost) reasons.push('playback_lost');
  return reasons;
}

/** What `{p}/state` tells of a lane. */
export function reportLane(
  id: string,
  state: LaneState,
  device: { capture: string; playback: string },
  stampOf: (monotonic: number) => string | null,
): LaneReport {
  const { problem, stream, orders } = state;
  return {
    id,
    phase: state.phase,
    source: orders.source,
    targets: [...orders.targets],
    muted: orders.muted,
    volume: orders.volume,
    ...device,
    session: stream?.lease.grant.session ?? null,
    last_error:
      problem === null ? null : { ts: stampOf(problem.at), code: problem.code, message: problem.message },
  };
}
