import type { StreamMessage } from '../../ports/stream.ts';
import { advance, correct, enqueue, flush, type Playout, type PlayoutFormat, tell } from '../playout.ts';
import type { LaneEvent } from './event.ts';
import type { LaneState } from './state.ts';
import type { Turn } from './turn.ts';

/** So far ahead the loudspeaker is fed: seldom, which saves work, or so that it soon gives way to who speaks over it. */
const AHEAD_MS = { 'half-duplex': 1000, off: 300, cancel: 180 } as const;

function formatOf({ settings, orders }: LaneState): PlayoutFormat {
  return {
    bytesPerMs: settings.playoutBytesPerMs,
    lagMs: settings.playoutLagMs,
    softEdges: settings.softEdges,
    quickens: settings.quickens,
    aheadMs: AHEAD_MS[orders.echo],
  };
}

export function onOutputAudio(
  turn: Turn,
  stream: number,
  message: Extract<StreamMessage, { message_type: 'output_audio' }>,
): void {
  const before = turn.state.playout;
  const arrival = {
    stream,
    key: message.utterance ?? '',
    pcm: message.pcm,
    receivedAt: turn.now,
    complete: message.last,
  };
  turn.set({ playout: enqueue(before, arrival, formatOf(turn.state)) });
  tellShed(turn, before);
  feedLoudspeaker(turn);
}

/** Sentences that nobody will hear are not given up in silence. */
function tellShed(turn: Turn, before: Playout): void {
  const { playout, settings } = turn.state;
  const sentences = playout.shed.sentences - before.shed.sentences;
  if (sentences === 0) return;
  const inMs = (bytes: number): number => Math.round(bytes / settings.playoutBytesPerMs);
  turn.notify('speech_dropped', {
    why: 'lag',
    sentences,
    dropped_ms: inMs(playout.shed.bytes - before.shed.bytes),
    waiting_ms: inMs(playout.queuedBytes),
  });
}

/**
 * Keeps the loudspeaker fed a little ahead of what is heard.
 * @param soonMs the lane is awake anyway: what is due within this is written now
 */
export function feedLoudspeaker(turn: Turn, soonMs = 0): void {
  const next = advance(turn.state.playout, turn.now, formatOf(turn.state), soonMs);
  turn.set({ playout: next.playout });
  for (const write of next.writes) turn.emit({ type: 'play', ...write });
  if (next.wakeAt === null) turn.disarm('playout');
  else if (next.wakeAt !== turn.state.timers.playout) turn.arm('playout', next.wakeAt, next.slackMs);
}

/** The device tells, or corrects, when what was written is heard: the gate and the pace of writing follow. */
export function onSounding(
  turn: Turn,
  { write, from, until }: Extract<LaneEvent, { type: 'sounding' }>,
): void {
  const { playout } = turn.state;
  const known = from === null ? correct(playout, write, until) : tell(playout, { write, from, until });
  if (known === playout) return;
  turn.set({ playout: known });
  if (known.soundings.end !== playout.soundings.end) feedLoudspeaker(turn);
}

/** Nothing is said any more, from this moment on. */
export function silenceLoudspeaker(turn: Turn): void {
  turn.emit({ type: 'flush_playback' });
  turn.disarm('playout');
  turn.set({ playout: flush(turn.state.playout, turn.now) });
}

/** The loudspeaker has failed. It is told once, until it is back. */
export function onPlaybackFault(turn: Turn, code: string, message: string): void {
  const known = turn.state.playbackLost;
  turn.set({
    playbackLost: true,
    problem: { code: `playback_${code}`, message, at: turn.now },
  });
  if (!known) turn.notify('audio_lost', { device: 'playback', code, message });
}

/** The loudspeaker sounds again. */
export function onPlaybackBack(turn: Turn): void {
  const { playbackLost, problem } = turn.state;
  if (!playbackLost) return;
  const isAbout = problem?.code.startsWith('playback_') === true;
  turn.set({ playbackLost: false, problem: isAbout ? null : problem });
  turn.notify('audio_back', { device: 'playback' });
}
