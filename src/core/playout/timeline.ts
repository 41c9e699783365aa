import type { Heard } from '../uplink/gate.ts';

/**
 * When the loudspeaker is heard. A write is expected to be heard at a time; the device tells the true one, and may
 * correct it later. The expectation counts until then: a device that tells nothing is believed to sound without delay.
 */

/** Stretches of time in which the loudspeaker is, was or will be heard. */
export interface Stretches {
  /** The last one; its `until` is the end of all that is written. */
  readonly heard: Heard | null;
  /** The last few before that one, oldest first: a chunk can come late, when the next sound is already heard. */
  readonly earlier: readonly Heard[];
}

/** A write whose time the device has not told yet. */
interface Awaited {
  readonly write: number;
  readonly writtenAt: number;
  /** When it would be heard if the device had no delay. */
  readonly startsAt: number;
  readonly durationMs: number;
  /** Nothing sounded before it: its delay is the device's own. */
  readonly free: boolean;
  /** Somebody speaks in it. */
  readonly isSpeech: boolean;
}

/** Writes in a row, as one. */
interface Written {
  readonly durationMs: number;
  readonly isSpeech: boolean;
}

/** The part of a write that is loud enough to be heard at all, milliseconds from its begin; null: none of it. */
export type AudiblePart = { readonly fromMs: number; readonly untilMs: number } | null;

export interface PlayoutTimeline {
  /** What the device has told. */
  readonly told: Stretches;
  readonly awaited: readonly Awaited[];
  /** What was written last, oldest first. */
  readonly written: readonly Written[];
  /** When something that can be heard sounded, of what the device has told, oldest first. */
  readonly audible: readonly Heard[];
  /** How much silence ends the last write; null: it was nothing else. */
  readonly silentTailMs: number | null;
  /** From handing a sound to an idle device to its being heard. */
  readonly delayMs: number;
  /** When an undelayed device would have sounded all that is written: paces the writing. */
  readonly end: number;
  readonly nextWrite: number;
  /** The newest write of which the device has told; null when nothing of it is left to correct. */
  readonly lastTold: number | null;
}

export const EMPTY_TIMELINE: PlayoutTimeline = {
  told: { heard: null, earlier: [] },
  awaited: [],
  written: [],
  audible: [],
  silentTailMs: null,
  delayMs: 0,
  end: Number.NEGATIVE_INFINITY,
  nextWrite: 1,
  lastTold: null,
};

/** Sounds closer together than this count as one stretch: the room has not fallen quiet between them. */
const ONE_STRETCH_MS = 300;
const STRETCHES_REMEMBERED = 16;
/** A device that has not told of this many writes will not do so any more. */
const MOST_AWAITED = 16;
/** Between two sentences there is a sound of the lane's own, or a fade: what is written ahead is made of fewer. */
const MOST_WRITTEN = 16;
/** No loudspeaker is further behind; one that says so is in error, and must not close the gate for minutes. */
const LONGEST_DELAY_MS = 5000;
/** Smaller than a sample of telephone sound: rounding. */
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

/** What has not been told of is taken for sound. */
function addAwaited(
  audible: readonly Heard[],
  awaited: readonly Awaited[],
  delayMs: number,
): readonly Heard[] {
  return awaited.reduce(
    (so, { startsAt, durationMs }) => addAudible(so, startsAt + delayMs, startsAt + delayMs + durationMs),
    audible,
  );
}

/** When the loudspeaker is, was or will be heard by anybody: silence that is played does not count. */
export function audibleStretches({ audible, awaited, delayMs }: PlayoutTimeline): readonly Heard[] {
  return addAwaited(audible, awaited, delayMs);
}

function addExpected(told: Stretches, awaited: readonly Awaited[], delayMs: number): Stretches {
  return awaited.reduce(
    (so, { startsAt, durationMs }) => add(so, startsAt + delayMs, startsAt + delayMs + durationMs),
    told,
  );
}

/** What is known and expected together. */
export function stretchesOf({ told, awaited, delayMs }: PlayoutTimeline): Stretches {
  return addExpected(told, awaited, delayMs);
}

/** Notes a write, right behind what was written before. */
export function expectWrite(
  timeline: PlayoutTimeline,
  durationMs: number,
  now: number,
  isSpeech = false,
): PlayoutTimeline {
  const { end, awaited, nextWrite: write, delayMs } = timeline;
  const free = end <= now;
  const startsAt = free ? now : end;
  const all = [...awaited, { write, writtenAt: now, startsAt, durationMs, free, isSpeech }];
  const given = all.slice(0, Math.max(0, all.length - MOST_AWAITED));
  return {
    ...timeline,
    told: addExpected(timeline.told, given, delayMs),
    audible: addAwaited(timeline.audible, given, delayMs),
    awaited: all.slice(given.length),
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

/** How much of what is written is speech that can be heard, and only later than `from`. */
export function speechMsBehind(timeline: PlayoutTimeline, from: number): number {
  const msBehind = (stretches: readonly Heard[]): number =>
    stretches.reduce((sum, one) => sum + Math.max(0, one.until - Math.max(one.from, from)), 0);
  const { heard, earlier } = stretchesOf(timeline);
  let restMs = msBehind(heard === null ? earlier : [...earlier, heard]);
  let speechMs = 0;
  for (const { durationMs, isSpeech } of timeline.written.toReversed()) {
    if (isSpeech) speechMs += Math.min(restMs, durationMs);
    restMs = Math.max(0, restMs - durationMs);
  }
  return Math.min(speechMs, msBehind(audibleStretches(timeline)));
}

/** How much speech is in a write of which the device has not told; 0: none, or it has. */
export function speechMsOf({ awaited }: PlayoutTimeline, write: number): number {
  const found = awaited.find((one) => one.write === write);
  return found?.isSpeech === true ? found.durationMs : 0;
}

/**
 * The device tells when a write is heard; nothing of it is when `until` is not after `from`. What was written before
 * and not told of is taken as it was expected; a write that was flushed meanwhile is of no interest any more.
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
  const told = addExpected(timeline.told, awaited.slice(0, index), timeline.delayMs);
  const before = addAwaited(timeline.audible, awaited.slice(0, index), timeline.delayMs);
  if (until <= from) return { ...timeline, told, audible: before, awaited: rest, lastTold: write };
  // Nothing is heard before it was written, nor before what was written earlier.
  const earliest = Math.max(found.writtenAt, told.heard?.until ?? 0);
  const latest = Math.max(earliest, found.startsAt + LONGEST_DELAY_MS);
  const begins = Math.min(latest, Math.max(earliest, from));
  const ends = begins + (until - from);
  const delayMs = found.free ? begins - found.startsAt : timeline.delayMs;
  const shifted = shift(timeline, rest, ends - delayMs - (found.startsAt + found.durationMs));
  const heard = part === undefined ? { fromMs: 0, untilMs: until - from } : part;
  const audible = heard === null ? before : addAudible(before, begins + heard.fromMs, begins + heard.untilMs);
  const silentTailMs = heard === null ? null : Math.max(0, until - from - heard.untilMs);
  return { ...shifted, told: add(told, begins, ends), audible, silentTailMs, delayMs, lastTold: write };
}

/** The device corrects when all that was written up to `write` will have been heard. */
export function correctHeard(timeline: PlayoutTimeline, write: number, until: number): PlayoutTimeline {
  const { told, lastTold, awaited } = timeline;
  const { heard } = told;
  if (write !== lastTold || heard === null || !Number.isFinite(until)) return timeline;
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
  return { ...shifted, audible, told: { ...told, heard: { ...heard, until: corrected } } };
}

/** What is written and not told of is heard by this much later (earlier where negative). */
function shift(timeline: PlayoutTimeline, awaited: readonly Awaited[], ms: number): PlayoutTimeline {
  if (Math.abs(ms) < ROUNDING_MS) return { ...timeline, awaited };
  const later = awaited.map((one) => ({ ...one, startsAt: one.startsAt + ms }));
  return { ...timeline, awaited: later, end: timeline.end + ms };
}

/** Nothing is heard from `until` on. */
export function silenceTimeline(timeline: PlayoutTimeline, now: number, until = now): PlayoutTimeline {
  const { heard, earlier } = stretchesOf(timeline);
  const begun = [...earlier, ...(heard === null ? [] : [heard])]
    .filter(({ from }) => from < until || from <= now)
    .map((one) => ({ from: one.from, until: Math.min(one.until, until) }));
  const told = { heard: begun.at(-1) ?? null, earlier: begun.slice(0, -1) };
  const audible = audibleStretches(timeline)
    .filter(({ from }) => from < until || from <= now)
    .map((one) => ({ from: one.from, until: Math.min(one.until, until) }));
  return {
    ...timeline,
    told,
    audible,
    awaited: [],
    written: [],
    end: Math.min(timeline.end, until),
    lastTold: null,
  };
}
