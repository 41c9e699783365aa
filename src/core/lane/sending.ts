import { release, trim } from '../hold.ts';
import { earliestSend, recordSend } from '../pacer.ts';
import { noteSent, noteSilence } from '../sent-log.ts';
import { isDoubtful, noteSpeech, SILENCE_SLACK_MS, type Silence, silenceDueAt } from './silence.ts';
import { waitingSuccessor } from './state.ts';
import type { Turn } from './turn.ts';

/** A microphone this late (in chunks, after the chunk was due) is replaced by silence until it is back. */
const STARVED_CHUNKS = 1.5;
/** The first silence may come so much later (in chunks): this wait is begun anew with each chunk, and hardly ever ends. */
const STARVED_SLACK_CHUNKS = 2.5;

/** Whether a stream hears what is said. */
export function isStreaming(turn: Turn): boolean {
  return turn.state.phase === 'live' || turn.state.phase === 'rolling';
}

/** Sends what may be sent now, never faster than real time; pauses go first while there is a backlog. */
export function pump(turn: Turn): void {
  const { stream, settings } = turn.state;
  if (!isStreaming(turn) || stream === null) return;
  if (stream.congestedSince !== null) return turn.arm('pace', turn.now + settings.chunkMs);
  let { sentLog, silence } = stream;
  while (true) {
    turn.set({ hold: trim(turn.state.hold) });
    const [head, behind] = turn.state.hold.chunks;
    if (head === undefined) break;
    // After a stall chunks come one by one, each the only one that waits: their age tells.
    const isNewest = behind === undefined && turn.now - head.capturedAt < settings.chunkMs;
    const allowedAt = earliestSend(turn.state.pacer, settings.chunkMs, isNewest);
    if (allowedAt > turn.now) {
      turn.arm('pace', allowedAt);
      break;
    }
    const released = release(turn.state.hold);
    if (released === null) break;
    const { chunk, hold } = released;
    sentLog = noteSent(sentLog, chunk, turn.now);
    silence = noteSpeech(silence, chunk, turn.now);
    turn.set({ hold, pacer: recordSend(turn.state.pacer, turn.now, settings.chunkMs) });
    const { pcm, capturedAt, queued } = chunk;
    turn.emit({ type: 'send_audio', stream: stream.id, pcm, capturedAt, queued });
    keepWarm(turn);
  }
  turn.put({ ...stream, sentLog, silence });
  watchSilence(turn, silence);
  if (turn.state.hold.chunks.length > 0) return;
  const patience = turn.state.starved ? 0 : STARVED_CHUNKS * settings.chunkMs;
  const slack = turn.state.starved ? 0 : STARVED_SLACK_CHUNKS * settings.chunkMs;
  turn.arm('pace', Math.max(turn.state.pacer.dueAt, turn.now) + patience, slack);
}

/** Has it looked at in time whether the service says anything of the speech that has gone out. */
function watchSilence(turn: Turn, silence: Silence): void {
  const { settings, silentEnds, timers } = turn.state;
  const dueAt = silenceDueAt(silence, settings, isDoubtful(silentEnds, turn.now));
  if (dueAt !== null && dueAt < (timers.silence ?? Number.POSITIVE_INFINITY))
    turn.arm('silence', Math.max(turn.now, dueAt), SILENCE_SLACK_MS);
}

/** The microphone has gone quiet and the service must not think that we have: one chunk of silence. */
export function sendFiller(turn: Turn): void {
  const { stream, settings, pacer } = turn.state;
  if (!isStreaming(turn) || stream === null || stream.congestedSince !== null) return;
  turn.set({ starved: true, pacer: recordSend(pacer, turn.now, settings.chunkMs) });
  turn.put({ ...stream, sentLog: noteSilence(stream.sentLog, turn.now) });
  turn.count('fillers');
  turn.emit({ type: 'send_audio', stream: stream.id, pcm: null, capturedAt: null, queued: false });
  keepWarm(turn);
}

/** A successor that waits hears silence, a chunk for each of the live one's: a service gives up who sends nothing. */
function keepWarm(turn: Turn): void {
  const successor = waitingSuccessor(turn.state);
  if (successor === null || successor.congestedSince !== null) return;
  turn.emit({ type: 'send_audio', stream: successor.id, pcm: null, capturedAt: null, queued: false });
}
