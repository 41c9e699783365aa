import type { LaneReport } from '../../protocol/mqtt/device.ts';
import { nextTryAt } from './session/retry-wait.ts';
import { echoInForce } from './sound/echo-rules.ts';
import { isMuted, taskOf } from './state/lane-options.ts';
import type { LaneState } from './state/lane-state.ts';
import { hearingStream, phaseOf, streamsOf } from './state/session-state.ts';
import type { LaneProblem } from './state/state-parts.ts';

function reportEcho(state: LaneState): LaneReport['echo'] {
  const { measures, fallback } = state.echo;
  const { mode, tailMs } = echoInForce(state);
  const last = measures.at(-1);
  return {
    wanted: state.options.echo,
    mode,
    fallback: fallback?.reason ?? null,
    tail_ms: Math.round(tailMs),
    delay_ms: last === undefined ? null : Math.round(last.delayMs),
    gain_db: last === undefined ? null : Math.round(last.gainDb),
  };
}

function reportConversation(
  { conversation }: LaneState,
  stampOf: (monotonic: number) => string | null,
): LaneReport['conversation'] {
  if (conversation === null) return null;
  const { startedAt, notice } = conversation;
  return { since: stampOf(startedAt), notice: notice?.language ?? null };
}

function reportRefused({ refusedTask, options }: LaneState): LaneReport['refused_task'] {
  if (refusedTask === null) return null;
  const { instead, message } = refusedTask;
  return {
    ...('source' in instead && { source: options.source }),
    ...('targets' in instead && { targets: [...options.targets] }),
    ...('voice' in instead && { voice: options.voice }),
    message,
  };
}

/** The most recent of the current problems. */
function lastProblem({ problem, deviceFaults }: LaneState): LaneProblem | null {
  const all = [problem, ...Object.values(deviceFaults)].filter((one) => one !== null);
  return all.reduce<LaneProblem | null>(
    (last, one) => (last === null || one.at > last.at ? one : last),
    null,
  );
}

/** The report of a lane in `{p}/state`. */
export function reportLane(
  id: string,
  state: LaneState,
  device: { capture: string; playback: string },
  stampOf: (monotonic: number) => string | null,
  closedUntil: string | null = null,
): LaneReport {
  const { warning, session, options, backlog, settings } = state;
  const { source, targets } = taskOf(state);
  const stream = hearingStream(session);
  const tryAt = nextTryAt(state);
  const entry = (what: LaneProblem | null): LaneReport['last_error'] =>
    what === null ? null : { ts: stampOf(what.at), code: what.code, message: what.message };
  return {
    id,
    phase: phaseOf(session),
    source,
    targets: [...targets],
    refused_task: reportRefused(state),
    conversation: reportConversation(state, stampOf),
    muted: isMuted(options),
    volume: options.volume,
    headset: state.headset !== null,
    ...device,
    capture_findings: [...state.captureFindings],
    echo: reportEcho(state),
    room_dbfs: state.roomDb,
    vain_wakes: state.vainWakes.length,
    session: stream?.lease.grant.session ?? null,
    stream_host: stream?.lease.grant.streamHost ?? null,
    speech_lost_ms: Math.round(backlog.accounts.lost * settings.chunkMs),
    unspoken_ms: Math.round(state.counts.unspokenMs),
    speech_dropped_ms: Math.round(state.counts.speechDroppedMs),
    deaf_since: state.deafSince === null ? null : stampOf(state.deafSince),
    next_try_at: tryAt === null ? null : stampOf(tryAt),
    closed_until: closedUntil,
    last_error: entry(lastProblem(state)),
    last_warning: entry(warning),
  };
}

/** When each open stream was opened. */
export function openSince(state: LaneState): readonly number[] {
  // Called at each step, and flatMap is slow.
  const since: number[] = [];
  for (const { openedAt } of streamsOf(state)) if (openedAt !== null) since.push(openedAt);
  return since;
}

/** Total time (ms) for which the lane has had streams open: the time that the service charges for. */
export function billedMs(state: LaneState, now: number): number {
  return openSince(state).reduce((sum, openedAt) => sum + (now - openedAt), state.counts.streamMs);
}
