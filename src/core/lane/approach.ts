import { emptyReplayLog, retarget } from '../replay/log.ts';
import { anchorAnew } from '../replay/times.ts';
import { fail } from './ending.ts';
import { goLive } from './live.ts';
import { noteRoom } from './room.ts';
import { isSameTask } from './settings.ts';
import { NO_SILENCE } from './silence.ts';
import type { Approach, Lease, Stream } from './state.ts';
import { trySwitch } from './switchover.ts';
import type { Turn } from './turn.ts';

/** Goes on with the approach. Without a live session beside it, the lane's phase is the approach's stage. */
export function approachTo(
  turn: Turn,
  stage: Exclude<Approach['stage'], 'ready'>,
  stream: Stream | null,
): void {
  const first = turn.state.approach === null;
  turn.set({ approach: { stage, stream } });
  if (turn.state.stream === null) turn.enter(stage);
  else if (first) turn.enter('rolling');
}

/** Opens a stream with a token that has not been used. */
export function connect(turn: Turn, lease: Lease): void {
  const id = turn.state.nextStream;
  const { maxDurationMs } = lease.grant;
  const stream: Stream = {
    id,
    lease,
    lastTaskAt: null,
    confirmedTask: null,
    lastPollAt: null,
    asked: false,
    taskStale: false,
    pingsOut: 0,
    congestedSince: null,
    openedAt: null,
    liveAt: null,
    // The service counts from the moment it accepts, which can't be before now.
    limitAt: maxDurationMs === null ? null : turn.now + maxDurationMs,
    mustGoFirst: false,
    rollFailures: 0,
    newsAt: null,
    silence: NO_SILENCE,
    replay: emptyReplayLog(turn.state.orders.targets),
  };
  turn.set({ nextStream: id + 1, lease: null });
  approachTo(turn, 'connecting', stream);
  turn.emit({ type: 'open_stream', stream: id, grant: lease.grant.id });
  turn.arm('setup', turn.now + patience(turn, turn.state.settings.connectMs));
}

/** A set-up that takes no longer than this is not given up, however near the limit is. */
const LEAST_PATIENCE_MS = 6000;

/** How long a step of the set-up may take: the first try at a successor leaves time for a second one. */
function patience(turn: Turn, usualMs: number): number {
  const { stream, approach, settings, longestSetupMs } = turn.state;
  if (stream?.limitAt == null || approach === null || stream.rollFailures > 0) return usualMs;
  const leftMs = stream.limitAt - settings.rollLatestMs - turn.now;
  return Math.min(usualMs, Math.max(LEAST_PATIENCE_MS, 2 * longestSetupMs, leftMs / 2));
}

export function onOpened(turn: Turn, stream: Stream): void {
  const { approach } = turn.state;
  if (approach?.stage !== 'connecting' || approach.stream?.id !== stream.id) return;
  turn.emit({ type: 'forget_grant', grant: stream.lease.grant.id });
  const opened = { ...stream, openedAt: turn.now };
  approachTo(turn, 'configuring', opened);
  sendTask(turn, opened);
}

/** Tells the service what to do, and begins to ask whether it does. Audio is held meanwhile. */
export function sendTask(turn: Turn, stream: Stream): void {
  const { orders, settings } = turn.state;
  const { replay } = stream;
  const times = stream.liveAt === null ? replay.times : anchorAnew(replay.times, replay.sentMs);
  turn.put({ ...stream, lastTaskAt: turn.now, asked: false, taskStale: false, replay: { ...replay, times } });
  turn.emit({
    type: 'send_task',
    stream: stream.id,
    source: orders.source,
    targets: orders.targets,
    voice: orders.voice,
  });
  turn.arm('setup', turn.now + patience(turn, settings.setupMs));
  const wait = stream.liveAt === null ? settings.firstPollMs : settings.reapplyMs;
  const askedAt = stream.lastPollAt ?? Number.NEGATIVE_INFINITY;
  turn.arm('poll', Math.max(turn.now + wait, askedAt + settings.pollMs));
}

/** The stream whose task is not settled: the one on its way, or the live one that was told something new. */
export function unsettled(turn: Turn): Stream | null {
  const { approach, stream, phase } = turn.state;
  if (approach !== null) return approach.stage === 'configuring' ? approach.stream : null;
  return phase === 'configuring' || stream?.taskStale === true ? stream : null;
}

/** The languages or the voice changed while a stream is up: the task is set again, as soon as the service allows. */
export function refreshTask(turn: Turn, stream: Stream): void {
  const { phase, settings } = turn.state;
  if (phase !== 'live' && phase !== 'configuring') return;
  const allowedAt = (stream.lastTaskAt ?? Number.NEGATIVE_INFINITY) + settings.pollMs;
  if (allowedAt > turn.now) {
    turn.put({ ...stream, taskStale: true });
    turn.arm('poll', allowedAt);
    return;
  }
  if (phase === 'live') {
    turn.enter('configuring');
    turn.disarm('pace', 'silence', 'standby');
  }
  sendTask(turn, stream);
}

export function onPollTimer(turn: Turn): void {
  const stream = unsettled(turn);
  if (stream === null) return;
  if (stream.taskStale) {
    refreshTask(turn, stream);
    return;
  }
  turn.put({ ...stream, lastPollAt: turn.now, asked: true });
  turn.emit({ type: 'poll_task', stream: stream.id });
  turn.arm('poll', turn.now + turn.state.settings.pollMs);
}

/** A live service pushes word of its task: asks now rather than later, if it may. */
export function hastenPoll(turn: Turn, stream: Stream): void {
  if (unsettled(turn)?.id !== stream.id || stream.taskStale || stream.liveAt !== null) return;
  const allowedAt = (stream.lastPollAt ?? Number.NEGATIVE_INFINITY) + turn.state.settings.pollMs;
  turn.arm('poll', Math.max(turn.now, allowedAt));
}

/** The task runs. */
export function onTaskRuns(turn: Turn, stream: Stream): void {
  // An answer to a question that was asked before the last set_task tells nothing about the new task.
  if (unsettled(turn)?.id !== stream.id || stream.taskStale || !stream.asked) return;
  turn.disarm('setup', 'poll');
  const { approach, orders } = turn.state;
  const { source, targets, voice } = orders;
  const confirmed = {
    ...stream,
    confirmedTask: { source, targets, voice },
    replay: retarget(stream.replay, targets),
  };
  turn.put(confirmed);
  if (approach !== null) noteSetup(turn, turn.now - (stream.lastTaskAt ?? turn.now));
  if (approach === null || turn.state.stream === null) return goLive(turn, confirmed);
  turn.set({ approach: { stage: 'ready', stream: confirmed } });
  noteRoom(turn);
  trySwitch(turn);
}

/** How long this service takes is known from its last few streams: what was long ago counts less. */
function noteSetup(turn: Turn, tookMs: number): void {
  turn.set({ longestSetupMs: Math.max(tookMs, turn.state.longestSetupMs * 0.8) });
}

/** Whether there is a task before the rejected one; one that is rejected although it ran once is not tried for ever. */
export function canRevert(turn: Turn, stream: Stream): boolean {
  const { confirmedTask: task, taskStale } = stream;
  return task !== null && (taskStale || !isSameTask(task, turn.state.orders));
}

/** The service does not take a new task on a running stream: the one before it goes on, and the operator is told. */
export function revertTask(turn: Turn, stream: Stream, message: string): void {
  // A newer wish waits its turn: what was said of the one before it is of no interest any more.
  if (stream.taskStale) return;
  const { orders } = turn.state;
  turn.set({ orders: { ...orders, ...stream.confirmedTask } });
  turn.set({ problem: { code: 'task_rejected', message, at: turn.now } });
  turn.notify('refused', { cause: 'task_rejected', message, source: orders.source, targets: orders.targets });
  refreshTask(turn, stream);
}

export function onSetupTimer(turn: Turn): void {
  const { approach, phase } = turn.state;
  if (approach !== null) {
    const { stage, stream } = approach;
    const silent = stage === 'connecting' && stream !== null;
    const message = silent ? `${stream.lease.grant.streamHost} does not answer the connection` : null;
    fail(turn, 'setup_timeout', { stream, ...(message !== null && { message }) });
  } else if (phase === 'configuring') fail(turn, 'setup_timeout', { stream: turn.state.stream });
}
