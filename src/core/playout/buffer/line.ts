import {
  beginCaptureClock,
  type CaptureClock,
  noteSamples,
  timeOfSample,
} from '../../audio/capture-clock.ts';

/** How a device holds sound between what it is given and the ear. */
export interface Buffering {
  readonly periodFrames: number;
  /** The device's ring buffer; null where it is not known. */
  readonly bufferFrames: number | null;
}

/** What is seen of a device at one moment. */
export interface Sight {
  /** Frames that it has taken since this stretch of sound began; null where nobody can tell. */
  readonly taken: number | null;
  /** Bytes that wait in front of its program. */
  readonly pipeBytes: number;
}

/** When what a device was given is heard: its time line, guessed by our clock and corrected by its own. */
export interface DeviceLine {
  readonly rateHz: number;
  readonly msPerFrame: number;
  readonly buffering: Buffering;
  /** What it takes can be read, and is believed. */
  readonly isMetered: boolean;
  /** Frames given to the device since it was opened. */
  readonly sent: number;
  /** When frame 0 would have been heard, and when it would have been by the begin of this stretch of sound. */
  readonly origin: number;
  readonly firstOrigin: number;
  /** This stretch of sound: the frame with which it begins, and when. */
  readonly from: number;
  readonly beganAt: number;
  /** Frames of this stretch that the device has taken, and when it was seen to take the last. */
  readonly taken: number;
  readonly takenAt: number;
  /** When it stood still, if it does: what it took since the last look was taken at its own pace before that. */
  readonly movedAt: number;
  readonly lookedAt: number;
  readonly pipeBytes: number;
  readonly looks: number;
  /** Frames of this stretch that had been taken when the device's buffer was empty last. */
  readonly refilledFrom: number;
  /** The device's own pace, and frames that it knows of. */
  readonly clock: CaptureClock;
  readonly clocked: number;
  /** How long the device has stood still in this stretch: its line may be this much behind ours. */
  readonly stalledMs: number;
}

/**
 * The device's line is believed after this many looks, and only while it is near ours. Of six, which fall on different parts
 * of a period of 20 ms, the promptest is late by 7 ms at most.
 */
const LOOKS_TO_BELIEVE = 6;
const LARGEST_START_ERROR_MS = 80;
const LARGEST_DRIFT = 1000e-6;
/** More than an account may be wrong by that is still believed. */
const LEAST_LEFT_MS = 1.5 * LARGEST_START_ERROR_MS;
/** A device that is behind by less takes its sound in large pieces, or was looked at late. */
const DOUBTFUL_MS = 250;
/** Nobody waits longer for what is left: the account may be wrong after all. */
const LONGEST_LAG_MS = 1500;
/** Between two looks a device that moves takes something; one that has not for so long stood still. */
const STALL_MS = 200;

export function openLine(rateHz: number, buffering: Buffering, isMetered: boolean): DeviceLine {
  const stretch = { origin: 0, firstOrigin: 0, from: 0, beganAt: 0, taken: 0, refilledFrom: 0, stalledMs: 0 };
  return {
    ...{ rateHz, msPerFrame: 1000 / rateHz, buffering },
    isMetered: isMetered && buffering.bufferFrames !== null,
    ...{ ...stretch, sent: 0, takenAt: 0, movedAt: 0, lookedAt: 0, pipeBytes: 0 },
    ...newClock(rateHz),
  };
}

function newClock(rateHz: number): Pick<DeviceLine, 'clock' | 'clocked' | 'looks'> {
  return { clock: beginCaptureClock(rateHz), clocked: 0, looks: 0 };
}

/** Sound begins after a pause: the next frame is heard at `at`. */
export function beginStretch(line: DeviceLine, at: number): DeviceLine {
  const origin = at - line.sent * line.msPerFrame;
  return {
    ...line,
    ...{ origin, firstOrigin: origin, from: line.sent, beganAt: at, taken: 0, refilledFrom: 0, stalledMs: 0 },
    ...{ takenAt: at, movedAt: at, lookedAt: at },
    ...newClock(line.rateHz),
  };
}

export function giveFrames(line: DeviceLine, frames: number): DeviceLine {
  return { ...line, sent: line.sent + frames };
}

/** When the frame behind all that was given is heard. */
export function endOf({ origin, sent, msPerFrame }: DeviceLine): number {
  return origin + sent * msPerFrame;
}

/** Frames that were heard until now. */
export function heardFrames({ origin, sent, msPerFrame }: DeviceLine, now: number): number {
  return Math.max(0, Math.min(sent, Math.floor((now - origin) / msPerFrame)));
}

/**
 * Takes in what is seen of the device. `hangs`: it has stood still for `limitMs` although it should not, and has taken
 * nothing since the last look.
 */
export function lookAt(
  line: DeviceLine,
  { taken: seen, pipeBytes }: Sight,
  now: number,
  limitMs: number,
): { line: DeviceLine; hangs: boolean } {
  const inStretch = line.sent - line.from;
  if (!line.isMetered || seen === null) return lookAtPipe(line, pipeBytes, now, limitMs);
  // It reads something else, too: its account says nothing of its sound.
  if (seen > inStretch + line.buffering.periodFrames) return { line: distrust(line), hangs: false };
  const isMoving = seen > line.taken;
  const isDone = seen >= inStretch;
  const since = isMoving
    ? Math.min(now, line.lookedAt + (seen - line.taken) * line.msPerFrame)
    : line.movedAt;
  const movedAt = isDone ? now : since;
  const sinceTaken = now - line.takenAt;
  const stood = isMoving && !isDone && sinceTaken > STALL_MS ? sinceTaken : 0;
  const looked: DeviceLine = {
    ...line,
    ...{ movedAt, lookedAt: now, stalledMs: line.stalledMs + stood },
    ...((isMoving || isDone) && { taken: Math.max(line.taken, seen), takenAt: now }),
  };
  const hangs = looked.taken < inStretch && !isMoving && now - movedAt > limitMs;
  return { line: followPace(looked, inStretch, now), hangs };
}

/** Where nobody tells what a device takes: a full pipe in front of it that does not move. */
function lookAtPipe(
  line: DeviceLine,
  pipeBytes: number,
  now: number,
  limitMs: number,
): { line: DeviceLine; hangs: boolean } {
  const isMoving = pipeBytes === 0 || pipeBytes < line.pipeBytes;
  const next = { ...line, pipeBytes, ...(isMoving && { takenAt: now, movedAt: now }) };
  return { line: next, hangs: now - next.takenAt > limitMs };
}

/** Only a device with a full buffer tells its pace; the filling of it does not. */
function followPace(line: DeviceLine, inStretch: number, now: number): DeviceLine {
  const { taken, refilledFrom, clocked } = line;
  const inFront = framesInFront(line);
  if (taken <= refilledFrom + inFront || taken >= inStretch) return line;
  const played = taken - inFront;
  const clock = noteSamples(line.clock, played - clocked, now);
  return believe({ ...line, clock, clocked: played, looks: line.looks + 1 }, now);
}

function framesInFront({ buffering: { bufferFrames, periodFrames } }: DeviceLine): number {
  return (bufferFrames ?? 0) + periodFrames;
}

/** Compares the device's line with ours, and takes it over. */
function believe(line: DeviceLine, now: number): DeviceLine {
  const measured = timeOfSample(line.clock, 0);
  if (measured === null || line.looks < LOOKS_TO_BELIEVE) return line;
  const origin = measured - line.from * line.msPerFrame;
  const limit = LARGEST_START_ERROR_MS + (now - line.beganAt) * LARGEST_DRIFT;
  const isNear = Math.abs(origin - line.firstOrigin) <= limit + line.stalledMs;
  return isNear ? { ...line, origin } : distrust(line);
}

function distrust(line: DeviceLine): DeviceLine {
  return { ...line, isMetered: false };
}

/** The device is behind our line. */
function fallBack(line: DeviceLine, origin: number): DeviceLine {
  return {
    ...line,
    stalledMs: line.stalledMs + Math.max(0, origin - line.origin),
    origin: Math.max(line.origin, origin),
  };
}

/**
 * What it has taken has been heard, but for the period that it holds, which begins to sound now, and for what it has taken since
 * where something waited for it: a whole buffer where something still waits.
 * @param most frames of this stretch that have been heard at most
 */
function dryOrigin(line: DeviceLine, most: number, now: number, byTime: number): number {
  const earliest = now - (line.from + most) * line.msPerFrame;
  const latest = earliest + Math.min(most, line.buffering.bufferFrames ?? 0) * line.msPerFrame;
  const taken = most + line.buffering.periodFrames;
  if (line.sent - line.from > taken) return latest;
  return Math.min(latest, Math.max(earliest, byTime));
}

/** The device ran dry for this long while it should have sounded; it begins again with what comes. */
export function runDry(line: DeviceLine, { taken }: Sight, now: number, forMs: number): DeviceLine {
  const byTime = line.origin + forMs;
  const most = taken === null || !line.isMetered ? null : Math.max(0, taken - line.buffering.periodFrames);
  const origin = Math.max(line.origin, most === null ? byTime : dryOrigin(line, most, now, byTime));
  const heard =
    most === null ? null : Math.min(most, Math.max(0, heardFrames({ ...line, origin }, now) - line.from));
  return {
    ...line,
    // When it sounds again nobody tells: from here its line is another one, which may again be wrong by as much at first.
    ...{ origin, firstOrigin: origin, beganAt: now, stalledMs: 0 },
    refilledFrom: heard ?? 0,
    ...newClock(line.rateHz),
  };
}

/**
 * At the end of what was given: the device has not taken all of it, as when its program stands still. What is left is
 * not heard before `now`. `lags`: whether that is so, as far as anybody knows.
 */
export function waitForRest(line: DeviceLine, now: number): { line: DeviceLine; lags: boolean } {
  const left = queuedFrames(line) ?? 0;
  if (left * line.msPerFrame < LEAST_LEFT_MS || now - line.takenAt > LONGEST_LAG_MS)
    return { line, lags: false };
  return { line: fallBack(line, now - (line.sent - left) * line.msPerFrame), lags: true };
}

/** Frames that wait before the device's own buffer; null where nobody knows. */
export function queuedFrames({ isMetered, sent, from, taken }: DeviceLine): number | null {
  return isMetered ? sent - from - taken : null;
}

/** The device's own pace is known. */
export function isMeasured({ isMetered, looks }: DeviceLine): boolean {
  return isMetered && looks >= LOOKS_TO_BELIEVE;
}

/** The device has taken more than its own buffer holds in this stretch, so it sounds; true as well where nobody can tell. */
export function flows(line: DeviceLine): boolean {
  return !line.isMetered || line.taken > framesInFront(line);
}

/** By now it seems to stand still: when the next look is to find out; null while it moves. */
export function doubtfulAt({ isMetered, lookedAt, movedAt }: DeviceLine, limitMs: number): number | null {
  if (!isMetered || lookedAt - movedAt <= DOUBTFUL_MS) return null;
  return Math.max(lookedAt + DOUBTFUL_MS / 2, movedAt + limitMs + 1);
}
