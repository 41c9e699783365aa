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

/** When what a device was given is heard: its timeline, guessed by our clock and corrected by its own. */
export interface DeviceTimeline {
  readonly rateHz: number;
  readonly msPerFrame: number;
  readonly buffering: Buffering;
  /** What it takes can be read, and its pace is believed. */
  readonly isMetered: boolean;
  /** What it takes can be read, and is believed so far: what it has not taken has not been heard. */
  readonly isCounted: boolean;
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
  /** How long the device has stood still in this stretch: its timeline may be this much behind ours. */
  readonly stalledMs: number;
  /** How much less it has taken than it should have since it was in time last; an account that is off by a little adds nothing. */
  readonly arrearsMs: number;
  /** And by how much of it its timeline has been put back. */
  readonly putBackMs: number;
  readonly inTime: { readonly at: number; readonly taken: number };
  /** Since when it is watched whether it keeps up. */
  readonly watchedFrom: number;
}

/** What a look came to. */
export interface Looked {
  readonly device: DeviceTimeline;
  /** It has stood still for too long, and has taken nothing since the last look. */
  readonly hangs: boolean;
  /** It takes so much of what is due, of 1; null: it keeps up, as far as anybody knows. */
  readonly slowShare: number | null;
}

/**
 * The device's timeline is believed after this many looks, and only while it is near ours. Of six, which fall on different parts
 * of a period of 20 ms, the promptest is late by 7 ms at most.
 */
const LOOKS_TO_BELIEVE = 6;
const LARGEST_START_ERROR_MS = 80;
const LARGEST_DRIFT = 1000e-6;
/** More than an account may be wrong by that is still believed. */
const LEAST_LEFT_MS = 1.5 * LARGEST_START_ERROR_MS;
/** A device that is behind by less takes its sound in large pieces, or was looked at late. */
const DOUBTFUL_MS = 250;
/** Between two looks a device that moves takes something; one that has not for so long stood still. */
const STALL_MS = 200;
/** Nor is one that takes all but this share of what is due: its clock may be slow, and an account may miss a little. */
const LARGEST_MISS = 0.05;
/** A device that takes less than this share of what is due is slow. */
const LEAST_SHARE = 0.9;
/** A device that moves and is so much in arrears takes its sound too slowly; it may stand still now and then. */
const SLOW_MS = 3000;
/** No single look adds more: the machine may have stood still. */
const MOST_ARREARS_MS = 400;
/** Within this long a device shows that it takes what is due. */
const PACE_MS = 2500;

export const NO_ARREARS = { arrearsMs: 0, putBackMs: 0 };

export function openTimeline(rateHz: number, buffering: Buffering, isMetered: boolean): DeviceTimeline {
  const stretch = { origin: 0, firstOrigin: 0, from: 0, beganAt: 0, taken: 0, refilledFrom: 0, stalledMs: 0 };
  const isCounted = isMetered && buffering.bufferFrames !== null;
  return {
    ...{ rateHz, msPerFrame: 1000 / rateHz, buffering },
    ...{ isMetered: isCounted, isCounted, inTime: { at: 0, taken: 0 }, watchedFrom: 0 },
    ...{ ...stretch, ...NO_ARREARS, sent: 0, takenAt: 0, movedAt: 0, lookedAt: 0, pipeBytes: 0 },
    ...newClock(rateHz),
  };
}

export function newClock(rateHz: number): Pick<DeviceTimeline, 'clock' | 'clocked' | 'looks'> {
  return { clock: beginCaptureClock(rateHz), clocked: 0, looks: 0 };
}

/** Sound begins after a pause: the next frame is heard at `at`. */
export function beginStretch(device: DeviceTimeline, at: number): DeviceTimeline {
  const origin = at - device.sent * device.msPerFrame;
  return {
    ...device,
    ...{
      origin,
      firstOrigin: origin,
      from: device.sent,
      beganAt: at,
      taken: 0,
      refilledFrom: 0,
      stalledMs: 0,
      ...NO_ARREARS,
      inTime: { at, taken: 0 },
      watchedFrom: at,
    },
    ...{ takenAt: at, movedAt: at, lookedAt: at },
    ...newClock(device.rateHz),
  };
}

export function giveFrames(device: DeviceTimeline, frames: number): DeviceTimeline {
  return { ...device, sent: device.sent + frames };
}

/** When the frame behind all that was given is heard. */
export function endOf({ origin, sent, msPerFrame }: DeviceTimeline): number {
  return origin + sent * msPerFrame;
}

/** Frames that were heard until now. */
export function heardFrames({ origin, sent, msPerFrame }: DeviceTimeline, now: number): number {
  return Math.max(0, Math.min(sent, Math.floor((now - origin) / msPerFrame)));
}

/**
 * Takes in what is seen of the device, which hangs when it has stood still for `limitMs` although it should not.
 * @param isAll nothing waits behind what it was given
 */
export function lookAt(
  device: DeviceTimeline,
  { taken: seen, pipeBytes }: Sight,
  now: number,
  limitMs: number,
  isAll = false,
): Looked {
  const inStretch = device.sent - device.from;
  if (!device.isCounted || seen === null) return lookAtPipe(device, pipeBytes, now, limitMs);
  // It reads something else, too: its account says nothing of its sound.
  if (seen > inStretch + device.buffering.periodFrames)
    return { device: { ...distrust(device), isCounted: false }, hangs: false, slowShare: null };
  const isMoving = seen > device.taken;
  const isDone = seen >= inStretch || (isAll && !device.isMetered && isNothing(device, inStretch - seen));
  const since = isMoving
    ? Math.min(now, device.lookedAt + (seen - device.taken) * device.msPerFrame)
    : device.movedAt;
  const movedAt = isDone ? now : since;
  const sinceTaken = now - device.takenAt;
  const stood = isMoving && !isDone && sinceTaken > STALL_MS ? sinceTaken : 0;
  const missing = (now - device.lookedAt) * (1 - LARGEST_MISS) - (seen - device.taken) * device.msPerFrame;
  const arrearsMs = isDone ? 0 : Math.max(0, device.arrearsMs + Math.min(MOST_ARREARS_MS, missing));
  const looked: DeviceTimeline = {
    ...device,
    ...{ movedAt, lookedAt: now, stalledMs: device.stalledMs + stood },
    arrearsMs,
    ...(arrearsMs === 0 && { ...NO_ARREARS, inTime: { at: now, taken: seen } }),
    ...((isMoving || isDone) && { taken: Math.max(device.taken, seen), takenAt: now }),
  };
  const share = isMoving && arrearsMs >= SLOW_MS ? shareTaken(looked, now) : 1;
  return {
    device: looked.isMetered ? followPace(looked, inStretch, now) : fallInArrears(looked, now),
    hangs: !isDone && looked.taken < inStretch && !isMoving && now - movedAt > limitMs,
    slowShare: share < LEAST_SHARE ? share : null,
  };
}

/** What a device has not taken, as far as anybody knows, may be an error of its account. */
function isNothing({ msPerFrame }: DeviceTimeline, left: number): boolean {
  return left * msPerFrame < LEAST_LEFT_MS;
}

function shareTaken({ inTime, taken, msPerFrame }: DeviceTimeline, now: number): number {
  return ((taken - inTime.taken) * msPerFrame) / Math.max(1, now - inTime.at);
}

/** Whether a device has taken what was due for long enough, or else is watched once more; it has where nobody can tell. */
export function watchPace(device: DeviceTimeline, now: number): { device: DeviceTimeline; keepsUp: boolean } {
  const { isCounted, arrearsMs, watchedFrom, taken, msPerFrame } = device;
  if (!isCounted) return { device, keepsUp: true };
  if (!flows(device) || now - watchedFrom < PACE_MS) return { device, keepsUp: false };
  if (arrearsMs < (1 - LEAST_SHARE - LARGEST_MISS) * PACE_MS) return { device, keepsUp: true };
  const late = fallBack(device, now - soundedAtMost(device) * msPerFrame);
  const again = { ...late, ...NO_ARREARS, inTime: { at: now, taken }, watchedFrom: now };
  return { device: again, keepsUp: false };
}

/** From when on its timeline has gone on without it; where it has been put back for that already, it has not. */
export function stoodSince({ isMetered, isCounted, movedAt }: DeviceTimeline, now: number): number {
  return isCounted && !isMetered ? now : movedAt;
}

/** A device whose pace is not believed has all the same not sounded what it has not taken. */
function fallInArrears(device: DeviceTimeline, now: number): DeviceTimeline {
  const { arrearsMs, origin, msPerFrame, buffering } = device;
  const putBackMs = Math.min(device.putBackMs, arrearsMs + 2 * buffering.periodFrames * msPerFrame);
  if (arrearsMs < LEAST_LEFT_MS || arrearsMs <= putBackMs) return { ...device, putBackMs };
  const latest = now - soundedAtMost(device) * msPerFrame;
  const later = Math.min(latest, origin + arrearsMs - putBackMs);
  return { ...fallBack(device, later), putBackMs: arrearsMs };
}

/** A device that still has something to take keeps its buffer full. */
function soundedAtMost({ from, taken, buffering: { bufferFrames } }: DeviceTimeline): number {
  return from + Math.max(0, taken - (bufferFrames ?? 0));
}

/** Frames that were heard for sure: where a device is in arrears, neither what it has not taken nor what fills its buffer. */
export function surelyHeard(device: DeviceTimeline, at: number): number {
  const heard = heardFrames(device, at);
  if (!device.isCounted || device.arrearsMs < LEAST_LEFT_MS) return heard;
  return Math.min(heard, soundedAtMost(device));
}

/** Where nobody tells what a device takes: a full pipe in front of it that does not move. */
function lookAtPipe(device: DeviceTimeline, pipeBytes: number, now: number, limitMs: number): Looked {
  const isMoving = pipeBytes === 0 || pipeBytes < device.pipeBytes;
  const next = { ...device, pipeBytes, ...(isMoving && { takenAt: now, movedAt: now }) };
  return { device: next, hangs: now - next.takenAt > limitMs, slowShare: null };
}

/** Only a device with a full buffer tells its pace; the filling of it does not. */
function followPace(device: DeviceTimeline, inStretch: number, now: number): DeviceTimeline {
  const { taken, refilledFrom, clocked } = device;
  const inFront = framesInFront(device);
  if (taken <= refilledFrom + inFront || taken >= inStretch) return device;
  const played = taken - inFront;
  const clock = noteSamples(device.clock, played - clocked, now);
  return believe({ ...device, clock, clocked: played, looks: device.looks + 1 }, now);
}

function framesInFront({ buffering: { bufferFrames, periodFrames } }: DeviceTimeline): number {
  return (bufferFrames ?? 0) + periodFrames;
}

/** Compares the device's timeline with ours, and takes it over. */
function believe(device: DeviceTimeline, now: number): DeviceTimeline {
  const measured = timeOfSample(device.clock, 0);
  if (measured === null || device.looks < LOOKS_TO_BELIEVE) return device;
  const origin = measured - device.from * device.msPerFrame;
  const limit = LARGEST_START_ERROR_MS + (now - device.beganAt) * LARGEST_DRIFT;
  const isNear = Math.abs(origin - device.firstOrigin) <= limit + device.stalledMs;
  return isNear ? { ...device, origin } : distrust(device);
}

function distrust(device: DeviceTimeline): DeviceTimeline {
  return { ...device, isMetered: false };
}

/** The device is behind our timeline. */
function fallBack(device: DeviceTimeline, origin: number): DeviceTimeline {
  return {
    ...device,
    stalledMs: device.stalledMs + Math.max(0, origin - device.origin),
    origin: Math.max(device.origin, origin),
  };
}

/**
 * At the end of what was given: the device has not taken all of it, as when its program stands still. What is left is
 * not heard before `now`. `lags`: whether that is so, as far as anybody knows.
 */
export function waitForRest(device: DeviceTimeline, now: number): { device: DeviceTimeline; lags: boolean } {
  const { isCounted, sent, from, taken } = device;
  const left = isCounted ? sent - from - taken : 0;
  if (isNothing(device, left)) return { device, lags: false };
  return { device: fallBack(device, now - (device.sent - left) * device.msPerFrame), lags: true };
}

/** Frames that wait before the device's own buffer; null where nobody knows. */
export function queuedFrames({ isMetered, sent, from, taken }: DeviceTimeline): number | null {
  return isMetered ? sent - from - taken : null;
}

/** The device's own pace is known. */
export function isMeasured({ isMetered, looks }: DeviceTimeline): boolean {
  return isMetered && looks >= LOOKS_TO_BELIEVE;
}

/** The device has taken more than its own buffer holds in this stretch, so it sounds; true as well where nobody can tell. */
export function flows(device: DeviceTimeline): boolean {
  return !device.isCounted || device.taken > framesInFront(device);
}

/** So much has to be given to a device for it to show that it sounds. */
export function proofMs(device: DeviceTimeline): number {
  return (framesInFront(device) + device.buffering.periodFrames) * device.msPerFrame;
}

/** By now it seems to stand still: when the next look is to find out; null while it moves. */
export function doubtfulAt({ isMetered, lookedAt, movedAt }: DeviceTimeline, limitMs: number): number | null {
  if (!isMetered || lookedAt - movedAt <= DOUBTFUL_MS) return null;
  return Math.max(lookedAt + DOUBTFUL_MS / 2, movedAt + limitMs + 1);
}
