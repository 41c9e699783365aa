import type { StreamFault } from '../../ports/stream.ts';
import type { MonotonicMs } from '../../protocol/common/time.ts';
import type { Cause } from '../../protocol/mqtt/causes.ts';
import { onAudioFault, onCaptured, onCaptureNews, onPaceTimer } from './capture-events.ts';
import { calmHeadset, changeOptions, changeVolume, setEcho } from './change-options.ts';
import { dropSpeech, trackDropped } from './losses/speech-dropped.ts';
import { forgetOld, trackSpeechLoss } from './losses/speech-lost.ts';
import { trackUnspoken } from './losses/unspoken.ts';
import { rebuild, restart } from './restart.ts';
import { lose, onService } from './service-events.ts';
import { onCongested, onDrained, onPingTimer } from './session/dead-connection.ts';
import { onClosingTimer, setHold } from './session/hold.ts';
import { closeDrained, onRetryTimer, start, stop } from './session/lifecycle.ts';
import { trackSession } from './session/no-session.ts';
import { onOldSessionTimer } from './session/old-session.ts';
import { onSayingTimer, say, trackSaying } from './session/operator-text.ts';
import { repeatCut } from './session/resend.ts';
import { catchUpAfterTask, onRollTimer } from './session/rollover.ts';
import { onOpened, onPollTimer, onSetupTimer } from './session/session-setup.ts';
import { onSilenceTimer } from './session/silent-service.ts';
import { onStandbyTimer } from './session/standby.ts';
import { onBroker, onDenied, onGranted, onTokenTimer, onUnusable } from './session/token-request.ts';
import { onDeviceBack } from './sound/device-faults.ts';
import { unduck } from './sound/ducking.ts';
import { announce, onEarconTimer, playChime, prompt, updateChimes } from './sound/earcons.ts';
import { onCanceller, onEchoHeard } from './sound/echo-rules.ts';
import { onPlug } from './sound/headset.ts';
import { speakPhrase } from './sound/phrase.ts';
import { feedLoudspeaker, onHeard, onPlaybackBack } from './sound/playback-rules.ts';
import { repeat, trackLastSpoken } from './sound/repeat.ts';
import { onUnreadable } from './sound/unreadable.ts';
import type { LaneEffect } from './state/lane-effect.ts';
import type { LaneEvent, TimerName } from './state/lane-event.ts';
import type { LaneState } from './state/lane-state.ts';
import { type Stream, streamsOf } from './state/session-state.ts';
import { StepContext } from './state/step-context.ts';
import { turn } from './turn.ts';

export interface StepResult {
  readonly state: LaneState;
  readonly effects: readonly LaneEffect[];
}

/**
 * Handles one event. Pure: the same state, event and time give the same result.
 * @param now monotonic milliseconds, never decreasing
 */
export function step(state: LaneState, event: LaneEvent, now: MonotonicMs): StepResult {
  if (event.type === 'defect') return restartLane(state, event, now);
  if (state.session.kind === 'closed') return { state, effects: [] };
  const context = new StepContext(state, now);
  forgetOld(context);
  const before = context.keep();
  handle(context, event);
  catchUpAfterTask(context, state);
  trackSaying(context);
  trackSession(context);
  trackSpeechLoss(context, before);
  trackUnspoken(context, before);
  trackDropped(context);
  trackLastSpoken(context, before);
  updateChimes(context, state);
  return { state: context.state, effects: context.effects };
}

/** Restarts the lane after a bug. The state may be inconsistent: if the restart throws too, the lane is rebuilt from fewer parts of the state. */
function restartLane(
  state: LaneState,
  event: Extract<LaneEvent, { type: 'defect' }>,
  now: number,
): StepResult {
  try {
    if (state.session.kind === 'closed') return { state, effects: [] };
    const context = new StepContext(state, now);
    restart(context, event);
    trackSession(context);
    trackSpeechLoss(context, state);
    trackUnspoken(context, state);
    trackDropped(context);
    return { state: context.state, effects: context.effects };
  } catch {
    return rebuild(state, event, now);
  }
}

function handle(context: StepContext, event: Exclude<LaneEvent, { type: 'defect' }>): void {
  switch (event.type) {
    case 'start':
      return start(context);
    case 'stop':
      context.set({ wanted: false });
      return stop(context);
    case 'shutdown':
      context.set({ wanted: false, ending: true });
      return stop(context);
    case 'hold':
      return setHold(context, event.hold);
    case 'options':
      return changeOptions(context, event.options);
    case 'volume':
      return changeVolume(context, event.percent);
    case 'headset':
      return onPlug(context, event.isIn);
    case 'conversation':
      context.set({ conversation: event.conversation });
      return event.conversation === null ? calmHeadset(context) : undefined;
    case 'broker':
      return onBroker(context, event.up);
    case 'backend':
      return context.set({ backendSilent: event.silent });
    case 'granted':
      return onGranted(context, event.grant);
    case 'denied':
      return onDenied(context, event.id, event.denial);
    case 'unusable':
      return onUnusable(context, event.id, event.message);
    case 'captured':
      return onCaptured(context, event);
    case 'capture_ended':
      return context.set({ captureEnded: true });
    case 'audio_fault':
      return onAudioFault(context, event.device, event.code, event.message);
    case 'device_back':
      return onDeviceBack(context, event.device);
    case 'echo_heard':
      return onEchoHeard(context, event.heard, event.measure);
    case 'canceller':
      return onCanceller(context, event.status, event.message);
    case 'room_heard':
      return context.set({ room: { heard: event.heard, playedMs: event.playedMs } });
    case 'turn':
      return turn(context, event.speaker, event.held);
    case 'chime':
      return playChime(context, event.earcon);
    case 'announce':
      return announce(context, event.pcm);
    case 'prompt':
      return prompt(context, event.pcm);
    case 'repeat':
      return repeat(context, event.language);
    case 'phrase':
      return speakPhrase(context, event);
    case 'say':
      return say(context, event);
    case 'set_echo':
      return setEcho(context, event.mode);
    case 'capture_news':
      return onCaptureNews(context, event);
    case 'playback_back':
      return onPlaybackBack(context);
    case 'unheard':
      return dropSpeech(context, 'no_loudspeaker', event.ms, 0);
    case 'sounding':
      return onHeard(context, event);
    case 'timer':
      return onTimer(context, event.timer);
    default: {
      // A late event of a stream that is gone is ignored.
      const stream = streamsOf(context.state).find(({ id }) => id === event.stream);
      if (stream === undefined) context.count('ignored');
      else onStream(context, stream, event);
    }
  }
}

function onStream(context: StepContext, stream: Stream, event: Extract<LaneEvent, { stream: number }>): void {
  switch (event.type) {
    case 'opened':
      return onOpened(context, stream);
    case 'unreached': {
      // A connection that was open has spent its token.
      const unspent = !event.spent && stream.openedAt === null;
      const message = `cannot reach ${stream.lease.grant.streamHost}: ${event.message}`;
      return lose(context, stream, 'network', { message, unspent, isOurs: event.isOurs === true });
    }
    case 'broke':
      return lose(context, stream, CAUSES[event.fault], { message: event.message });
    case 'service':
      return onService(context, stream, event.said);
    case 'unreadable':
      return onUnreadable(context, stream, event);
    case 'pong':
      context.patch(stream, { pingsOut: 0 });
      return repeatCut(context, stream);
    case 'congested':
      return onCongested(context, stream);
    case 'drained':
      return onDrained(context, stream);
  }
}

/** The cause reported for a stream that was ended on this side. */
const CAUSES: Readonly<Record<StreamFault, Cause>> = {
  service: 'protocol_error',
  flood: 'flooded',
  agent: 'internal_error',
};

function onTimer(context: StepContext, timer: TimerName): void {
  if (!context.expire(timer)) return;
  switch (timer) {
    case 'token':
      return onTokenTimer(context);
    case 'retry':
      return onRetryTimer(context);
    case 'setup':
      return onSetupTimer(context);
    case 'poll':
      return onPollTimer(context);
    case 'pace':
      return onPaceTimer(context);
    case 'ping':
      return onPingTimer(context);
    case 'silence':
      return onSilenceTimer(context);
    case 'stable':
      return context.set({ failures: 0, crashes: 0 });
    case 'drain':
      return onDrainTimer(context);
    case 'playout':
      return feedLoudspeaker(context);
    case 'roll':
      return onRollTimer(context);
    case 'drainOld':
      return onOldSessionTimer(context);
    case 'standby':
      return onStandbyTimer(context);
    case 'duck':
      return unduck(context);
    case 'warning':
      return context.set({ warning: null });
    case 'earcon':
      return onEarconTimer(context);
    case 'closing':
      return onClosingTimer(context);
    case 'saying':
      return onSayingTimer(context);
  }
}

/** The service did not end the stream in time. */
function onDrainTimer(context: StepContext): void {
  const { session } = context.state;
  if (session.kind === 'draining') closeDrained(context, session);
}
