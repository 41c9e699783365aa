import { isListening } from '../../protocol/phases.ts';
import { isTalk, mayBeSpeech } from '../../sound/speech/decision.ts';
import { type ChunkLevels, trackNoiseFloor } from '../../sound/speech/noise-floor.ts';
import { feedOldSession } from './session/old-session.ts';
import { shortenWaits } from './session/retry-wait.ts';
import { rollInPause } from './session/rollover.ts';
import { hearInStandby } from './session/standby.ts';
import { forgetVainWakes } from './session/vain-wakes.ts';
import { forgetDeviceFault, noteDeviceFault } from './sound/device-faults.ts';
import { duckUnder } from './sound/ducking.ts';
import { echoInForce, onPathChanged, reviewEcho } from './sound/echo-rules.ts';
import { heardInRoom } from './sound/headset.ts';
import { feedLoudspeaker, onPlaybackFault } from './sound/playback-rules.ts';
import { pump, sendFiller } from './sound/sending.ts';
import { isVoiceExpected } from './sound/spoken-voice.ts';
import type { LaneEvent } from './state/lane-event.ts';
import { isMuted } from './state/lane-options.ts';
import { isCongested, isStreaming } from './state/session-state.ts';
import type { DeviceFaults } from './state/state-parts.ts';
import type { StepContext } from './state/step-context.ts';
import { heardWhileHeld } from './two-way/held-window.ts';
import { turnsByKey } from './two-way/two-way.ts';
import { type BacklogChunk, take } from './uplink/backlog.ts';
import { type GateDecision, judge } from './uplink/gate.ts';

/** How long half-duplex stays closed before that is reported (ms): no sentence is that long. */
const DEAF_AFTER_MS = 60_000;

/** Audio of the microphone. */
export type Captured = Extract<LaneEvent, { type: 'captured' }>;

export function onCaptured(context: StepContext, captured: Captured): void {
  if (!isListening(context.phase)) return;
  const { levels } = captured;
  reviewEcho(context);
  // The microphone may be another one, or may have been moved.
  if (context.state.captureLost) onPathChanged(context);
  const chunk = passGate(context, captured);
  if (context.state.captureLost) context.notify('audio_back', { device: 'capture' });
  context.set({ captureLost: false, starved: false, capturedCount: context.state.capturedCount + 1 });
  forgetDeviceFault(context, 'capture');
  if (mayBeSpeech(chunk.voiced, levels)) duckUnder(context);
  noteRoom(context, levels);
  forgetVainWakes(context);
  const talks = noteVoice(context, chunk, levels);
  if (talks) shortenWaits(context);
  if (context.phase === 'standby') return hearInStandby(context, chunk, talks);
  const { backlog, settings } = context.state;
  context.set({ backlog: take(backlog, chunk, Math.floor(settings.backlogMs / settings.chunkMs)) });
  pump(context);
  feedOldSession(context);
  rollInPause(context);
  // This comes after sending, which is more urgent. Feeding the loudspeaker here saves a wake-up.
  if (context.state.timers.playout !== null) feedLoudspeaker(context, settings.chunkMs);
}

/** Whether the chunk is a voice. Shortly after a conversation, a less certain voice is enough in standby. */
function noteVoice(context: StepContext, { pcm, voiced }: BacklogChunk, levels: ChunkLevels): boolean {
  // The gate is closed: the sound may be that of the loudspeaker.
  if (pcm === null) return false;
  const { state, now, phase } = context;
  const mistakes = state.vainWakes.length;
  const isSure = isTalk(voiced, levels, mistakes);
  const isExpected = phase === 'standby' && isVoiceExpected(state, now);
  if (isSure) context.set({ sureVoiceAt: now });
  if (!isSure && !(isExpected && isTalk(voiced, levels, mistakes, true))) return false;
  context.set({ lastVoiceAt: now });
  return true;
}

/** Smallest change of the room's level (dB) that is reported. */
const ROOM_STEP_DB = 3;

function noteRoom(context: StepContext, { talk }: ChunkLevels): void {
  if (talk === undefined) return;
  const { roomDb } = context.state;
  if (roomDb !== null && Math.abs(talk.roomDb - roomDb) < ROOM_STEP_DB) return;
  context.set({ roomDb: Math.round(talk.roomDb) });
}

/** Decides whether a chunk passes the echo gate, and whether it is speech. */
function passGate(
  context: StepContext,
  { capturedAt, beganAt, pcm, levels, isOthers }: Captured,
): BacklogChunk {
  const { settings, options, capturedCount: seq, backlog, noiseFloor, closing } = context.state;
  const { mode, tailMs } = echoInForce(context.state);
  // A chunk may contain a gap: then its first sample is older than its length implies.
  const ms = Math.max(settings.chunkMs, capturedAt - (beganAt ?? capturedAt));
  const sound = heardWhileHeld(context.state, pcm, capturedAt, ms);
  const muted = isMuted(options) || closing?.isDeaf === true || sound === null || isOthers === true;
  const all = [...heardInRoom(context.state), ...(context.state.room?.heard ?? [])];
  const decision = judge({ muted, echo: mode, heard: all, tailMs }, capturedAt, ms);
  const { speaker, turnedAt } = context.state.twoWay;
  const before = speaker === 'source' ? 'target' : 'source';
  const whose = turnsByKey(context.state) ? { speaker: capturedAt > turnedAt ? speaker : before } : {};
  const { session } = context.state;
  const queued = !isStreaming(session) || isCongested(session) || backlog.chunks.length > 0;
  noteGate(context, decision);
  if (decision !== 'open') return { seq, capturedAt, pcm: null, voiced: false, queued, ...whose };
  const heard = trackNoiseFloor(noiseFloor, levels);
  context.set({ noiseFloor: heard.noiseFloor });
  return { seq, capturedAt, pcm: sound, voiced: heard.voiced, levels, queued, ...whose };
}

/** Reports a half-duplex gate that never opens: no speech passes it. */
function noteGate(context: StepContext, decision: GateDecision): void {
  const { silencedSince, deafSince } = context.state;
  if (decision !== 'echo') {
    if (silencedSince !== null) context.set({ silencedSince: null, deafSince: null });
    return;
  }
  if (silencedSince === null) return context.set({ silencedSince: context.now });
  if (deafSince === null && context.now - silencedSince > DEAF_AFTER_MS)
    context.set({ deafSince: silencedSince });
}

/** A held chunk is due, or the microphone is late. */
export function onPaceTimer(context: StepContext): void {
  if (!isStreaming(context.state.session)) return;
  if (context.state.backlog.chunks.length === 0) {
    sendFiller(context);
    feedOldSession(context);
  }
  pump(context);
  rollInPause(context);
}

/** The sound of the microphone has a problem, or the problem is over. */
export function onCaptureNews(
  context: StepContext,
  news: Extract<LaneEvent, { type: 'capture_news' }>,
): void {
  const { finding, present, message } = news;
  const others = context.state.captureFindings.filter((known) => known !== finding);
  context.set({ captureFindings: present ? [...others, finding] : others });
  // The canceller learned the echo while it was clipped: it must learn again.
  if (finding === 'clipping' && !present) onPathChanged(context);
  context.notify(present ? 'capture_problem' : 'capture_problem_over', { finding, message });
}

export function onAudioFault(
  context: StepContext,
  device: keyof DeviceFaults,
  code: string,
  message: string,
): void {
  if (device === 'playback') return onPlaybackFault(context, code, message);
  if (device === 'capture') context.set({ captureLost: true });
  noteDeviceFault(context, device, code, message);
}
