import { type HeldChunk, PAUSE_KEPT_CHUNKS, release, trim } from '../hold.ts';
import { earliestSend, recordSend } from '../pacer.ts';
import { noteSent, noteSilence } from '../replay/log.ts';
import { isDoubtful, noteSpeech, SILENCE_SLACK_MS, silenceDueAt } from './silence.ts';
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
    if (isOfAnotherKind(turn, head)) {
      separate(turn, stream.id);
      continue;
    }
    const released = release(turn.state.hold);
    if (released === null) break;
    const { chunk, hold } = released;
    turn.set({ hold, pacer: recordSend(turn.state.pacer, turn.now, settings.chunkMs) });
    noteChunk(turn, chunk);
    const { pcm, capturedAt, queued } = chunk;
    turn.emit({ type: 'send_audio', stream: stream.id, pcm, capturedAt, queued });
    keepWarm(turn);
  }
  watchSilence(turn);
  if (turn.state.hold.chunks.length > 0) return;
  const patience = turn.state.starved ? 0 : STARVED_CHUNKS * settings.chunkMs;
  const slack = turn.state.starved ? 0 : STARVED_SLACK_CHUNKS * settings.chunkMs;
  turn.arm('pace', Math.max(turn.state.pacer.dueAt, turn.now) + patience, slack);
}

/** Has it looked at in time whether the service says anything of the speech that has gone out. */
function watchSilence(turn: Turn): void {
  const { settings, silentEnds, timers, stream } = turn.state;
  if (stream === null) return;
  const dueAt = silenceDueAt(stream.silence, settings, isDoubtful(silentEnds, turn.now));
  if (dueAt !== null && dueAt < (timers.silence ?? Number.POSITIVE_INFINITY))
    turn.arm('silence', Math.max(turn.now, dueAt), SILENCE_SLACK_MS);
}

/** What was sent on the stream that hears is noted. */
function noteChunk(turn: Turn, chunk: HeldChunk): void {
  const { stream, settings } = turn.state;
  if (stream === null) return;
  const replay = noteSent(stream.replay, chunk, settings.chunkMs, turn.now);
  turn.put({ ...stream, replay, silence: noteSpeech(stream.silence, chunk, turn.now) });
}

/**
 * Whether a chunk is said once more, or was said before in other languages, unlike the one in front of it: the service must
 * not make one sentence of both, of which one part would have to be left out in a language and the other not.
 */
function isOfAnotherKind(turn: Turn, head: HeldChunk): boolean {
  const { hold, stream } = turn.state;
  const last = stream?.replay.pieces.at(-1)?.chunk;
  if (last === undefined || hold.quietRun >= PAUSE_KEPT_CHUNKS) return false;
  const kind = ({ said, again }: HeldChunk): string => [again === true, ...[...(said ?? [])].sort()].join();
  return kind(last) !== kind(head);
}

/** A pause of our own between two sentences. */
function separate(turn: Turn, stream: number): void {
  const { hold, pacer, settings } = turn.state;
  turn.set({ hold: { ...hold, quietRun: hold.quietRun + 1 } });
  turn.set({ pacer: recordSend(pacer, turn.now, settings.chunkMs) });
  sendSilence(turn, stream);
}

/** The microphone has gone quiet and the service must not think that we have: one chunk of silence. */
export function sendFiller(turn: Turn): void {
  const { stream, settings, pacer } = turn.state;
  if (!isStreaming(turn) || stream === null || stream.congestedSince !== null) return;
  turn.set({ starved: true, pacer: recordSend(pacer, turn.now, settings.chunkMs) });
  sendSilence(turn, stream.id);
}

function sendSilence(turn: Turn, stream: number): void {
  const { stream: hearing, settings } = turn.state;
  if (hearing !== null)
    turn.put({ ...hearing, replay: noteSilence(hearing.replay, settings.chunkMs, turn.now) });
  turn.count('fillers');
  turn.emit({ type: 'send_audio', stream, pcm: null, capturedAt: null, queued: false });
  keepWarm(turn);
}

/** A successor that waits hears silence, a chunk for each of the live one's: a service gives up who sends nothing. */
function keepWarm(turn: Turn): void {
  const successor = waitingSuccessor(turn.state);
  if (successor === null || successor.congestedSince !== null) return;
  const { chunkMs } = turn.state.settings;
  turn.put({ ...successor, replay: noteSilence(successor.replay, chunkMs, turn.now) });
  turn.emit({ type: 'send_audio', stream: successor.id, pcm: null, capturedAt: null, queued: false });
}
