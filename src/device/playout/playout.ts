import { fadeAfter, fadeBefore } from '../../sound/fade.ts';
import { quicken } from '../../sound/tempo.ts';
import type { Heard } from './heard.ts';
import { dropRest } from './intake.ts';
import { type DropReason, type Playout, type PlayoutFormat, withTimeline } from './playout-state.ts';
import { ANSWER, bytesOf, cut, OWN_STREAM, PHRASE, type Piece, REPEAT, type Utterance } from './sentences.ts';
import {
  type AudiblePart,
  audibleStretches,
  before,
  correctHeard,
  expectWrite,
  recordHeard,
  silenceTimeline,
  speechMsAfter,
} from './timeline.ts';

export { type Arrival, dropNew, enqueue, enqueueOwn } from './intake.ts';
export { cutYielding, enqueuePhrase, enqueueRepeat } from './last-spoken.ts';
export { type LastSpoken, type Playout, type PlayoutFormat, SILENT_PLAYOUT } from './playout-state.ts';
export { speechMsOf } from './timeline.ts';

/**
 * The queue of translated speech. The service sends a sentence as a burst, faster than real time; the loudspeaker takes it
 * at its own pace. Sentences play whole, in the order of their first sound, even if their chunks arrive interleaved. No
 * sentence waits for an end mark that never comes. While one session takes over from another, the older one plays first.
 */

/** Refill completely when less than this share of `aheadMs` is left: each write costs work. */
const REFILL = 1 / 3;
/** Writes end at a multiple of this (ms), like the periods of sound cards, or at the end of the sound. */
const STEP_MS = 20;
/** Longest wait (ms) for more of a sentence without an end mark, while another one is ready. */
const STARVED_MS = 400;
/** How long before a sentence runs dry it is faded out (ms): later, the event loop may be busy. */
const LAST_CALL_MS = 20;
const FADE_MS = 8;
/** A sentence that ran dry resumes with two pieces, or after this time (ms): one gap is better than many. */
const REGATHER_MS = 120;
/** Maximum sound (ms) that waits while playback keeps up: a chunk of 320 ms arrives as the previous one ends. */
const CLOSE_BEHIND_MS = 400;
/** How long playback must have lagged (ms) before sound is played faster. */
const LAG_PATIENCE_MS = 10_000;
/** How much faster, as a fraction: more than two clocks drift apart, but too little to notice. */
const QUICKER = 0.003;
/** Lateness up to this (ms) is only rounding of clocks and sample counts. */
const ROUNDING_MS = 0.5;

/** Content of a write: translated speech, a fade beside a gap in it, a chime of the lane, or speech from memory or a file. */
export type WriteKind = 'speech' | 'fade' | 'earcon' | 'repeat';

/** One write to the loudspeaker. `receivedAt` is set on the first slice of a piece that found the loudspeaker idle. */
export interface Write {
  readonly pcm: Uint8Array;
  readonly kind: WriteKind;
  /** Number of the write, by which the device reports when it is heard. */
  readonly write: number;
  readonly receivedAt: number | null;
  /** Language of the speech, if the service sends it. */
  readonly language?: string;
}

/**
 * Returns the writes that are due, the time of the next call (null: after the next arrival), and its permitted delay.
 * @param soonMs also write what is due within this time, limited to the usual refill interval
 */
export function advance(
  given: Playout,
  now: number,
  format: PlayoutFormat,
  soonMs = 0,
): { playout: Playout; writes: readonly Write[]; wakeAt: number | null; slackMs: number } {
  const writes: Write[] = [];
  let playout = given;
  const refillMs = format.refillMs ?? format.aheadMs * REFILL;
  const slackMs = format.refillMs == null ? refillMs / 2 : STEP_MS;
  // If less than a step is missing, nothing is written.
  const dueMs = Math.min(refillMs + Math.min(soonMs, refillMs), format.aheadMs - 2 * STEP_MS);
  const write = (
    pcm: Uint8Array,
    kind: WriteKind,
    receivedAt: number | null,
    language?: string | null,
    isOpen = false,
  ): void => {
    const { timeline } = playout;
    writes.push({ pcm, kind, write: timeline.nextWrite, receivedAt, ...(language != null && { language }) });
    const isSpeech = kind === 'speech';
    const ms = pcm.byteLength / format.bytesPerMs;
    playout = withTimeline(playout, expectWrite(timeline, ms, now, isSpeech, isOpen));
  };
  const rest = (wakeAt: number | null, slackMs = 0) => ({ playout, writes, wakeAt, slackMs });
  while (true) {
    const [head, next] = playout.utterances;
    if (head === undefined) return rest(null);
    const { end } = playout.timeline;
    const [piece] = head.pieces;
    if (piece === undefined) {
      const starvedAt = end + STARVED_MS;
      if (head.complete || (next !== undefined && now >= starvedAt)) {
        playout = { ...playout, utterances: playout.utterances.slice(1) };
        continue;
      }
      const wakeAt = next === undefined ? null : starvedAt;
      if (!head.ahead || head.faded || now >= end) return rest(wakeAt);
      if (now < end - LAST_CALL_MS) return rest(end - LAST_CALL_MS);
      playout = setHead(playout, { ...head, faded: true });
      const fade = head.edge === null || !format.softEdges ? null : fadeAfter(head.edge);
      if (fade !== null) write(fade, 'fade', null);
      return rest(wakeAt);
    }
    if (end - now > dueMs + ROUNDING_MS) return rest(end - refillMs, slackMs);
    const isLate = head.begun && (head.faded || end < now - ROUNDING_MS);
    const isShort = piece.receivedAt - end < STARVED_MS;
    if (isLate) {
      const gatheredAt = piece.receivedAt + REGATHER_MS;
      const isGathered = head.complete || head.pieces.length > 1 || now >= gatheredAt;
      if (isShort && !isGathered) return rest(gatheredAt);
      const { gaps } = playout;
      playout = { ...setHead(playout, { ...head, faded: false }), gaps: gaps + 1 };
      const edge = cut(head.pieces, bytesIn(FADE_MS, format)).pcm;
      const fade = head.ahead && format.softEdges ? fadeBefore(edge) : null;
      if (fade !== null) write(fade, 'fade', null);
    }
    const isGap = !(isLate && isShort) && end <= now && piece.receivedAt >= end;
    const laggingSince = lagsSince(playout, now, format);
    // A fade that was just written takes up room, too.
    const roomMs = format.aheadMs - Math.max(0, playout.timeline.end - now);
    const { pcm, pieces } = cut(head.pieces, bytesIn(Math.floor(roomMs / STEP_MS) * STEP_MS, format));
    playout = { ...take(playout, pcm, pieces, format), laggingSince };
    const isOwn = head.stream === OWN_STREAM;
    const isQuick = format.quickens && laggingSince !== null && now - laggingSince >= LAG_PATIENCE_MS;
    write(
      isQuick ? quicken(pcm, QUICKER) : pcm,
      isOwn ? (head.key === REPEAT || head.key === PHRASE ? 'repeat' : 'earcon') : 'speech',
      isGap && !isOwn ? piece.receivedAt : null,
      head.language,
      isOwn && head.key === ANSWER,
    );
  }
}

/**
 * Since when playback lags: more sound waits than when it keeps up. With a service that never pauses and a loudspeaker clock
 * slower than the microphone's, the queue would otherwise grow for hours.
 */
function lagsSince(
  { laggingSince, queuedBytes }: Playout,
  now: number,
  { bytesPerMs }: PlayoutFormat,
): number | null {
  return queuedBytes <= CLOSE_BEHIND_MS * bytesPerMs ? null : (laggingSince ?? now);
}

function setHead(playout: Playout, head: Utterance): Playout {
  return { ...playout, utterances: playout.utterances.with(0, head) };
}

/** Number of bytes, in whole samples. */
function bytesIn(ms: number, { bytesPerMs }: PlayoutFormat): number {
  return 2 * Math.round((ms * bytesPerMs) / 2);
}

/** Removes written sound from the front of the queue. */
function take(playout: Playout, pcm: Uint8Array, pieces: readonly Piece[], format: PlayoutFormat): Playout {
  const [head] = playout.utterances;
  if (head === undefined) return playout;
  const edge = pcm.subarray(-bytesIn(FADE_MS, format));
  const own = head.stream === OWN_STREAM;
  return {
    ...setHead(playout, { ...head, begun: true, faded: false, pieces, edge }),
    queuedBytes: playout.queuedBytes - pcm.byteLength,
    writtenBytes: playout.writtenBytes + (own ? 0 : pcm.byteLength),
  };
}

/** Notes the device's report of when a write is heard. */
export function tell(
  playout: Playout,
  report: { write: number; from: number; until: number; audible?: AudiblePart },
): Playout {
  return withTimeline(playout, recordHeard(playout.timeline, report));
}

/** Records the device's corrected time at which all sound up to `write` will have been heard. */
export function correct(playout: Playout, write: number, until: number): Playout {
  return withTimeline(playout, correctHeard(playout.timeline, write, until));
}

/** When the loudspeaker was audible lately, oldest first: played silence does not count. */
export function heardLately(playout: Playout): readonly Heard[] {
  return audibleStretches(playout.timeline);
}

/** Drops all sound that has not been heard, and the remaining sound of the affected sentences. */
export function flush(playout: Playout, now: number, runsOutMs = 0, why: DropReason = 'stop'): Playout {
  const own = playout.utterances.filter(({ stream }) => stream === OWN_STREAM);
  const ownBytes = own.reduce((sum, one) => sum + bytesOf(one), 0);
  return withTimeline(
    {
      ...playout,
      utterances: [],
      unwanted: dropRest(playout.unwanted, playout.utterances, why),
      queuedBytes: 0,
      droppedBytes: playout.droppedBytes + playout.queuedBytes - ownBytes,
    },
    silenceTimeline(playout.timeline, now, now + runsOutMs),
  );
}

/**
 * Ends the output by a device that must fall silent at once: what it has not played yet is lost.
 * @param goesOn whether the unwritten rest of a begun sentence is written to the next device; otherwise it is dropped
 */
export function cutOutput(playout: Playout, now: number, goesOn: boolean): Playout {
  const ended = goesOn ? [] : playout.utterances.filter(({ begun }) => begun);
  const bytesOfAll = (some: readonly Utterance[]): number => some.reduce((sum, one) => sum + bytesOf(one), 0);
  const spoken = ended.filter(({ stream }) => stream !== OWN_STREAM);
  return withTimeline(
    {
      ...playout,
      utterances: playout.utterances.filter((one) => !ended.includes(one)),
      unwanted: dropRest(playout.unwanted, spoken, 'headset'),
      queuedBytes: playout.queuedBytes - bytesOfAll(ended),
      droppedBytes: playout.droppedBytes + bytesOfAll(spoken),
    },
    silenceTimeline(playout.timeline, now),
  );
}

/** All sound since then was that of a headset, and not in the air. */
export function forgetAudible(playout: Playout, since: number): Playout {
  const { timeline } = playout;
  return withTimeline(playout, { ...timeline, audible: before(timeline.audible, since) });
}

/** Whether any sound plays or waits. */
export function isPlaying(playout: Playout, now: number): boolean {
  return playout.queuedBytes > 0 || (playout.heard !== null && playout.heard.until > now);
}

/** Whether a translation plays or waits, also one that is spoken again. Other sounds of the kiosk do not count. */
export function isInterpreting({ utterances, timeline }: Playout, now: number): boolean {
  const isTranslation = ({ stream, key }: Utterance): boolean => stream !== OWN_STREAM || key === REPEAT;
  return utterances.some((one) => isTranslation(one) && bytesOf(one) > 0) || speechMsAfter(timeline, now) > 0;
}

/** Received speech that has not been heard. */
export interface Unsounded {
  readonly sentences: number;
  readonly ms: number;
}

/** Written speech (ms) that is heard only after `from`. */
export function writtenAfter({ timeline }: Playout, from: number): number {
  return speechMsAfter(timeline, from);
}

/** Counts the waiting speech, and written speech that is heard only after `from`. */
export function unsounded(playout: Playout, from: number, bytesPerMs: number): Unsounded {
  const waiting = playout.utterances.filter((one) => one.stream !== OWN_STREAM && bytesOf(one) > 0);
  const writtenMs = speechMsAfter(playout.timeline, from);
  // The waiting rest of the current sentence and its written part count as one sentence.
  const isApart = writtenMs > 0 && waiting[0]?.begun !== true;
  return {
    sentences: waiting.length + (isApart ? 1 : 0),
    ms: writtenMs + waiting.reduce((sum, one) => sum + bytesOf(one), 0) / bytesPerMs,
  };
}
