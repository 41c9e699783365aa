import type { Spoke } from '../../../ports/stream.ts';
import { resume } from '../../playout/held.ts';
import {
  type Arrival,
  advance,
  correct,
  dropNew,
  enqueue,
  flush,
  type PlayoutFormat,
  speechMsOf,
  tell,
  type Unsounded,
  unsounded,
} from '../../playout/playout.ts';
import { OWN_STREAM } from '../../playout/sentences.ts';
import { dropSpeech, noteDropped } from '../losses/speech-dropped.ts';
import type { LaneEvent } from '../state/lane-event.ts';
import type { LaneState } from '../state/lane-state.ts';
import type { Stream } from '../state/session-state.ts';
import type { StepContext } from '../state/step-context.ts';
import { playsFrom } from '../two-way/two-way.ts';
import { forgetDeviceFault, noteDeviceFault } from './device-faults.ts';
import { onPathChanged } from './echo-rules.ts';
import { holdSpeech } from './held-sound.ts';
import { notePlayable, onUnreadable } from './unreadable.ts';

/** Remaining sound at which a running device is refilled (ms): otherwise the device would insert silence. */
const REFILL_MS = 140;
/** How long a running device still plays after a flush (ms): no more than this is written ahead. */
const RUNS_OUT_MS = 180;
/** How far ahead sound is written (ms): a long lead saves wake-ups, a short one lets a visitor interrupt soon. */
const AHEAD_MS = { 'half-duplex': 1000, off: 300, cancel: 180 } as const;

const NOISE = 'noise in place of speech: the agent mutes it';

function formatOf({ settings, options }: LaneState): PlayoutFormat {
  return {
    bytesPerMs: settings.playoutBytesPerMs,
    lagMs: settings.playoutLagMs,
    softEdges: settings.softEdges,
    quickens: settings.quickens,
    aheadMs: AHEAD_MS[options.echo],
    refillMs: options.echo === 'cancel' ? REFILL_MS : null,
  };
}

/**
 * Plays translated sound when its turn comes.
 * @returns how much of the sentence (ms) is now muted because it is noise
 */
export function playSound(context: StepContext, stream: Stream, message: Spoke): number {
  const noiseMs = queue(context, stream.id, message);
  if (noiseMs > 0) onUnreadable(context, stream, { what: 'sound', description: NOISE });
  else if (message.pcm.byteLength > 0) notePlayable(context);
  return noiseMs;
}

function queue(context: StepContext, stream: number, message: Spoke): number {
  const { playout: before, settings } = context.state;
  const arrival = arrivalOf(stream, message, context.now);
  context.set({ playout: enqueue(before, arrival, formatOf(context.state)) });
  noteDropped(context, before);
  feedLoudspeaker(context);
  return (context.state.playout.late.noise - before.late.noise) / settings.playoutBytesPerMs;
}

/** The lane is being stopped: drops translated sound that still arrives. */
export function dropOutputAudio(context: StepContext, stream: number, message: Spoke): void {
  const { playout: before, settings } = context.state;
  const { playout, isNew } = dropNew(before, arrivalOf(stream, message, context.now));
  context.set({ playout });
  const ms = message.pcm.byteLength / settings.playoutBytesPerMs;
  dropForStop(context, { sentences: isNew ? 1 : 0, ms });
}

/** The lane is being stopped: drops translated sound that waits. */
export function stopSpeaking(context: StepContext): void {
  const { playout, settings, playbackLost } = context.state;
  // Without a loudspeaker, written sound is not heard either.
  const from = playbackLost ? Number.POSITIVE_INFINITY : context.now + runsOutMs(context.state);
  dropForStop(context, unsounded(playout, from, settings.playoutBytesPerMs));
  silenceLoudspeaker(context);
}

function dropForStop(context: StepContext, { sentences, ms }: Unsounded): void {
  dropSpeech(context, context.state.playbackLost ? 'no_loudspeaker' : 'stop', ms, sentences);
}

function arrivalOf(
  stream: number,
  { utterance, language, pcm, last: complete }: Spoke,
  receivedAt: number,
): Arrival {
  return { stream, key: utterance ?? '', language, pcm, receivedAt, complete };
}

/**
 * Writes sound to the loudspeaker a little ahead of time.
 * @param soonMs sound that is due within this time is written now, because the lane is awake anyway
 */
export function feedLoudspeaker(context: StepContext, soonMs = 0): void {
  if (context.state.isSwitching) return;
  if (context.state.playbackLost) return holdSpeech(context, formatOf(context.state));
  const from = playsFrom(context.state, context.now);
  // While a held key keeps the microphone open, speech waits; the chime that confirms the key does not.
  const { utterances } = context.state.playout;
  const waiting = from > context.now ? utterances.filter(({ stream }) => stream !== OWN_STREAM) : [];
  const due = utterances.filter((one) => !waiting.includes(one));
  const duePlayout = { ...context.state.playout, utterances: due };
  const next = advance(duePlayout, context.now, formatOf(context.state), soonMs);
  context.set({ playout: { ...next.playout, utterances: [...next.playout.utterances, ...waiting] } });
  for (const write of next.writes) context.emit({ type: 'play', ...write });
  const wakeAt = Math.min(
    next.wakeAt ?? Number.POSITIVE_INFINITY,
    waiting.length > 0 ? from : Number.POSITIVE_INFINITY,
  );
  if (wakeAt === Number.POSITIVE_INFINITY) context.disarm('playout');
  else if (wakeAt !== context.state.timers.playout) context.arm('playout', wakeAt, next.slackMs);
}

/** The device reports, or corrects, when a write is heard: the echo gate and the pace of writing are adjusted. */
export function onHeard(
  context: StepContext,
  { write, from, until, audible }: Extract<LaneEvent, { type: 'sounding' }>,
): void {
  const { playout } = context.state;
  if (from !== null && until <= from)
    dropSpeech(context, 'no_loudspeaker', speechMsOf(playout.timeline, write), 0);
  const known =
    from === null
      ? correct(playout, write, until)
      : tell(playout, { write, from, until, ...(audible === undefined ? {} : { audible }) });
  if (known === playout) return;
  context.set({ playout: known });
  if (known.timeline.end !== playout.timeline.end) feedLoudspeaker(context);
}

/** How long the loudspeaker still sounds after a flush (ms). */
export function runsOutMs({ options }: Pick<LaneState, 'options'>): number {
  return options.echo === 'cancel' ? RUNS_OUT_MS : 0;
}

/** Stops playback now. */
export function silenceLoudspeaker(context: StepContext, why: 'stop' | 'barge_in' = 'stop'): void {
  context.emit({ type: 'flush_playback' });
  context.disarm('playout');
  context.set({
    playout: flush(context.state.playout, context.now, runsOutMs(context.state), why),
  });
}

/** The loudspeaker has failed: speech waits until it is back. */
export function onPlaybackFault(context: StepContext, code: string, message: string): void {
  const known = context.state.playbackLost;
  const { isSwitching } = context.state;
  context.set({ playbackLost: true, isSwitching: false });
  noteDeviceFault(context, 'playback', code, message);
  if (!known || isSwitching) feedLoudspeaker(context);
}

/** The loudspeaker works again, or another output is open. */
export function onPlaybackBack(context: StepContext): void {
  const { playbackLost, isSwitching, deviceFaults } = context.state;
  if (!playbackLost && !isSwitching) return;
  const playout = resume(context.state.playout, context.now);
  context.set({ playbackLost: false, isSwitching: false, probedAt: null, playout });
  forgetDeviceFault(context, 'playback');
  onPathChanged(context);
  feedLoudspeaker(context);
  if (deviceFaults.playback !== null) context.notify('audio_back', { device: 'playback' });
}
