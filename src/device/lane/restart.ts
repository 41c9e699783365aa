import { type BackoffPolicy, drawBackoff } from '../../core/retry/backoff.ts';
import { isListening, isTransition } from '../../protocol/phases.ts';
import { flush, type Playout, SILENT_PLAYOUT } from '../playout/playout.ts';
import { owedChunks } from './replay/owed.ts';
import { closeStream } from './session/close.ts';
import { countEnd } from './session/resend.ts';
import { switchOutput } from './sound/headset.ts';
import { runsOutMs } from './sound/playback-rules.ts';
import type { LaneEffect } from './state/lane-effect.ts';
import type { LaneEvent, TimerName } from './state/lane-event.ts';
import { createLane, type LaneState } from './state/lane-state.ts';
import { hearingStream, leaseOf, streamsOf } from './state/session-state.ts';
import { StepContext } from './state/step-context.ts';
import { type Backlog, dropAll, EMPTY_BACKLOG, takeBack } from './uplink/backlog.ts';

/** Waits before a restart: a recurring bug must neither flood the owner with events nor waste tokens. */
const RESTART_WAIT: BackoffPolicy = { baseMs: 2000, capMs: 300_000, floorMs: 500 };

/**
 * Replaces a lane whose step threw with a fresh one, because its state may be inconsistent: closes everything that is open,
 * disarms all timers, and begins again after a wait. The new lane keeps only the operator's orders, the counts, and the
 * numbers that must stay unique.
 * @param defect `where`: the failed step, in words that contain no speech
 */
export function restart(
  context: StepContext,
  { where, during }: Extract<LaneEvent, { type: 'defect' }>,
): void {
  const { settings } = context.state;
  countDebts(context);
  const { backlog } = context.state;
  closeAll(context);
  context.set({ ...freshState(context.state, context.now), ...ordersIn(context.state, during) });
  if (during?.type === 'headset') switchOutput(context, during.isIn);
  const { wanted, hold, ending } = context.state;
  const message = `a defect of the program ended a step (${where}); see its log`;
  context.set({ problem: { code: 'internal_error', message, at: context.now } });
  let waitMs: number | null = null;
  const next = ending ? 'closed' : wanted && hold === null ? 'restarting' : 'idle';
  if (context.phase !== next && !isTransition(context.phase, next)) context.become({ kind: 'restarting' });
  context.become({ kind: next });
  if (next === 'restarting') {
    const { crashes, seed } = context.state;
    const drawn = drawBackoff(RESTART_WAIT, crashes, seed);
    waitMs = drawn.waitMs;
    context.set({ seed: drawn.seed });
    context.arm('retry', context.now + waitMs);
  }
  const lost = context.state.backlog.accounts.lost - backlog.accounts.lost;
  context.notify('internal_error', {
    message,
    retry_ms: waitMs,
    lost_ms: Math.round(lost * settings.chunkMs),
  });
}

/** Maximum number of streams that a lane has open at once. */
const MOST_STREAMS = 3;

/**
 * Rebuilds the lane if the restart threw, too: keeps its settings, orders and counts, and closes everything that may be open,
 * streams by their numbers.
 */
export function rebuild(
  state: LaneState,
  { where, during }: Extract<LaneEvent, { type: 'defect' }>,
  now: number,
): { state: LaneState; effects: readonly LaneEffect[] } {
  const { settings, options, acceptedTask, room, idPrefix, seed } = state;
  const { nextId, nextStream, crashes, counts } = state;
  const fresh: LaneState = {
    ...createLane({
      settings,
      options,
      acceptedTask,
      room,
      idPrefix,
      seed: typeof seed === 'number' ? seed : 1,
    }),
    nextId,
    nextStream,
    crashes: crashes + 1,
    counts: { ...counts, defects: counts.defects + 1 },
    wanted: state.wanted,
    hold: state.hold,
    ending: state.ending,
    brokerUp: state.brokerUp,
    backendSilent: state.backendSilent,
    conversation: state.conversation,
    headset: state.headset,
    isSwitching: state.isSwitching,
    ...ordersIn(state, during),
  };
  const { waitMs, seed: next } = drawBackoff(RESTART_WAIT, crashes, fresh.seed);
  const message = `a defect of the program ended a step (${where}), and the restart failed; see its log`;
  const phase = fresh.ending ? 'closed' : fresh.wanted && fresh.hold === null ? 'restarting' : 'idle';
  const context = new StepContext({ ...fresh, session: { kind: phase }, seed: next }, now);
  context.set({ problem: { code: 'internal_error', message, at: now } });
  if (during?.type === 'headset') switchOutput(context, during.isIn);
  for (let stream = Math.max(1, nextStream - MOST_STREAMS); stream < nextStream; stream++)
    context.emit({ type: 'close_stream', stream, how: 'terminate' });
  context.emit({ type: 'close_capture' });
  context.emit({ type: 'flush_playback' });
  context.emit({ type: 'duck', on: false });
  context.emit({ type: 'cancel_echo', on: fresh.options.echo === 'cancel' });
  for (const timer of Object.keys(fresh.timers) as TimerName[]) context.emit({ type: 'disarm', timer });
  if (phase === 'restarting') context.arm('retry', now + waitMs);
  context.notify('internal_error', { message, retry_ms: phase === 'restarting' ? waitMs : null });
  return { state: context.state, effects: context.effects };
}

/** Counts speech that the streams left unspoken. Their unanswered speech is lost with the backlog. */
function countDebts(context: StepContext): void {
  const { state } = context;
  try {
    for (const stream of streamsOf(state)) countEnd(context, stream, 'replayed');
  } catch {
    // A log is inconsistent: a partial sum would be wrong, so count nothing.
    context.set(state);
  }
}

function closeAll(context: StepContext): void {
  const { session, timers, options } = context.state;
  for (const open of streamsOf(context.state)) closeStream(context, open, 'internal_error', 'terminate');
  const lease = leaseOf(session);
  if (lease !== null) context.emit({ type: 'forget_grant', grant: lease.grant.id });
  if (isListening(context.phase)) context.emit({ type: 'close_capture' });
  reportUnsaid(context);
  context.emit({ type: 'flush_playback' });
  context.emit({ type: 'duck', on: false });
  // Applies when the microphone opens next: the restart also retries after an echo fallback.
  context.emit({ type: 'cancel_echo', on: options.echo === 'cancel' });
  context.disarm(...(Object.keys(timers) as TimerName[]));
}

/** Reports the pending operator's text as lost. */
function reportUnsaid(context: StepContext): void {
  const { saying } = context.state;
  if (saying === null) return;
  context.emit({ type: 'said', id: saying.id, outcome: 'lost', message: null, playedMs: 0 });
}

/** Orders in the failed step's event, which is not delivered again. Without them a lane would wait forever, or run although stopped. */
function ordersIn({ ending, options, headset }: LaneState, event: LaneEvent | undefined): Partial<LaneState> {
  switch (event?.type) {
    case 'start':
      return ending ? {} : { wanted: true };
    case 'stop':
      return { wanted: false };
    case 'hold':
      return { hold: event.hold };
    case 'shutdown':
      return { wanted: false, ending: true };
    case 'broker':
      return { brokerUp: event.up };
    case 'backend':
      return { backendSilent: event.silent };
    case 'options':
      return { options: { ...options, ...event.options } };
    case 'volume':
      return headset === null
        ? { options: { ...options, volume: event.percent } }
        : { headset: { ...headset, volume: event.percent } };
    case 'conversation':
      return { conversation: event.conversation };
    default:
      return {};
  }
}

/** A fresh lane that keeps orders, counts, session and seed. The caller replaces the session. */
function freshState(state: LaneState, now: number): LaneState {
  const { settings, options, acceptedTask, idPrefix, seed, counts } = state;
  const backlog = withOwed(state);
  const takenBack = counts.takenBack + backlog.chunks.length - state.backlog.chunks.length;
  return {
    ...createLane({ settings, options, acceptedTask, idPrefix, seed }),
    session: state.session,
    wanted: state.wanted,
    hold: state.hold,
    ending: state.ending,
    brokerUp: state.brokerUp,
    backendSilent: state.backendSilent,
    conversation: state.conversation,
    loss: state.loss,
    lostCounted: state.lostCounted,
    nextId: state.nextId,
    nextStream: state.nextStream,
    captureFindings: state.captureFindings,
    vainWakes: state.vainWakes,
    unspoken: state.unspoken,
    roomDb: state.roomDb,
    room: state.room,
    // The release of a held key may be lost with the step.
    twoWay: { ...state.twoWay, openUntil: Number.NEGATIVE_INFINITY },
    deviceFaults: { ...state.deviceFaults, capture: null },
    playbackLost: state.playbackLost,
    headset: state.headset,
    isSwitching: state.isSwitching,
    dropped: state.dropped,
    capturedCount: state.capturedCount,
    backlog: emptied(backlog),
    playout: silenced(state, now),
    counts: { ...counts, takenBack, defects: counts.defects + 1 },
    crashes: state.crashes + 1,
  };
}

/** The backlog with the speech that the closed streams had not spoken; without that speech if the logs are inconsistent. */
function withOwed({ backlog, session, oldSession }: LaneState): Backlog {
  try {
    const cut = [hearingStream(session), oldSession?.stream ?? null].filter((stream) => stream !== null);
    const owed = cut.flatMap(({ replay }) => owedChunks(replay));
    return takeBack(backlog, owed, Number.POSITIVE_INFINITY);
  } catch {
    return backlog;
  }
}

/** Drops the backlog and counts its speech as lost. */
function emptied(backlog: Backlog): Backlog {
  const { accounts } = dropAll(backlog);
  const lost = backlog.chunks.filter(({ pcm, voiced }) => pcm !== null && voiced).length;
  return { ...EMPTY_BACKLOG, accounts: { ...accounts, lost: accounts.lost + lost } };
}

/** Empties the playout, but keeps the times at which it was last heard, if possible: the echo gate needs them. */
function silenced(state: LaneState, now: number): Playout {
  const { playout } = state;
  const { queuedBytes, droppedBytes, writtenBytes, shed, late, gaps, timeline } = playout;
  const fresh = {
    ...SILENT_PLAYOUT,
    writtenBytes,
    shed,
    late,
    gaps,
    droppedBytes: droppedBytes + queuedBytes,
    timeline: { ...SILENT_PLAYOUT.timeline, nextWrite: timeline.nextWrite },
  };
  try {
    const { heard, earlier, timeline: known } = flush(playout, now, runsOutMs(state));
    return { ...fresh, heard, earlier, timeline: known };
  } catch {
    return fresh;
  }
}
