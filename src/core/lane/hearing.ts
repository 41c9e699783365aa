import { observe } from '../activity.ts';
import { judge } from '../gate.ts';
import { type HeldChunk, take } from '../hold.ts';
import { heardLately } from '../playout.ts';
import { duckUnder } from './ducking.ts';
import { echoInForce } from './echo.ts';
import type { LaneEvent } from './event.ts';
import { isListening } from './phases.ts';
import { feedRetiring } from './retiring.ts';
import { rollInPause } from './rollover.ts';
import { isStreaming, pump, sendFiller } from './sending.ts';
import { feedLoudspeaker, onPlaybackFault } from './speaking.ts';
import { hearInStandby } from './standby.ts';
import type { Turn } from './turn.ts';
import { hurry } from './waiting.ts';

/** What the microphone has heard. */
export type Captured = Extract<LaneEvent, { type: 'captured' }>;

export function onCaptured(turn: Turn, captured: Captured): void {
  if (!isListening(turn.state.phase)) return;
  const { levels } = captured;
  const chunk = passGate(turn, captured);
  if (turn.state.captureLost) turn.notify('audio_back', { device: 'capture' });
  turn.set({ captureLost: false, starved: false, capturedCount: turn.state.capturedCount + 1 });
  // For what costs money both must agree: it is loud enough, and the voice detector, where there is one, hears a person.
  const isSpeech = chunk.voiced && levels.isSpeech !== false;
  if (isSpeech) turn.set({ lastVoiceAt: turn.now });
  if (isSpeech) duckUnder(turn);
  if (isSpeech) hurry(turn);
  if (turn.state.phase === 'standby') return hearInStandby(turn, chunk, isSpeech);
  const { hold, settings } = turn.state;
  turn.set({ hold: take(hold, chunk, Math.floor(settings.holdMs / settings.chunkMs)) });
  pump(turn);
  feedRetiring(turn);
  rollInPause(turn);
  // Behind the sending, which is in a hurry: waking up for the loudspeaker alone is dear.
  if (turn.state.timers.playout !== null) feedLoudspeaker(turn, settings.chunkMs);
}

/** Decides what of a chunk may be heard, and whether it is speech. */
function passGate(turn: Turn, { capturedAt, beganAt, pcm, levels }: Captured): HeldChunk {
  const { settings, orders, playout, capturedCount: seq, hold, activity } = turn.state;
  const { mode, tailMs } = echoInForce(turn.state);
  const decision = judge(
    { muted: orders.muted, echo: mode, heard: heardLately(playout), tailMs },
    capturedAt,
    // A chunk can have a gap in it, and its first sound be older than its length tells.
    Math.max(settings.chunkMs, capturedAt - (beganAt ?? capturedAt)),
  );
  const isHeldUp = turn.state.stream?.congestedSince != null;
  const queued = !isStreaming(turn) || isHeldUp || hold.chunks.length > 0;
  if (decision !== 'open') return { seq, capturedAt, pcm: null, voiced: false, queued };
  const heard = observe(activity, levels);
  turn.set({ activity: heard.activity });
  return { seq, capturedAt, pcm, voiced: heard.voiced, levels, queued };
}

/** Either a held chunk is due, or the microphone is late. */
export function onPaceTimer(turn: Turn): void {
  if (!isStreaming(turn)) return;
  if (turn.state.hold.chunks.length === 0) {
    sendFiller(turn);
    feedRetiring(turn);
  }
  pump(turn);
  rollInPause(turn);
}

/** Something is wrong with a microphone that delivers, or it is over. */
export function onCaptureNews(turn: Turn, news: Extract<LaneEvent, { type: 'capture_news' }>): void {
  const { finding, present, message } = news;
  const others = turn.state.captureFindings.filter((known) => known !== finding);
  turn.set({ captureFindings: present ? [...others, finding] : others });
  turn.notify(present ? 'capture_problem' : 'capture_problem_over', { finding, message });
}

export function onAudioFault(
  turn: Turn,
  device: 'capture' | 'playback',
  code: string,
  message: string,
): void {
  if (device === 'playback') return onPlaybackFault(turn, code, message);
  const known = turn.state.captureLost;
  turn.set({ problem: { code: `${device}_${code}`, message, at: turn.now }, captureLost: true });
  if (!known) turn.notify('audio_lost', { device, code, message });
}
