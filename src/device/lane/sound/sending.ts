import { isTooOld } from '../losses/speech-lost.ts';
import { noteSent, noteSilence } from '../replay/replay-log.ts';
import { isStreaming, type LiveStream, waitingSuccessor } from '../state/session-state.ts';
import { isDoubtful, noteSpeech, SILENCE_SLACK_MS, silenceDueAt } from '../state/silence-watch.ts';
import type { StepContext } from '../state/step-context.ts';
import { waitsForTurn } from '../two-way/two-way.ts';
import { type BacklogChunk, kindOf, PAUSE_KEPT_CHUNKS, takeOldest, trim } from '../uplink/backlog.ts';
import { earliestSend, recordSend } from '../uplink/pacer.ts';
import { isVoiceExpected } from './spoken-voice.ts';

/** Delay of the microphone (chunks) after which silence is sent until the microphone delivers again. */
const STARVED_CHUNKS = 1.5;
/** Permitted delay of the first silence (chunks): each chunk restarts this timer, which hardly ever fires. */
const STARVED_SLACK_CHUNKS = 2.5;

/** The stream that receives speech. */
function streamNow(context: StepContext): LiveStream | null {
  const { session } = context.state;
  return isStreaming(session) ? session.stream : null;
}

/** Sends the due chunks, never faster than real time. With a backlog, pauses are trimmed first. */
export function pump(context: StepContext): void {
  const { settings } = context.state;
  const stream = streamNow(context);
  if (stream === null) return;
  if (stream.congestedSince !== null) return context.arm('pace', context.now + settings.chunkMs);
  while (true) {
    context.set({ backlog: trim(context.state.backlog) });
    const [head, behind] = context.state.backlog.chunks;
    if (head === undefined) break;
    // A microphone that hung may deliver very old audio.
    if (isTooOld(head, context.now)) return context.arm('pace', context.now);
    // After a stall, old chunks arrive one by one: the age shows that a chunk is not the newest.
    const isNewest = behind === undefined && context.now - head.capturedAt < settings.chunkMs;
    const allowedAt = earliestSend(context.state.pacer, settings.chunkMs, isNewest);
    if (allowedAt > context.now) {
      context.arm('pace', allowedAt);
      break;
    }
    // Silence ends the sentence of the previous speaker.
    if (isOfAnotherKind(context, head) || waitsForTurn(context.state, stream)) {
      separate(context);
      continue;
    }
    const released = takeOldest(context.state.backlog);
    if (released === null) break;
    const { chunk, backlog } = released;
    context.set({ backlog, pacer: recordSend(context.state.pacer, context.now, settings.chunkMs) });
    noteChunk(context, chunk);
    const { pcm, capturedAt, queued } = chunk;
    context.emit({ type: 'send_audio', stream: stream.id, pcm, capturedAt, queued });
    keepWarm(context);
  }
  watchSilence(context);
  if (context.state.backlog.chunks.length > 0) return;
  const patience = context.state.starved ? 0 : STARVED_CHUNKS * settings.chunkMs;
  const slack = context.state.starved ? 0 : STARVED_SLACK_CHUNKS * settings.chunkMs;
  context.arm('pace', Math.max(context.state.pacer.dueAt, context.now) + patience, slack);
}

/** Arms the timer that checks whether the service reacts to the sent speech. */
function watchSilence(context: StepContext): void {
  const { settings, silentEnds, timers } = context.state;
  const stream = streamNow(context);
  if (stream === null) return;
  const dueAt = silenceDueAt(stream.silence, settings, isDoubtful(silentEnds, context.now));
  if (dueAt !== null && dueAt < (timers.silence ?? Number.POSITIVE_INFINITY))
    context.arm('silence', Math.max(context.now, dueAt), SILENCE_SLACK_MS);
}

/** Notes a sent chunk in the replay log, and as speech without a result. */
function noteChunk(context: StepContext, chunk: BacklogChunk): void {
  const stream = streamNow(context);
  if (stream === null) return;
  const replay = noteSent(stream.replay, chunk, context.state.settings.chunkMs, context.now);
  const isExpected = isVoiceExpected(context.state, context.now);
  context.patch(stream, { replay, silence: noteSpeech(stream.silence, chunk, isExpected, context.now) });
}

/**
 * Whether a chunk must be kept apart from the sentence of the chunk before it. The service must not make one sentence of chunks that are
 * treated differently: live and replayed ones, or replays for different languages. Nor may it join two chunks if
 * speech between them was already spoken.
 */
function isOfAnotherKind(context: StepContext, head: BacklogChunk): boolean {
  const { backlog } = context.state;
  const last = streamNow(context)?.replay.pieces.at(-1)?.chunk;
  if (last === undefined || backlog.quietRun >= PAUSE_KEPT_CHUNKS) return false;
  return head.apart === true || kindOf(last) !== kindOf(head);
}

/** Inserts a chunk of silence between two sentences. */
function separate(context: StepContext): void {
  const { backlog, pacer, settings } = context.state;
  context.set({ backlog: { ...backlog, quietRun: backlog.quietRun + 1 } });
  context.set({ pacer: recordSend(pacer, context.now, settings.chunkMs) });
  sendSilence(context);
}

/** Sends one chunk of silence in place of a late microphone, so that the service does not time out. */
export function sendFiller(context: StepContext): void {
  const { settings, pacer } = context.state;
  const stream = streamNow(context);
  if (stream === null || stream.congestedSince !== null) return;
  context.set({ starved: true, pacer: recordSend(pacer, context.now, settings.chunkMs) });
  sendSilence(context);
}

function sendSilence(context: StepContext): void {
  const stream = streamNow(context);
  if (stream === null) return;
  const { chunkMs } = context.state.settings;
  context.patch(stream, { replay: noteSilence(stream.replay, chunkMs, context.now) });
  context.count('fillers');
  context.emit({ type: 'send_audio', stream: stream.id, pcm: null, capturedAt: null, queued: false });
  keepWarm(context);
}

/** Sends a waiting successor one chunk of silence per chunk of the live stream: a service ends a stream without audio. */
function keepWarm(context: StepContext): void {
  const successor = waitingSuccessor(context.state.session);
  if (successor === null || successor.congestedSince !== null) return;
  const { chunkMs } = context.state.settings;
  context.patch(successor, { replay: noteSilence(successor.replay, chunkMs, context.now) });
  context.emit({ type: 'send_audio', stream: successor.id, pcm: null, capturedAt: null, queued: false });
}
