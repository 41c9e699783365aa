import type { Heard } from './gate.ts';

/**
 * The queue of translated speech. The service sends a sentence as a burst, faster than real time;
 * the loudspeaker takes it at its own pace. Sentences play whole and in the order of their first
 * sound, even where their chunks arrive interleaved, and nothing waits for an end mark that never comes.
 * While one session takes over from another, what the older one says comes first.
 */

/** A stretch of translated sound as it arrived. */
export interface Piece {
  readonly pcm: Uint8Array;
  /** When it came off the wire, monotonic milliseconds. */
  readonly receivedAt: number;
}

interface Utterance {
  readonly key: string;
  /** Number of the stream that it came on. */
  readonly stream: number;
  /** Some of it has been written. */
  readonly begun: boolean;
  readonly pieces: readonly Piece[];
  /** The service said that nothing more comes. */
  readonly complete: boolean;
}

export interface Playout {
  readonly utterances: readonly Utterance[];
  /** The stretch of time in which the loudspeaker is, was or will be heard; `until` is the end of what is written. */
  readonly heard: Heard | null;
  /** The last few stretches before that one, oldest first: a chunk can come late, when the next one already sounds. */
  readonly earlier: readonly Heard[];
  readonly queuedBytes: number;
  /** Thrown away for want of room, over all time. */
  readonly droppedBytes: number;
  readonly writtenBytes: number;
}

export const SILENT_PLAYOUT: Playout = {
  utterances: [],
  heard: null,
  earlier: [],
  queuedBytes: 0,
  droppedBytes: 0,
  writtenBytes: 0,
};

/** How the lane's loudspeaker is fed. */
export interface PlayoutFormat {
  /** PCM bytes per millisecond at the stream's rate. */
  readonly bytesPerMs: number;
}

/** Written this far ahead of what is heard: bridges a busy event loop, short enough to stop at once. */
const AHEAD_MS = 200;
/** One write at most; a longer piece is cut. */
const SLICE_MS = 100;
/** A sentence that runs dry without its end mark holds the next one up no longer than this. */
const STARVED_MS = 400;
/** Sounds closer together than this count as one stretch: the room has not fallen quiet between them. */
const ONE_STRETCH_MS = 300;
const STRETCHES_REMEMBERED = 16;
/** More than this is never queued: the oldest sentences that have not begun go first. */
const CAPACITY_MS = 60_000;

function append(utterance: Utterance, piece: Piece | null, complete: boolean): Utterance {
  return {
    ...utterance,
    pieces: piece === null ? utterance.pieces : [...utterance.pieces, piece],
    complete: utterance.complete || complete,
  };
}

/** Puts a sentence behind all others, or before those of newer streams that have not begun. */
function insert(utterances: readonly Utterance[], utterance: Utterance): readonly Utterance[] {
  const newer = utterances.findIndex(({ stream, begun }) => !begun && stream > utterance.stream);
  return utterances.toSpliced(newer < 0 ? utterances.length : newer, 0, utterance);
}

function bytesOf(utterance: Utterance): number {
  return utterance.pieces.reduce((sum, piece) => sum + piece.pcm.byteLength, 0);
}

function shed(playout: Playout, capacityBytes: number): Playout {
  let { utterances, queuedBytes, droppedBytes } = playout;
  // The first one may be sounding: it is only given up when it alone is too long, and then whole.
  while (queuedBytes > capacityBytes && utterances.length > 0) {
    const index = utterances.length > 1 ? 1 : 0;
    const victim = utterances[index];
    if (victim === undefined) break;
    const bytes = bytesOf(victim);
    utterances = utterances.toSpliced(index, 1);
    queuedBytes -= bytes;
    droppedBytes += bytes;
  }
  return { ...playout, utterances, queuedBytes, droppedBytes };
}

/**
 * Takes in sound as it arrives.
 * @param key names the sentence; sounds of one stream with one key belong together
 * @param pcm may be empty: then only `complete` counts
 */
export function enqueue(
  playout: Playout,
  arrival: { stream: number; key: string; pcm: Uint8Array; receivedAt: number; complete: boolean },
  format: PlayoutFormat,
): Playout {
  const { stream, key, pcm, receivedAt, complete } = arrival;
  const piece = pcm.byteLength === 0 ? null : { pcm, receivedAt };
  const index = playout.utterances.findIndex(
    (utterance) => utterance.stream === stream && utterance.key === key,
  );
  const known = playout.utterances[index];
  if (known === undefined && piece === null) return playout;
  const utterances =
    known === undefined
      ? insert(
          playout.utterances,
          append({ stream, key, begun: false, pieces: [], complete: false }, piece, complete),
        )
      : playout.utterances.with(index, append(known, piece, complete));
  const queuedBytes = playout.queuedBytes + (piece?.pcm.byteLength ?? 0);
  return shed({ ...playout, utterances, queuedBytes }, CAPACITY_MS * format.bytesPerMs);
}

/** One write to the loudspeaker. `receivedAt` is set on the first slice of a piece that found the loudspeaker free. */
export interface Write {
  readonly pcm: Uint8Array;
  readonly receivedAt: number | null;
}

function dropHead(playout: Playout): Playout {
  return { ...playout, utterances: playout.utterances.slice(1) };
}

function cut(
  playout: Playout,
  sliceBytes: number,
): { pcm: Uint8Array; receivedAt: number; rest: Playout } | null {
  const head = playout.utterances[0];
  const piece = head?.pieces[0];
  if (head === undefined || piece === undefined) return null;
  const pcm = piece.pcm.subarray(0, sliceBytes);
  const left = piece.pcm.subarray(sliceBytes);
  const pieces =
    left.byteLength > 0 ? [{ ...piece, pcm: left }, ...head.pieces.slice(1)] : head.pieces.slice(1);
  const rest = {
    ...playout,
    utterances: playout.utterances.with(0, { ...head, begun: true, pieces }),
    queuedBytes: playout.queuedBytes - pcm.byteLength,
    writtenBytes: playout.writtenBytes + pcm.byteLength,
  };
  return { pcm, receivedAt: piece.receivedAt, rest };
}

/** What to write now, and when to look again (null: when something arrives). */
export function advance(
  playout: Playout,
  now: number,
  format: PlayoutFormat,
): { playout: Playout; writes: readonly Write[]; wakeAt: number | null } {
  const writes: Write[] = [];
  let rest = playout;
  while (true) {
    const head = rest.utterances[0];
    if (head === undefined) return { playout: rest, writes, wakeAt: null };
    const end = rest.heard?.until ?? Number.NEGATIVE_INFINITY;
    if (head.pieces.length === 0) {
      const starvedAt = end + STARVED_MS;
      const over = head.complete || (rest.utterances.length > 1 && now >= starvedAt);
      if (over) {
        rest = dropHead(rest);
        continue;
      }
      return { playout: rest, writes, wakeAt: rest.utterances.length > 1 ? starvedAt : null };
    }
    if (end - now >= AHEAD_MS) return { playout: rest, writes, wakeAt: end - AHEAD_MS + SLICE_MS };
    const slice = cut(rest, Math.round(SLICE_MS * format.bytesPerMs));
    if (slice === null) return { playout: rest, writes, wakeAt: null };
    const free = end <= now;
    writes.push({ pcm: slice.pcm, receivedAt: free ? slice.receivedAt : null });
    const starts = free ? now : end;
    rest = sound(slice.rest, starts, starts + slice.pcm.byteLength / format.bytesPerMs);
  }
}

/** Notes when the loudspeaker is heard. */
function sound(playout: Playout, from: number, until: number): Playout {
  const { heard, earlier } = playout;
  if (heard === null) return { ...playout, heard: { from, until } };
  if (from - heard.until < ONE_STRETCH_MS) return { ...playout, heard: { from: heard.from, until } };
  return { ...playout, heard: { from, until }, earlier: [...earlier, heard].slice(-STRETCHES_REMEMBERED) };
}

/** When the loudspeaker was heard lately, oldest first. */
export function heardLately(playout: Playout): readonly Heard[] {
  return playout.heard === null ? playout.earlier : [...playout.earlier, playout.heard];
}

/** Forgets everything that has not been heard. */
export function flush(playout: Playout, now: number): Playout {
  const heard =
    playout.heard === null ? null : { ...playout.heard, until: Math.min(playout.heard.until, now) };
  return {
    ...playout,
    utterances: [],
    heard,
    queuedBytes: 0,
    droppedBytes: playout.droppedBytes + playout.queuedBytes,
  };
}

/** Whether anything sounds or waits to. */
export function isPlaying(playout: Playout, now: number): boolean {
  return playout.queuedBytes > 0 || (playout.heard !== null && playout.heard.until > now);
}
