import type { UpgradeRefusal } from '../../ports/stream.ts';
import { classifyRefusal } from '../recovery.ts';
import { onOpened, onPollTimer, onSetupTimer, refreshTask } from './approach.ts';
import { unduck } from './ducking.ts';
import { attendChimes, onEarconTimer } from './earcons.ts';
import { onCanceller, onEchoHeard, onEchoOrders, orderEcho } from './echo.ts';
import type { LaneEffect } from './effect.ts';
import { dropApproach } from './ending.ts';
import type { LaneEvent, TimerName } from './event.ts';
import { onAudioFault, onCaptured, onCaptureNews, onPaceTimer } from './hearing.ts';
import { finish, hasten, onRetryTimer, start, stop } from './lifecycle.ts';
import { onCongested, onDrained, onPingTimer } from './liveness.ts';
import { lose, onEnded, onMessage } from './message.ts';
import { restart } from './restart.ts';
import { onRetireTimer } from './retiring.ts';
import { onRollTimer } from './rollover.ts';
import { isStreaming } from './sending.ts';
import { isSameTask, type LaneOrders } from './settings.ts';
import { hearService, onSilenceTimer } from './silent-service.ts';
import { feedLoudspeaker, onPlaybackBack, onSounding } from './speaking.ts';
import { attendLoss } from './speech-lost.ts';
import { neverSleeps, onStandbyTimer, wake } from './standby.ts';
import type { LaneState, Stream } from './state.ts';
import { attendSession } from './status.ts';
import { onDenied, onGranted, onLine, onTokenTimer, onUnusable } from './token.ts';
import { reviewTranslations } from './translations.ts';
import { Turn } from './turn.ts';

export interface StepResult {
  readonly state: LaneState;
  readonly effects: readonly LaneEffect[];
}

/**
 * One event into a lane. Pure: the same state, event and time give the same result.
 * @param now monotonic milliseconds, never going back
 */
export function step(state: LaneState, event: LaneEvent, now: number): StepResult {
  const turn = new Turn(state, now);
  if (state.phase === 'closed') return { state, effects: [] };
  // Looks at as little as possible of a state that may contradict itself.
  if (event.type === 'defect') restart(turn, event);
  else handle(turn, event);
  attendSession(turn);
  attendLoss(turn, state);
  if (event.type !== 'defect') attendChimes(turn, state);
  return { state: turn.state, effects: turn.effects };
}

function handle(turn: Turn, event: Exclude<LaneEvent, { type: 'defect' }>): void {
  switch (event.type) {
    case 'start':
      return start(turn);
    case 'stop':
      turn.set({ wanted: false });
      return stop(turn);
    case 'shutdown':
      turn.set({ wanted: false, ending: true });
      return stop(turn);
    case 'orders':
      return order(turn, event.orders);
    case 'line':
      return onLine(turn, event.up);
    case 'backend':
      return turn.set({ backendSilent: event.silent });
    case 'granted':
      return onGranted(turn, event.grant);
    case 'denied':
      return onDenied(turn, event.id, event.denial);
    case 'unusable':
      return onUnusable(turn, event.id, event.message);
    case 'captured':
      return onCaptured(turn, event);
    case 'capture_ended':
      return turn.set({ captureEnded: true });
    case 'audio_fault':
      return onAudioFault(turn, event.device, event.code, event.message);
    case 'echo_heard':
      return onEchoHeard(turn, event.heard, event.measure);
    case 'canceller':
      return onCanceller(turn, event.status, event.message);
    case 'echo_order':
      return orderEcho(turn, event.mode);
    case 'capture_news':
      return onCaptureNews(turn, event);
    case 'playback_back':
      return onPlaybackBack(turn);
    case 'sounding':
      return onSounding(turn, event);
    case 'timer':
      return onTimer(turn, event.timer);
    default: {
      const stream = streamOf(turn, event.stream);
      if (stream === null) turn.count('ignored');
      else onStream(turn, stream, event);
    }
  }
}

/** The stream of that number, wherever it stands: late voices of others are ignored. */
function streamOf(turn: Turn, id: number): Stream | null {
  const { stream, approach, retiring } = turn.state;
  return [stream, approach?.stream, retiring?.stream].find((known) => known?.id === id) ?? null;
}

function onStream(turn: Turn, stream: Stream, event: Extract<LaneEvent, { stream: number }>): void {
  switch (event.type) {
    case 'opened':
      return onOpened(turn, stream);
    case 'refused': {
      const { status, errorCode, texts, retryAfterMs } = event.refusal;
      const message = describeRefusal(event.refusal);
      const cause = classifyRefusal({ httpStatus: status, errorCode, texts });
      if (turn.state.phase === 'draining') return finish(turn);
      // A connection that would exceed the limit of streams opens none (docs/service.md 7.
      const unspent = cause === 'session_limit_reached' && stream.openedAt === null;
      return lose(turn, stream, cause, { message, errorCode, retryAfterMs, unspent });
    }
    case 'unreached': {
      // A connection that was open has spent its token, whatever is said of it afterwards.
      const unspent = !event.spent && stream.openedAt === null;
      const message = `cannot reach ${stream.lease.grant.streamHost}: ${event.message}`;
      return lose(turn, stream, 'network', { message, unspent });
    }
    case 'broke': {
      const cause = event.fault === 'service' ? 'protocol_error' : 'internal_error';
      return lose(turn, stream, cause, { message: event.message });
    }
    case 'message':
      onMessage(turn, hearService(turn, stream, event.message), event.message);
      return reviewTranslations(turn, stream);
    case 'pong':
      turn.put({ ...stream, pingsOut: 0 });
      return reviewTranslations(turn, stream);
    case 'congested':
      return onCongested(turn, stream);
    case 'drained':
      return onDrained(turn, stream);
    case 'ended':
      return onEnded(turn, stream, event.code, event.reason);
  }
}

/** What is shown of a refusal: its status, and its number and own words where it has any. */
function describeRefusal({ status, errorCode, detail }: UpgradeRefusal): string {
  const said = [errorCode, detail].filter((part) => part !== null).join(' ');
  return `the service refused the stream with HTTP ${status}${said === '' ? '' : `: ${said}`}`;
}

function onTimer(turn: Turn, timer: TimerName): void {
  if (!turn.expire(timer)) return;
  switch (timer) {
    case 'token':
      return onTokenTimer(turn);
    case 'retry':
      return onRetryTimer(turn);
    case 'setup':
      return onSetupTimer(turn);
    case 'poll':
      return onPollTimer(turn);
    case 'pace':
      return onPaceTimer(turn);
    case 'ping':
      return onPingTimer(turn);
    case 'silence':
      return onSilenceTimer(turn);
    case 'stable':
      return turn.set({ failures: 0, crashes: 0 });
    case 'drain':
      return turn.state.phase === 'draining' ? finish(turn) : undefined;
    case 'playout':
      return feedLoudspeaker(turn);
    case 'roll':
      return onRollTimer(turn);
    case 'retire':
      return onRetireTimer(turn);
    case 'standby':
      return onStandbyTimer(turn);
    case 'duck':
      return unduck(turn);
    case 'warning':
      return turn.set({ warning: null });
    case 'earcon':
      return onEarconTimer(turn);
  }
}

function order(turn: Turn, orders: Partial<LaneOrders>): void {
  const before = turn.state.orders;
  const after = { ...before, ...orders };
  turn.set({ orders: after });
  onEchoOrders(turn, before);
  if (after.volume !== before.volume) turn.emit({ type: 'set_volume', percent: after.volume });
  if (after.echo !== 'cancel') unduck(turn);
  if (after.standbyAfterMs !== before.standbyAfterMs && isStreaming(turn)) rearmStandby(turn);
  if (turn.state.phase === 'standby' && neverSleeps(after)) return wake(turn);
  if (isSameTask(before, after)) return;
  const { approach, stream } = turn.state;
  if (approach !== null && stream !== null) abandonRollover(turn, stream);
  const affected = turn.state.approach?.stream ?? turn.state.stream;
  if (affected !== null) refreshTask(turn, affected);
  else if (turn.state.problem?.code === 'task_rejected') hasten(turn);
}

function rearmStandby(turn: Turn): void {
  const { standbyAfterMs } = turn.state.orders;
  if (standbyAfterMs === 0) turn.disarm('standby');
  else turn.arm('standby', turn.now + standbyAfterMs);
}

/** The live session is told first; its successor is begun anew, with the new task. */
function abandonRollover(turn: Turn, stream: Stream): void {
  dropApproach(turn);
  turn.enter('live');
  if (stream.limitAt !== null) turn.arm('roll', turn.now + turn.state.settings.reapplyMs);
}
