import { isTalk } from '../speech/decision.ts';
import type { ChunkLevels } from '../speech/noise-floor.ts';

/**
 * The audio that has been captured and not yet sent. In normal running it is empty: a chunk goes
 * out as it comes in. Without a stream it fills up to its bound; after that, pauses are taken out
 * until the lane is back at live.
 */

/** One captured chunk on its way: exactly one chunk duration of PCM at the stream's rate. */
export interface BacklogChunk {
  /** Counts captured chunks of the lane from 0. */
  readonly seq: number;
  /** When its last sample was captured, monotonic milliseconds. */
  readonly capturedAt: number;
  /** The sound; null where the gate was closed, to be sent as silence. */
  readonly pcm: Uint8Array | null;
  /** False only where it is clearly a pause. */
  readonly voiced: boolean;
  /** Not told for silence in place of sound. */
  readonly levels?: ChunkLevels;
  /** It could not go out when it came in: there was no stream, or others were before it. */
  readonly queued: boolean;
  /** Languages in which it was said on a stream that broke off before it had said it in all of them. */
  readonly said?: readonly string[];
  /** It is said once more because the service cut its translation off. */
  readonly again?: boolean;
  /** What was said before it has been spoken: it goes to the next stream behind another sentence. */
  readonly apart?: boolean;
  /** The stream that hears it next has heard newer speech. */
  readonly late?: boolean;
}

/** What of a chunk a service must not put into one sentence with a chunk of which it is otherwise. */
export function kindOf({ said, again, late }: BacklogChunk): string {
  return [again === true, late === true, ...[...(said ?? [])].sort()].join();
}

/**
 * Where every captured chunk went. `captured = sent + silenced + trimmed + dropped + held` holds
 * after every step.
 */
export interface Accounts {
  readonly captured: number;
  readonly sent: number;
  /** Sent as silence because the gate was closed. */
  readonly silenced: number;
  /** A pause, taken out while catching up. */
  readonly trimmed: number;
  readonly dropped: number;
  /** Of the dropped ones, those lost for want of room: speech that nobody will hear. */
  readonly lost: number;
}

export const NO_ACCOUNTS: Accounts = { captured: 0, sent: 0, silenced: 0, trimmed: 0, dropped: 0, lost: 0 };

/** How far a stream has come: it has been sent no speech, it is behind, or it has once had all there was. */
type Progress = 'unspoken' | 'behind' | 'live';

export interface Backlog {
  readonly chunks: readonly BacklogChunk[];
  /** How many pause chunks in a row have left the backlog last (sent or trimmed). */
  readonly quietRun: number;
  readonly progress: Progress;
  readonly accounts: Accounts;
}

export const EMPTY_BACKLOG: Backlog = { chunks: [], quietRun: 0, progress: 'live', accounts: NO_ACCOUNTS };

/** A pause of three chunks (0.96 s) survives trimming: longer than the 0.7 s of silence that confirms a sentence. */
export const PAUSE_KEPT_CHUNKS = 3;
/** Until a new stream is at live the room is hardly known: what ends softly may seem to be its noise. */
const FIRST_PAUSE_KEPT_CHUNKS = 4;

/** This many chunks in front of a word may hold its soft beginning, which a loud room hides. */
const SOFT_BEGIN_CHUNKS = 1;
/** Of a first word nothing else tells that it was said: what it begins with is kept although it may be the room. */
const SOFT_FIRST_BEGIN_CHUNKS = 3;

function isQuiet(chunk: BacklogChunk | undefined): boolean {
  return chunk !== undefined && (chunk.pcm === null || !chunk.voiced);
}

/**
 * Whether the oldest chunk may be left out: it belongs to a pause of which enough has been sent,
 * and the next ones are a pause too, so that no soft beginning of a word is cut.
 */
function isTrimmable({ quietRun, progress, chunks }: Backlog): boolean {
  const [head] = chunks;
  const kept = progress === 'live' ? PAUSE_KEPT_CHUNKS : FIRST_PAUSE_KEPT_CHUNKS;
  if (quietRun < kept || !isQuiet(head)) return false;
  const speech = chunks.findIndex((chunk) => !isQuiet(chunk));
  // Where nobody has spoken, nothing may wait for somebody to begin: it would be late ever after.
  if (speech === -1) return chunks.length > SOFT_BEGIN_CHUNKS;
  const mayBegin = progress === 'unspoken' && head?.pcm !== null;
  return speech > (mayBegin ? SOFT_FIRST_BEGIN_CHUNKS : SOFT_BEGIN_CHUNKS);
}

function trimHead(backlog: Backlog): Backlog {
  const accounts = { ...backlog.accounts, trimmed: backlog.accounts.trimmed + 1 };
  return { ...backlog, chunks: backlog.chunks.slice(1), quietRun: backlog.quietRun + 1, accounts };
}

/**
 * Takes in a captured chunk. Over `capacity` the oldest is given up: as trimmed where that much of a pause may go,
 * else as dropped, and as lost if it is speech.
 */
export function take(backlog: Backlog, chunk: BacklogChunk, capacity: number): Backlog {
  const accounts = { ...backlog.accounts, captured: backlog.accounts.captured + 1 };
  const filled: Backlog = { ...backlog, chunks: [...backlog.chunks, chunk], accounts };
  return filled.chunks.length <= capacity ? filled : overflow(filled);
}

/** Takes in a captured chunk while nobody is expected to speak: only the latest are kept, as what comes before a first word. */
export function remember(backlog: Backlog, chunk: BacklogChunk, capacity: number): Backlog {
  let rest = take(backlog, chunk, Number.POSITIVE_INFINITY);
  while (rest.chunks.length > capacity) rest = trimHead(rest);
  return rest;
}

/** Gives up the oldest chunk. */
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

/** Drops what was captured before a moment: as lost, if it is speech; where nobody was expected to speak, as a pause. */
export function dropOld(backlog: Backlog, capturedBefore: number, isExpected: boolean): Backlog {
  let rest = backlog;
  while ((rest.chunks[0]?.capturedAt ?? capturedBefore) < capturedBefore)
    rest = isExpected ? overflow(rest) : trimHead(rest);
  return rest;
}

/** Takes pauses out of what waits, from the oldest on, as far as a backlog allows. */
export function trim(backlog: Backlog): Backlog {
  let rest = backlog;
  while (isTrimmable(rest)) rest = trimHead(rest);
  return rest;
}

/** Takes the oldest chunk out to be sent. */
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

/** How far the stream has come with this chunk, the oldest one. */
function progressWith({ progress, chunks }: Backlog, chunk: BacklogChunk): Progress {
  const isLast = chunks.length === 1;
  if (progress !== 'unspoken') return isLast ? 'live' : progress;
  if (!isWord(chunk)) return 'unspoken';
  return isLast ? 'live' : 'behind';
}

/** A loud frame of the room is none. */
function isWord(chunk: BacklogChunk): boolean {
  return !isQuiet(chunk) && (chunk.levels === undefined || isTalk(true, chunk.levels, 0));
}

/**
 * Takes chunks back that were sent to a stream which broke off before it had spoken them: they are held again, in
 * front of everything else, and go to the next stream.
 */
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

/** A part of no sentence that is held for a reason of its own. */
function isPause(chunk: BacklogChunk): boolean {
  const { said = [], again = false, late = false, apart = false } = chunk;
  return isQuiet(chunk) && said.length === 0 && !again && !late && !apart;
}

/** Takes up to this many chunks out of the middle of pauses, the oldest first: no stream would be sent them, and speech needs the room. */
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

/** Counts chunks as lost that were sent to a service which never said anything of them: nobody hears them any more. */
export function writeOff(backlog: Backlog, chunks: number): Backlog {
  const { accounts } = backlog;
  const { sent, dropped, lost } = accounts;
  return {
    ...backlog,
    accounts: { ...accounts, sent: sent - chunks, dropped: dropped + chunks, lost: lost + chunks },
  };
}

/** Two streams can have broken off, one after the other: what was captured first is sent first. */
function inOrder(back: readonly BacklogChunk[], held: readonly BacklogChunk[]): BacklogChunk[] {
  const chunks = [...back.map((chunk) => ({ ...chunk, queued: true })), ...held];
  return chunks.sort((one, other) => one.seq - other.seq);
}

/** A new stream has heard nothing yet: it needs no pause before the first word. */
export function forNewStream(backlog: Backlog): Backlog {
  return { ...backlog, quietRun: FIRST_PAUSE_KEPT_CHUNKS, progress: 'unspoken' };
}

/** Whether somebody waits for an answer to what is held. */
export function isAnswerAwaited({ chunks }: Backlog): boolean {
  return chunks.some(isWord);
}

/** Held chunks that may be speech. */
export function heldSpeech({ chunks }: Backlog): readonly BacklogChunk[] {
  return chunks.filter((chunk) => !isQuiet(chunk));
}

/** Throws everything away, because the lane was stopped. */
export function dropAll(backlog: Backlog): Backlog {
  const { accounts } = backlog;
  return {
    ...EMPTY_BACKLOG,
    accounts: { ...accounts, dropped: accounts.dropped + backlog.chunks.length },
  };
}
