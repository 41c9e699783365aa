import type { Heard } from './heard.ts';

/**
 * Tracks when the loudspeaker is heard. A write has an expected time; the device reports the true one and may correct it
 * later. The expectation counts until then: a device without reports is assumed to play without delay.
 */

/** Stretches of time in which the loudspeaker is, was or will be heard. */
export interface Stretches {
  /** The last stretch; its `until` is the end of all written sound. */
  readonly heard: Heard | null;
  /** The last few stretches before it, oldest first: a chunk may arrive late, when the next sound is already heard. */
  readonly earlier: readonly Heard[];
}

/** A write whose time the device has not reported yet. */
interface Awaited {
  readonly write: number;
  readonly writtenAt: number;
  /** When the write would be heard from a device without delay. */
  readonly startsAt: number;
  readonly durationMs: number;
  /** The loudspeaker was idle before the write: the delay is the device's own. */
  readonly free: boolean;
  /** The write contains speech. */
  readonly isSpeech: boolean;
  /** The write does not close the microphone's gate: a person may speak while it plays. */
  readonly isOpen: boolean;
}

/** Consecutive writes of one kind. */
interface Written {
  readonly durationMs: number;
  readonly isSpeech: boolean;
}

/** The audible part of a write, in milliseconds from the start of the write; null if the whole write is inaudible. */
export type AudiblePart = { readonly fromMs: number; readonly untilMs: number } | null;

export interface PlayoutTimeline {
  /** Stretches that the device has reported. */
  readonly reported: Stretches;
  readonly awaited: readonly Awaited[];
  /** The last writes, oldest first. */
  readonly written: readonly Written[];
  /** Audible stretches from the device's reports, oldest first. */
  readonly audible: readonly Heard[];
  /** Silence at the end of the last write (ms); null if the whole write was silent. */
  readonly silentTailMs: number | null;
  /** Delay from giving sound to an idle device until it is heard (ms). */
  readonly delayMs: number;
  /** When a device without delay would have played all written sound: paces the writing. */
  readonly end: number;
  readonly nextWrite: number;
  /** The newest write that the device has reported; null if it cannot be corrected any more. */
  readonly lastReported: number | null;
}

export const EMPTY_TIMELINE: PlayoutTimeline = {
  reported: { heard: null, earlier: [] },
  awaited: [],
  written: [],
  audible: [],
  silentTailMs: null,
  delayMs: 0,
  end: Number.NEGATIVE_INFINITY,
  nextWrite: 1,
  lastReported: null,
};

/** Sounds closer together than this (ms) are one stretch: the room does not fall quiet between them. */
const ONE_STRETCH_MS = 300;
const STRETCHES_REMEMBERED = 16;
/** Maximum number of unreported writes: the device will not report an older one any more. */
const MOST_AWAITED = 16;
/** Maximum number of entries of written sound. The sound written ahead has fewer: only a chime or a fade separates entries. */
const MOST_WRITTEN = 16;
/** Longest credible delay (ms): a larger one is an error and must not close the gate for minutes. */
const LONGEST_DELAY_MS = 5000;
/** Rounding errors (ms), smaller than a sample at telephone rate. */
const ROUNDING_MS = 0.05;

function add({ heard, earlier }: Stretches, from: number, until: number): Stretches {
  if (until <= from) return { heard, earlier };
  if (heard === null) return { heard: { from, until }, earlier };
  if (from - heard.until < ONE_STRETCH_MS) {
    return { heard: { from: Math.min(heard.from, from), until }, earlier };
  }
  return { heard: { from, until }, earlier: [...earlier, heard].slice(-STRETCHES_REMEMBERED) };
}

function addAudible(audible: readonly Heard[], from: number, until: number): readonly Heard[] {
  const last = audible.at(-1);
  if (until <= from) return audible;
  if (last === undefined || from - last.until >= ONE_STRETCH_MS)
    return [...audible, { from, until }].slice(-STRETCHES_REMEMBERED - 1);
  return [...audible.slice(0, -1), { from: Math.min(last.from, from), until: Math.max(last.until, until) }];
}

/** Unreported writes count as audible. */
function addAwaited(
  audible: readonly Heard[],
  awaited: readonly Awaited[],
  delayMs: number,
): readonly Heard[] {
  return awaited.reduce(
    (so, { startsAt, durationMs, isOpen }) =>
      isOpen ? so : addAudible(so, startsAt + delayMs, startsAt + delayMs + durationMs),
    audible,
  );
}

/** When the loudspeaker is audible: played silence does not count. */
export function audibleStretches({ audible, awaited, delayMs }: PlayoutTimeline): readonly Heard[] {
  return addAwaited(audible, awaited, delayMs);
}

/** The parts of these stretches before `at`. */
export function before(stretches: readonly Heard[], at: number): readonly Heard[] {
  return stretches.flatMap(({ from, until }) => (from < at ? [{ from, until: Math.min(until, at) }] : []));
}

function addExpected(reported: Stretches, awaited: readonly Awaited[], delayMs: number): Stretches {
  return awaited.reduce(
    (so, { startsAt, durationMs }) => add(so, startsAt + delayMs, startsAt + delayMs + durationMs),
    reported,
  );
}

/** Reported and expected stretches together. */
export function stretchesOf({ reported, awaited, delayMs }: PlayoutTimeline): Stretches {
  return addExpected(reported, awaited, delayMs);
}

/** Notes a write, directly after the previous one. */
export function expectWrite(
  timeline: PlayoutTimeline,
  durationMs: number,
  now: number,
  isSpeech = false,
  isOpen = false,
): PlayoutTimeline {
  const { end, awaited, nextWrite: write, delayMs } = timeline;
  const free = end <= now;
  const startsAt = free ? now : end;
  const all = [...awaited, { write, writtenAt: now, startsAt, durationMs, free, isSpeech, isOpen }];
  const settledWrites = all.slice(0, Math.max(0, all.length - MOST_AWAITED));
  return {
    ...timeline,
    reported: addExpected(timeline.reported, settledWrites, delayMs),
    audible: addAwaited(timeline.audible, settledWrites, delayMs),
    awaited: all.slice(settledWrites.length),
    written: addWritten(timeline.written, { durationMs, isSpeech }),
    end: startsAt + durationMs,
    nextWrite: write + 1,
  };
}

function addWritten(written: readonly Written[], more: Written): readonly Written[] {
  const last = written.at(-1);
  if (last?.isSpeech !== more.isSpeech) return [...written, more].slice(-MOST_WRITTEN);
  return [...written.slice(0, -1), { ...more, durationMs: last.durationMs + more.durationMs }];
}

/** How much of the written sound is audible speech that is heard only after `from`. */
export function speechMsAfter(timeline: PlayoutTimeline, from: number): number {
  const msAfter = (stretches: readonly Heard[]): number =>
    stretches.reduce((sum, one) => sum + Math.max(0, one.until - Math.max(one.from, from)), 0);
  const { heard, earlier } = stretchesOf(timeline);
  let restMs = msAfter(heard === null ? earlier : [...earlier, heard]);
  let speechMs = 0;
  for (const { durationMs, isSpeech } of timeline.written.toReversed()) {
    if (isSpeech) speechMs += Math.min(restMs, durationMs);
    restMs = Math.max(0, restMs - durationMs);
  }
  return Math.min(speechMs, msAfter(audibleStretches(timeline)));
}

/** Duration of speech in an unreported write; 0 if it has none or was reported. */
export function speechMsOf({ awaited }: PlayoutTimeline, write: number): number {
  const awaitedWrite = awaited.find((one) => one.write === write);
  return awaitedWrite?.isSpeech === true ? awaitedWrite.durationMs : 0;
}

/**
 * Notes when a write is heard; with `until` not after `from`, it was never heard. Earlier unreported writes count as heard at
 * their expected times. Reports of a flushed write are ignored.
 */
export function recordHeard(
  timeline: PlayoutTimeline,
  {
    write,
    from,
    until,
    audible: part,
  }: { write: number; from: number; until: number; audible?: AudiblePart },
): PlayoutTimeline {
  const { awaited } = timeline;
  const index = awaited.findIndex((one) => one.write === write);
  const found = awaited[index];
  if (found === undefined || !Number.isFinite(from) || !Number.isFinite(until)) return timeline;
  const rest = awaited.slice(index + 1);
  const reported = addExpected(timeline.reported, awaited.slice(0, index), timeline.delayMs);
  const before = addAwaited(timeline.audible, awaited.slice(0, index), timeline.delayMs);
  if (until <= from) return { ...timeline, reported, audible: before, awaited: rest, lastReported: write };
  // A write is never heard before it was written, nor before earlier writes.
  const earliest = Math.max(found.writtenAt, reported.heard?.until ?? 0);
  const latest = Math.max(earliest, found.startsAt + LONGEST_DELAY_MS);
  const begins = Math.min(latest, Math.max(earliest, from));
  const ends = begins + (until - from);
  const delayMs = found.free ? begins - found.startsAt : timeline.delayMs;
  const shifted = shift(timeline, rest, ends - delayMs - (found.startsAt + found.durationMs));
  const whole = part === undefined ? { fromMs: 0, untilMs: until - from } : part;
  const heard = found.isOpen ? null : whole;
  const audible = heard === null ? before : addAudible(before, begins + heard.fromMs, begins + heard.untilMs);
  const silentTailMs = heard === null ? null : Math.max(0, until - from - heard.untilMs);
  return {
    ...shifted,
    reported: add(reported, begins, ends),
    audible,
    silentTailMs,
    delayMs,
    lastReported: write,
  };
}

/** Notes a correction of when all sound up to `write` will have been heard. */
export function correctHeard(timeline: PlayoutTimeline, write: number, until: number): PlayoutTimeline {
  const { reported, lastReported, awaited } = timeline;
  const { heard } = reported;
  if (write !== lastReported || heard === null || !Number.isFinite(until)) return timeline;
  const latest = heard.until + LONGEST_DELAY_MS;
  const corrected = Math.min(latest, Math.max(heard.from, until));
  const shifted = shift(timeline, awaited, corrected - heard.until);
  const last = timeline.audible.at(-1);
  const audible =
    last === undefined || timeline.silentTailMs === null
      ? timeline.audible
      : [
          ...timeline.audible.slice(0, -1),
          { from: last.from, until: Math.max(last.from, corrected - timeline.silentTailMs) },
        ];
  return { ...shifted, audible, reported: { ...reported, heard: { ...heard, until: corrected } } };
}

/** Moves the expected times of unreported writes; earlier if negative. */
function shift(timeline: PlayoutTimeline, awaited: readonly Awaited[], ms: number): PlayoutTimeline {
  if (Math.abs(ms) < ROUNDING_MS) return { ...timeline, awaited };
  const later = awaited.map((one) => ({ ...one, startsAt: one.startsAt + ms }));
  return { ...timeline, awaited: later, end: timeline.end + ms };
}

/** Ends all sound at `until`. */
export function silenceTimeline(timeline: PlayoutTimeline, now: number, until = now): PlayoutTimeline {
  const { heard, earlier } = stretchesOf(timeline);
  const begun = [...earlier, ...(heard === null ? [] : [heard])]
    .filter(({ from }) => from < until || from <= now)
    .map((one) => ({ from: one.from, until: Math.min(one.until, until) }));
  const reported = { heard: begun.at(-1) ?? null, earlier: begun.slice(0, -1) };
  const audible = audibleStretches(timeline)
    .filter(({ from }) => from < until || from <= now)
    .map((one) => ({ from: one.from, until: Math.min(one.until, until) }));
  return {
    ...timeline,
    reported,
    audible,
    awaited: [],
    written: [],
    end: Math.min(timeline.end, until),
    lastReported: null,
  };
}
