import type { LaneReport } from '../../protocol/mqtt/device.ts';
import { echoInForce } from './echo.ts';
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
  // A microphone that hears nothing; the others hear badly, which is no reason to send anybody at night.
  for (const finding of ['silent', 'deaf'] as const) {
    if (state.captureFindings.includes(finding)) reasons.push(`capture_${finding}`);
  }
  if (state.playbackLost) reasons.push('playback_lost');
  return reasons;
}

function reportEcho(state: LaneState): LaneReport['echo'] {
  const { measures, fallback } = state.echo;
  const { mode, tailMs } = echoInForce(state);
  const last = measures.at(-1);
  return {
    wanted: state.orders.echo,
    mode,
    fallback: fallback?.reason ?? null,
    tail_ms: Math.round(tailMs),
    delay_ms: last === undefined ? null : Math.round(last.delayMs),
    gain_db: last === undefined ? null : Math.round(last.gainDb),
  };
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
    capture_findings: [...state.captureFindings],
    echo: reportEcho(state),
    session: stream?.lease.grant.session ?? null,
    stream_host: stream?.lease.grant.streamHost ?? null,
    last_error:
      problem === null ? null : { ts: stampOf(problem.at), code: problem.code, message: problem.message },
  };
}
