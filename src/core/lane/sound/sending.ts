import { isTooOld } from '../../losses/speech-lost.ts';
import { noteSent, noteSilence } from '../../replay/replay-log.ts';
import { type BacklogChunk, kindOf, PAUSE_KEPT_CHUNKS, takeOldest, trim } from '../../uplink/backlog.ts';
import { earliestSend, recordSend } from '../../uplink/pacer.ts';
import { isStreaming, type LiveStream, waitingSuccessor } from '../session/session.ts';
import { isDoubtful, noteSpeech, SILENCE_SLACK_MS, silenceDueAt } from '../session/silence.ts';
import { isVoiceExpected } from '../session/spoken-voice.ts';
import type { StepContext } from '../step-context.ts';

/** A microphone this late (in chunks, after the chunk was due) is replaced by silence until it is back. */
const STARVED_CHUNKS = 1.5;
/** The first silence may come this much later (in chunks): this wait is begun again with each chunk, and hardly ever ends. */
const STARVED_SLACK_CHUNKS = 2.5;

/** The stream that hears what is said. */
function streamNow(context: StepContext): LiveStream | null {
  const { session } = context.state;
  return isStreaming(session) ? session.stream : null;
}

/** Sends what may be sent now, never faster than real time; pauses go first while there is a backlog. */
export function pump(context: StepContext): void {
  const { settings } = context.state;
  const stream = streamNow(context);
  if (stream === null) return;
  if (stream.congestedSince !== null) return context.arm('pace', context.now + settings.chunkMs);
  while (true) {
    context.set({ backlog: trim(context.state.backlog) });
    const [head, behind] = context.state.backlog.chunks;
    if (head === undefined) break;
    // A microphone that hung gives at last what it had heard.
    if (isTooOld(head, context.now)) return context.arm('pace', context.now);
    // After a stall chunks come one by one, each the only one that waits: their age tells.
    const isNewest = behind === undefined && context.now - head.capturedAt < settings.chunkMs;
    const allowedAt = earliestSend(context.state.pacer, settings.chunkMs, isNewest);
    if (allowedAt > context.now) {
      context.arm('pace', allowedAt);
      break;
    }
    if (isOfAnotherKind(context, head)) {
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

/** Has it looked at in time whether the service says anything of the speech that has gone out. */
function watchSilence(context: StepContext): void {
  const { settings, silentEnds, timers } = context.state;
  const stream = streamNow(context);
  if (stream === null) return;
  const dueAt = silenceDueAt(stream.silence, settings, isDoubtful(silentEnds, context.now));
  if (dueAt !== null && dueAt < (timers.silence ?? Number.POSITIVE_INFINITY))
    context.arm('silence', Math.max(context.now, dueAt), SILENCE_SLACK_MS);
}

/** What was sent on the stream that hears is noted. */
function noteChunk(context: StepContext, chunk: BacklogChunk): void {
  const stream = streamNow(context);
  if (stream === null) return;
  const replay = noteSent(stream.replay, chunk, context.state.settings.chunkMs, context.now);
  const isExpected = isVoiceExpected(context.state, context.now);
  context.patch(stream, { replay, silence: noteSpeech(stream.silence, chunk, isExpected, context.now) });
}

/**
 * Whether a chunk is said once more or late, or was said before in other languages, unlike the one in front of it: the service must
 * not make one sentence of both, of which one part would have to be left out in a language and the other not. Nor of two
 * between which a third has been spoken.
 */
function isOfAnotherKind(context: StepContext, head: BacklogChunk): boolean {
  const { backlog } = context.state;
  const last = streamNow(context)?.replay.pieces.at(-1)?.chunk;
  if (last === undefined || backlog.quietRun >= PAUSE_KEPT_CHUNKS) return false;
  return head.apart === true || kindOf(last) !== kindOf(head);
}

/** A pause of our own between two sentences. */
function separate(context: StepContext): void {
  const { backlog, pacer, settings } = context.state;
  context.set({ backlog: { ...backlog, quietRun: backlog.quietRun + 1 } });
  context.set({ pacer: recordSend(pacer, context.now, settings.chunkMs) });
  sendSilence(context);
}

/** The microphone has gone quiet and the service must not think that we have: one chunk of silence. */
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

/** A successor that waits hears silence, a chunk for each of the live one's: a service gives up who sends nothing. */
function keepWarm(context: StepContext): void {
  const successor = waitingSuccessor(context.state.session);
  if (successor === null || successor.congestedSince !== null) return;
  const { chunkMs } = context.state.settings;
  context.patch(successor, { replay: noteSilence(successor.replay, chunkMs, context.now) });
  context.emit({ type: 'send_audio', stream: successor.id, pcm: null, capturedAt: null, queued: false });
}
