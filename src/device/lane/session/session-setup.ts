import { primaryOf } from '../replay/language-tags.ts';
import { emptyReplayLog, retarget } from '../replay/replay-log.ts';
import { orderOf, type ServiceTask } from '../state/lane-options.ts';
import type { LaneState } from '../state/lane-state.ts';
import {
  hearingStream,
  type Lease,
  NO_SIGNS,
  type OpenStream,
  type Session,
  type Stream,
  setupOf,
} from '../state/session-state.ts';
import { NO_SILENCE } from '../state/silence-watch.ts';
import type { StepContext } from '../state/step-context.ts';
import { serviceTaskOf, spokenLanguages, waitsForTurn } from '../two-way/two-way.ts';
import { noteAccepted } from './accepted-task.ts';
import { noteRoom } from './account-limit.ts';
import { fail } from './failure.ts';
import { goLive, resumeLive } from './go-live.ts';
import { trySwitch } from './switch-session.ts';

/** Opens a stream with an unspent token. */
export function connect(context: StepContext, lease: Lease): void {
  const id = context.state.nextStream;
  const { maxDurationMs } = lease.grant;
  const { targets, either } = spokenLanguages(context.state);
  const stream: Stream = {
    id,
    lease,
    lastTaskAt: null,
    sentTask: null,
    unconfirmedSince: null,
    hearsUntil: Number.NEGATIVE_INFINITY,
    confirmedTask: null,
    lastPollAt: null,
    asked: false,
    taskStale: false,
    pingsOut: 0,
    congestedSince: null,
    openedAt: null,
    liveAt: null,
    // The service counts the session's time from when it accepts the stream: now at the earliest.
    limitAt: maxDurationMs === null ? null : context.now + maxDurationMs,
    mustGoFirst: false,
    rollFailures: 0,
    newsAt: null,
    signs: NO_SIGNS,
    firstUnreadable: null,
    silence: NO_SILENCE,
    replay: emptyReplayLog(targets, context.state.settings.replayMs, context.state.endsMarked, either),
  };
  context.set({ nextStream: id + 1 });
  context.advanceSetup({ stage: 'connecting', stream });
  context.emit({ type: 'open_stream', stream: id, grant: lease.grant.id });
  context.arm('setup', context.now + patience(context, connectPatience(context)));
}

/** Consecutive failures after which the connect timeout doubles: the connection itself may be slow. */
const FAILURES_PER_ADDRESS = 3;

/**
 * Timeout for opening a connection. The first three attempts, all to one address, get little time, because the backend may
 * know a better address. After every three failures the timeout doubles.
 */
function connectPatience({ state }: StepContext): number {
  const { firstConnectMs, connectMs } = state.settings;
  const failures = hearingStream(state.session)?.rollFailures ?? state.failures;
  return Math.min(connectMs, firstConnectMs * 2 ** Math.floor(failures / FAILURES_PER_ADDRESS));
}

/** Minimum timeout of a set-up step (ms), however near the limit is. */
const LEAST_PATIENCE_MS = 6000;

/** Timeout of a set-up step. The first attempt at a successor leaves time for a second attempt. */
function patience(context: StepContext, usualMs: number): number {
  const { session, settings, longestSetupMs } = context.state;
  if (session.kind !== 'rolling' || session.stream.rollFailures > 0) return usualMs;
  const { limitAt } = session.stream;
  if (limitAt === null) return usualMs;
  const leftMs = limitAt - settings.rollLatestMs - context.now;
  return Math.min(usualMs, Math.max(LEAST_PATIENCE_MS, 2 * longestSetupMs, leftMs / 2));
}

export function onOpened(context: StepContext, stream: Stream): void {
  const setup = setupOf(context.state.session);
  if (setup?.stage !== 'connecting' || setup.stream.id !== stream.id) return;
  context.emit({ type: 'forget_grant', grant: stream.lease.grant.id });
  const opened = { ...setup.stream, openedAt: context.now, lastTaskAt: context.now };
  context.advanceSetup({ stage: 'configuring', stream: opened });
  sendTask(context, opened);
}

/** Sends the task, and starts polling whether it runs. Audio is held meanwhile. */
function sendTask(context: StepContext, stream: OpenStream): void {
  const { settings } = context.state;
  const task = serviceTaskOf(context.state);
  context.patch(stream, {
    lastTaskAt: context.now,
    sentTask: task,
    unconfirmedSince: stream.unconfirmedSince ?? context.now,
    asked: false,
    taskStale: false,
  });
  context.emit({ type: 'send_task', stream: stream.id, ...task });
  // A further change does not restart the timeout, which could otherwise never expire.
  if (stream.unconfirmedSince === null)
    context.arm('setup', context.now + patience(context, settings.setupMs));
  const wait = stream.liveAt === null ? settings.firstPollMs : settings.reapplyMs;
  const askedAt = stream.lastPollAt ?? Number.NEGATIVE_INFINITY;
  context.arm('poll', Math.max(context.now + wait, askedAt + settings.pollMs));
}

/** The stream whose task is not confirmed: the one being set up, or the live one with a changed task. */
export function unsettled(session: Session): OpenStream | null {
  switch (session.kind) {
    case 'setup':
    case 'rolling':
      return session.setup.stage === 'configuring' ? session.setup.stream : null;
    case 'retasking':
      return session.stream;
    case 'live':
      return session.stream.taskStale ? session.stream : null;
    default:
      return null;
  }
}

/** How long a newer task may replace the first one of a stream (ms): no speech was sent yet. */
const GIVES_WAY_MS = 6000;
/** Time after which a newer task replaces one that is still not running (ms): tasks usually run after 2 to 7 s. */
const IN_VAIN_AFTER_MS = 8000;

/** Whether a newer task may replace a stream's first task before that task runs. A successor has no time for this. */
function givesWay({ session }: LaneState, { liveAt, unconfirmedSince }: OpenStream, now: number): boolean {
  if (liveAt !== null || session.kind === 'rolling') return false;
  return now - (unconfirmedSince ?? now) <= GIVES_WAY_MS;
}

/** When another task may be sent to the stream. Only one at a time: the service confirms none of several in quick succession. */
export function taskAllowedAt(state: LaneState, stream: OpenStream): number {
  const { lastTaskAt, sentTask, hearsUntil } = stream;
  const spacedAt = lastTaskAt + state.settings.pollMs;
  if (sentTask !== null) return givesWay(state, stream, spacedAt) ? spacedAt : lastTaskAt + IN_VAIN_AFTER_MS;
  // Held speech is sent before the next change of the task.
  const { session, backlog } = state;
  const isSending =
    session.kind === 'live' && backlog.chunks.length > 0 && !waitsForTurn(state, session.stream);
  return isSending ? Math.max(spacedAt, hearsUntil) : spacedAt;
}

/**
 * The languages or the voice have changed: sends the task again as soon as it is allowed. The newest of several changes
 * counts.
 */
export function refreshTask(context: StepContext): void {
  const { session, timers } = context.state;
  const stream = session.kind === 'live' ? session.stream : unsettled(session);
  if (stream === null) return;
  const allowedAt = taskAllowedAt(context.state, stream);
  if (allowedAt > context.now) {
    context.patch(stream, { taskStale: true });
    // The poll for the pending task is not postponed.
    const askedAt = stream.sentTask === null ? null : timers.poll;
    context.arm('poll', Math.max(context.now, Math.min(allowedAt, askedAt ?? allowedAt)));
    return;
  }
  if (session.kind === 'live') {
    context.become({ ...session, kind: 'retasking', rollIsDue: false });
    context.disarm('pace', 'silence', 'standby');
  }
  sendTask(context, stream);
}

export function onPollTimer(context: StepContext): void {
  const stream = unsettled(context.state.session);
  if (stream === null) return;
  const isWaiting = stream.taskStale;
  const allowedAt = isWaiting ? taskAllowedAt(context.state, stream) : Number.POSITIVE_INFINITY;
  if (isWaiting && (stream.sentTask === null || allowedAt <= context.now)) return refreshTask(context);
  context.patch(stream, { lastPollAt: context.now, asked: true });
  context.emit({ type: 'poll_task', stream: stream.id });
  context.arm('poll', Math.min(context.now + context.state.settings.pollMs, allowedAt));
}

/** The service has announced that its task runs: polls as soon as it is allowed. */
export function pollSoon(context: StepContext, { id }: Stream): void {
  const stream = unsettled(context.state.session);
  if (stream?.id !== id || stream.taskStale || stream.liveAt !== null) return;
  const allowedAt = (stream.lastPollAt ?? Number.NEGATIVE_INFINITY) + context.state.settings.pollMs;
  context.arm('poll', Math.max(context.now, allowedAt));
}

/**
 * Whether the service still names the languages of the previous task, which means that it has not applied the new one. Any
 * other languages prove nothing: the service may use its own tags.
 */
function isPreviousTask({ confirmedTask, sentTask }: Stream, named: readonly string[] | null): boolean {
  if (named === null || confirmedTask === null || sentTask === null) return false;
  const areNamed = ({ targets }: ServiceTask): boolean =>
    targets.length === named.length &&
    named.every((tag) => targets.some((target) => primaryOf(target) === primaryOf(tag)));
  return areNamed(confirmedTask) && !areNamed(sentTask);
}

/**
 * A task runs.
 * @param named its languages, if the service names them
 */
export function onTaskRuns(context: StepContext, { id }: Stream, named: readonly string[] | null): void {
  const { session } = context.state;
  const stream = unsettled(session);
  // An answer to a poll before the last task does not concern the new task.
  if (stream?.id !== id || !stream.asked || stream.sentTask === null) return;
  if (isPreviousTask(stream, named)) return;
  // A newer task may still replace the first one, because no speech was sent yet.
  const spacedAt = stream.lastTaskAt + context.state.settings.pollMs;
  if (stream.taskStale && givesWay(context.state, stream, spacedAt)) return;
  context.disarm('setup', 'poll');
  const confirmedTask = stream.sentTask;
  noteAccepted(context, orderOf(confirmedTask));
  const { targets, either } = spokenLanguages(context.state);
  const replay = retarget(stream.replay, either ? targets : confirmedTask.targets, either);
  // A newer change is sent as soon as the stream is live.
  const settled = { sentTask: null, unconfirmedSince: null, taskStale: false };
  const confirmed = { ...settled, confirmedTask, replay };
  if (session.kind === 'retasking')
    return resumeLive(context, { ...session, stream: { ...session.stream, ...confirmed } });
  noteSetup(context, context.now - stream.lastTaskAt);
  const ready = { ...stream, ...confirmed };
  if (session.kind !== 'rolling') return goLive(context, ready);
  context.become({ ...session, setup: { stage: 'ready', stream: ready } });
  noteRoom(context);
  trySwitch(context);
}

/** Keeps the longest recent set-up time of this service; older ones count less. */
function noteSetup(context: StepContext, tookMs: number): void {
  context.set({ longestSetupMs: Math.max(tookMs, context.state.longestSetupMs * 0.8) });
}

export function onSetupTimer(context: StepContext): void {
  const { session } = context.state;
  if (session.kind === 'retasking') return fail(context, 'setup_timeout', { stream: session.stream });
  const setup = setupOf(session);
  if (setup === null || setup.stage === 'acquiring') return;
  const { stage, stream } = setup;
  const message = `${stream.lease.grant.streamHost} did not accept the connection in time`;
  fail(context, 'setup_timeout', { stream, ...(stage === 'connecting' && { message }) });
}
