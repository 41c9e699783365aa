import { isTalk } from '../../../sound/speech/decision.ts';
import type { ChunkLevels } from '../../../sound/speech/noise-floor.ts';

/**
 * Audio that is captured and not yet sent. While a stream runs it is empty: each chunk is sent as it comes. Without a stream it
 * fills up to its bound; afterwards pauses are trimmed until the lane has caught up.
 */

/** One captured chunk: exactly one chunk duration of PCM at the stream's rate. */
export interface BacklogChunk {
  /** Counts captured chunks of the lane from 0. */
  readonly seq: number;
  /** When its last sample was captured, monotonic milliseconds. */
  readonly capturedAt: number;
  /** The sound; null: the gate was closed, and silence is sent instead. */
  readonly pcm: Uint8Array | null;
  /** False only if the chunk is clearly a pause. */
  readonly voiced: boolean;
  /** Absent for silence in place of sound. */
  readonly levels?: ChunkLevels;
  /** The chunk had to wait: there was no stream, or other chunks were before it. */
  readonly queued: boolean;
  /** Languages in which an earlier stream, now broken, already spoke this chunk's translation. */
  readonly said?: readonly string[];
  /** This chunk is replayed because the service cut its translation off. */
  readonly again?: boolean;
  /** The speech just before this chunk was already spoken, so the chunk must not join the sentence that is sent before it. */
  readonly apart?: boolean;
  /** The stream that gets this chunk next has already received newer speech. */
  readonly late?: boolean;
  /** Whose speech it is, where a key says who speaks. */
  readonly speaker?: 'source' | 'target';
}

/** Chunks of different kinds must not become one sentence: some are replays or must be muted, and others are not. */
export function kindOf({ said, again, late }: BacklogChunk): string {
  return [again === true, late === true, ...[...(said ?? [])].sort()].join();
}

/** Where each captured chunk went. `captured = sent + silenced + trimmed + dropped + held` holds after every step. */
export interface Accounts {
  readonly captured: number;
  readonly sent: number;
  /** Sent as silence because the gate was closed. */
  readonly silenced: number;
  /** Pauses, left out while catching up. */
  readonly trimmed: number;
  readonly dropped: number;
  /** The dropped chunks that were speech. */
  readonly lost: number;
}

export const NO_ACCOUNTS: Accounts = { captured: 0, sent: 0, silenced: 0, trimmed: 0, dropped: 0, lost: 0 };

/** A stream's progress: no speech yet, catching up, or caught up once. */
type Progress = 'unspoken' | 'behind' | 'live';

export interface Backlog {
  readonly chunks: readonly BacklogChunk[];
  /** Number of consecutive pause chunks that left the backlog last (sent or trimmed). */
  readonly quietRun: number;
  readonly progress: Progress;
  readonly accounts: Accounts;
}

export const EMPTY_BACKLOG: Backlog = { chunks: [], quietRun: 0, progress: 'live', accounts: NO_ACCOUNTS };

/** Pause that survives trimming (chunks, 0.96 s): longer than the 0.7 s of silence that confirm a sentence. */
export const PAUSE_KEPT_CHUNKS = 3;
/** The same, until a new stream has caught up: the room's noise level is still uncertain, and the quiet end of a word may be taken for noise. */
const FIRST_PAUSE_KEPT_CHUNKS = 4;

/** Number of chunks before a word that may contain its soft beginning, which a loud room hides. */
const SOFT_BEGIN_CHUNKS = 1;
/** Number of such chunks before the first word of a stream: no earlier word shows how loud the room is. */
const SOFT_FIRST_BEGIN_CHUNKS = 3;

function isQuiet(chunk: BacklogChunk | undefined): boolean {
  return chunk !== undefined && (chunk.pcm === null || !chunk.voiced);
}

/** Whether the oldest chunk may be trimmed: enough of its pause was sent, and no soft beginning of a word follows. */
function isTrimmable({ quietRun, progress, chunks }: Backlog): boolean {
  const [head] = chunks;
  const kept = progress === 'live' ? PAUSE_KEPT_CHUNKS : FIRST_PAUSE_KEPT_CHUNKS;
  if (quietRun < kept || !isQuiet(head)) return false;
  const speech = chunks.findIndex((chunk) => !isQuiet(chunk));
  // If no speech is held, waiting for some would make the lane late from then on.
  if (speech === -1) return chunks.length > SOFT_BEGIN_CHUNKS;
  const mayBegin = progress === 'unspoken' && head?.pcm !== null;
  return speech > (mayBegin ? SOFT_FIRST_BEGIN_CHUNKS : SOFT_BEGIN_CHUNKS);
}

function trimHead(backlog: Backlog): Backlog {
  const accounts = { ...backlog.accounts, trimmed: backlog.accounts.trimmed + 1 };
  return { ...backlog, chunks: backlog.chunks.slice(1), quietRun: backlog.quietRun + 1, accounts };
}

/**
 * Takes in a captured chunk. Above `capacity` the oldest chunk is removed: trimmed if allowed, otherwise dropped (lost if it is
 * speech).
 */
export function take(backlog: Backlog, chunk: BacklogChunk, capacity: number): Backlog {
  const accounts = { ...backlog.accounts, captured: backlog.accounts.captured + 1 };
  const filled: Backlog = { ...backlog, chunks: [...backlog.chunks, chunk], accounts };
  return filled.chunks.length <= capacity ? filled : overflow(filled);
}

/** Takes in a captured chunk in standby: only the latest are kept, as the sound before a first word. */
export function remember(backlog: Backlog, chunk: BacklogChunk, capacity: number): Backlog {
  let rest = take(backlog, chunk, Number.POSITIVE_INFINITY);
  while (rest.chunks.length > capacity) rest = trimHead(rest);
  return rest;
}

/** Removes the oldest chunk. */
function overflow(backlog: Backlog): Backlog {
  if (isTrimmable(backlog)) return trimHead(backlog);
  const quiet = isQuiet(backlog.chunks[0]);
  const { accounts } = backlog;
  return {
    ...backlog,
    chunks: backlog.chunks.slice(1),
    quietRun: quiet ? backlog.quietRun + 1 : 0,
    accounts: { ...accounts, dropped: accounts.dropped + 1, lost: accounts.lost + (quiet ? 0 : 1) },
  };
}

/** Drops chunks that were captured before a moment. @param isExpected true: speech counts as lost; false (standby): as a pause */
export function dropOld(backlog: Backlog, capturedBefore: number, isExpected: boolean): Backlog {
  let rest = backlog;
  while ((rest.chunks[0]?.capturedAt ?? capturedBefore) < capturedBefore)
    rest = isExpected ? overflow(rest) : trimHead(rest);
  return rest;
}

/** Trims pauses, from the oldest chunk on. */
export function trim(backlog: Backlog): Backlog {
  let rest = backlog;
  while (isTrimmable(rest)) rest = trimHead(rest);
  return rest;
}

/** Takes the oldest chunk, to be sent. */
export function takeOldest(backlog: Backlog): { backlog: Backlog; chunk: BacklogChunk } | null {
  const chunk = backlog.chunks[0];
  if (chunk === undefined) return null;
  const { accounts } = backlog;
  const quiet = isQuiet(chunk);
  return {
    chunk,
    backlog: {
      chunks: backlog.chunks.slice(1),
      quietRun: quiet ? backlog.quietRun + 1 : 0,
      progress: progressWith(backlog, chunk),
      accounts:
        chunk.pcm === null
          ? { ...accounts, silenced: accounts.silenced + 1 }
          : { ...accounts, sent: accounts.sent + 1 },
    },
  };
}

/** Progress of the stream once the oldest chunk is sent. */
function progressWith({ progress, chunks }: Backlog, chunk: BacklogChunk): Progress {
  const isLast = chunks.length === 1;
  if (progress !== 'unspoken') return isLast ? 'live' : progress;
  if (!isWord(chunk)) return 'unspoken';
  return isLast ? 'live' : 'behind';
}

/** A loud noise in the room is not a word. */
function isWord(chunk: BacklogChunk): boolean {
  return !isQuiet(chunk) && (chunk.levels === undefined || isTalk(true, chunk.levels, 0));
}

/** Puts chunks that a stream still owes back into the backlog, in the order of their capture. */
export function takeBack(backlog: Backlog, chunks: readonly BacklogChunk[], capacity: number): Backlog {
  const silent = chunks.filter(({ pcm }) => pcm === null).length;
  const accounts = {
    ...backlog.accounts,
    sent: backlog.accounts.sent - (chunks.length - silent),
    silenced: backlog.accounts.silenced - silent,
  };
  let rest: Backlog = {
    ...backlog,
    chunks: inOrder(chunks, backlog.chunks),
    quietRun: FIRST_PAUSE_KEPT_CHUNKS,
    accounts,
  };
  rest = thinPauses(rest, rest.chunks.length - capacity);
  while (rest.chunks.length > capacity) rest = overflow(rest);
  return rest;
}

/** A plain pause, not part of a repeated or tagged sentence. */
function isPause(chunk: BacklogChunk): boolean {
  const { said = [], again = false, late = false, apart = false } = chunk;
  return isQuiet(chunk) && said.length === 0 && !again && !late && !apart;
}

/** Trims up to this many chunks inside pauses, the oldest first: no stream would get them, and speech needs the space. */
function thinPauses(backlog: Backlog, surplus: number): Backlog {
  let left = surplus;
  let run = 0;
  const chunks = backlog.chunks.filter((chunk, index) => {
    run = isPause(chunk) ? run + 1 : 0;
    const ahead = backlog.chunks.slice(index + 1, index + 1 + SOFT_FIRST_BEGIN_CHUNKS);
    const isInside = run > FIRST_PAUSE_KEPT_CHUNKS && ahead.length === SOFT_FIRST_BEGIN_CHUNKS;
    if (left <= 0 || !isInside || !ahead.every(isPause)) return true;
    left -= 1;
    return false;
  });
  const trimmed = backlog.accounts.trimmed + backlog.chunks.length - chunks.length;
  return { ...backlog, chunks, accounts: { ...backlog.accounts, trimmed } };
}

/** Counts chunks as lost that were sent to a service which never reacted to them. */
export function writeOff(backlog: Backlog, chunks: number): Backlog {
  const { accounts } = backlog;
  const { sent, dropped, lost } = accounts;
  return {
    ...backlog,
    accounts: { ...accounts, sent: sent - chunks, dropped: dropped + chunks, lost: lost + chunks },
  };
}

/** Sorts by capture time: two streams may have broken, one after the other. */
function inOrder(back: readonly BacklogChunk[], held: readonly BacklogChunk[]): BacklogChunk[] {
  const chunks = [...back.map((chunk) => ({ ...chunk, queued: true })), ...held];
  return chunks.sort((one, other) => one.seq - other.seq);
}

/** Consecutive pause chunks (0.64 s) that count as a pause between words: a switch there cuts no word. */
const BETWEEN_WORDS_CHUNKS = 2;

/** Whether the stream hears a pause now. */
export function isInPause({ quietRun }: Backlog): boolean {
  return quietRun >= BETWEEN_WORDS_CHUNKS;
}

/** A new stream needs no pause before the first word. */
export function forNewStream(backlog: Backlog): Backlog {
  return { ...backlog, quietRun: FIRST_PAUSE_KEPT_CHUNKS, progress: 'unspoken' };
}

/** Whether a word is held, so that a visitor waits for its translation. */
export function isAnswerAwaited({ chunks }: Backlog): boolean {
  return chunks.some(isWord);
}

/** Held chunks that may be speech. */
export function heldSpeech({ chunks }: Backlog): readonly BacklogChunk[] {
  return chunks.filter((chunk) => !isQuiet(chunk));
}

/** Drops everything, because the lane was stopped. */
export function dropAll(backlog: Backlog): Backlog {
  const { accounts } = backlog;
  return {
    ...EMPTY_BACKLOG,
    accounts: { ...accounts, dropped: accounts.dropped + backlog.chunks.length },
  };
}
