import { beginCaptureClock, type CaptureClock, noteSamples, timeOfSample } from '../capture-clock.ts';

/** Buffers of a device between its input and the loudspeaker. */
export interface Buffering {
  readonly periodFrames: number;
  /** Ring buffer of the device; null if unknown. */
  readonly bufferFrames: number | null;
  /** A sound server is behind the device: it suspends itself, and wakes up late. Missing: a card, or unknown. */
  readonly isServer?: boolean;
}

/** Readings from a device at one moment. */
export interface Sight {
  /** Frames taken since this stretch of sound began; null if the device does not report it. */
  readonly taken: number | null;
  /** Bytes waiting in the pipe to the device's program. */
  readonly pipeBytes: number;
}

/** Maps the frames given to a device to the times at which they are heard: estimated by our clock, corrected by the device's. */
export interface DeviceTimeline {
  readonly rateHz: number;
  readonly msPerFrame: number;
  readonly buffering: Buffering;
  /** The count of taken frames is readable, and its pace is trusted. */
  readonly isMetered: boolean;
  /** The count of taken frames is readable and trusted: frames that were not taken have not been heard. */
  readonly isCounted: boolean;
  /** Frames given to the device since it was opened. */
  readonly sent: number;
  /** When frame 0 would have been heard; `firstOrigin`: the estimate when this stretch began. */
  readonly origin: number;
  readonly firstOrigin: number;
  /** First frame of this stretch of sound; `beganAt`: when the stretch began. */
  readonly from: number;
  readonly beganAt: number;
  /** Frames of this stretch that the device has taken; `takenAt`: when the number last increased. */
  readonly taken: number;
  readonly takenAt: number;
  /** When the device last moved, on the assumption that it took the frames since the last poll at its own pace. */
  readonly movedAt: number;
  readonly lookedAt: number;
  readonly pipeBytes: number;
  readonly looks: number;
  /** Frames of this stretch that were taken when the device's buffer was last empty. */
  readonly refilledFrom: number;
  /** The device's own pace; `clocked`: the number of frames that it is based on. */
  readonly clock: CaptureClock;
  readonly clocked: number;
  /** How long the device has stood still in this stretch; its timeline may lag ours by this much. */
  readonly stalledMs: number;
  /** Sound that the device should have taken since it was last on time, but did not; small counting errors do not add up. */
  readonly arrearsMs: number;
  /** Part of the arrears by which the timeline has already been delayed. */
  readonly putBackMs: number;
  readonly inTime: { readonly at: number; readonly taken: number };
  /** When the check of whether the device keeps up began. */
  readonly watchedFrom: number;
}

/** Result of a poll. */
export interface Looked {
  readonly device: DeviceTimeline;
  /** The device has stood still for too long and has taken nothing since the last poll. */
  readonly hangs: boolean;
  /** Share of the due sound that a slow device consumes; null: no slowness measured. */
  readonly slowShare: number | null;
}

/**
 * Number of polls before the device's timeline is trusted; it is trusted only while it stays near ours. Six polls fall on
 * different parts of a period of 20 ms, so the best one is at most 7 ms late.
 */
const LOOKS_TO_BELIEVE = 6;
const LARGEST_START_ERROR_MS = 80;
const LARGEST_DRIFT = 1000e-6;
/** Missing frames up to this (ms) may be a counting error; a trusted count is never wrong by more. */
const LEAST_LEFT_MS = 1.5 * LARGEST_START_ERROR_MS;
/** A lag up to this (ms) may only mean that the device takes its sound in large pieces, or that the poll was late. */
const DOUBTFUL_MS = 250;
/** Time without a taken frame (ms) that means that the device stands still. */
const STALL_MS = 200;
/** Tolerated missing share of the due sound: the clock may be slow, and the count may miss a little. */
const LARGEST_MISS = 0.05;
/** A device that takes less than this share of the due sound is slow. */
const LEAST_SHARE = 0.9;
/** Arrears (ms) from which a moving device counts as too slow; occasional stalls cause smaller ones. */
const SLOW_MS = 3000;
/** Maximum arrears added per poll (ms): the whole machine may have stood still. */
const MOST_ARREARS_MS = 400;
/** Time (ms) in which a device must show that it keeps up. */
const PACE_MS = 2500;

export const NO_ARREARS = { arrearsMs: 0, putBackMs: 0 };

export function openTimeline(rateHz: number, buffering: Buffering, isMetered: boolean): DeviceTimeline {
  const stretch = { origin: 0, firstOrigin: 0, from: 0, beganAt: 0, taken: 0, refilledFrom: 0, stalledMs: 0 };
  const isCounted = isMetered && buffering.bufferFrames !== null;
  return {
    rateHz,
    msPerFrame: 1000 / rateHz,
    buffering,
    isMetered: isCounted,
    isCounted,
    inTime: { at: 0, taken: 0 },
    watchedFrom: 0,
    ...stretch,
    ...NO_ARREARS,
    sent: 0,
    takenAt: 0,
    movedAt: 0,
    lookedAt: 0,
    pipeBytes: 0,
    ...newClock(rateHz),
  };
}

export function newClock(rateHz: number): Pick<DeviceTimeline, 'clock' | 'clocked' | 'looks'> {
  return { clock: beginCaptureClock(rateHz), clocked: 0, looks: 0 };
}

/** Begins a stretch of sound after a pause: the next frame is heard at `at`. */
export function beginStretch(device: DeviceTimeline, at: number): DeviceTimeline {
  const origin = at - device.sent * device.msPerFrame;
  return {
    ...device,
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
    takenAt: at,
    movedAt: at,
    lookedAt: at,
    ...newClock(device.rateHz),
  };
}

export function giveFrames(device: DeviceTimeline, frames: number): DeviceTimeline {
  return { ...device, sent: device.sent + frames };
}

/** When the end of the given sound is heard. */
export function endOf({ origin, sent, msPerFrame }: DeviceTimeline): number {
  return origin + sent * msPerFrame;
}

/** Frames heard so far. */
export function heardFrames({ origin, sent, msPerFrame }: DeviceTimeline, now: number): number {
  return Math.max(0, Math.min(sent, Math.floor((now - origin) / msPerFrame)));
}

/**
 * Takes readings from the device. The device counts as hung if it has consumed nothing for `limitMs` although sound was queued.
 * @param isAll true if no further sound waits for the device
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
  // The device plays other sound, too, so its count says nothing about ours.
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
    movedAt,
    lookedAt: now,
    stalledMs: device.stalledMs + stood,
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

/** Whether this many frames may be just a counting error. */
function isNothing({ msPerFrame }: DeviceTimeline, left: number): boolean {
  return left * msPerFrame < LEAST_LEFT_MS;
}

function shareTaken({ inTime, taken, msPerFrame }: DeviceTimeline, now: number): number {
  return ((taken - inTime.taken) * msPerFrame) / Math.max(1, now - inTime.at);
}

/** Checks whether a device has kept up for long enough; otherwise restarts the check. A device without a count passes. */
export function watchPace(device: DeviceTimeline, now: number): { device: DeviceTimeline; keepsUp: boolean } {
  const { isCounted, arrearsMs, watchedFrom, taken, msPerFrame } = device;
  if (!isCounted) return { device, keepsUp: true };
  if (!flows(device) || now - watchedFrom < PACE_MS) return { device, keepsUp: false };
  if (arrearsMs < (1 - LEAST_SHARE - LARGEST_MISS) * PACE_MS) return { device, keepsUp: true };
  const late = fallBack(device, now - soundedAtMost(device) * msPerFrame);
  const again = { ...late, ...NO_ARREARS, inTime: { at: now, taken }, watchedFrom: now };
  return { device: again, keepsUp: false };
}

/** Since when our timeline has run ahead of a stopped device; a timeline that was already delayed has not run ahead. */
export function stoodSince({ isMetered, isCounted, movedAt }: DeviceTimeline, now: number): number {
  return isCounted && !isMetered ? now : movedAt;
}

/** Delays the timeline of a device whose pace is not trusted: frames that it has not taken have not been heard. */
function fallInArrears(device: DeviceTimeline, now: number): DeviceTimeline {
  const { arrearsMs, origin, msPerFrame, buffering } = device;
  const putBackMs = Math.min(device.putBackMs, arrearsMs + 2 * buffering.periodFrames * msPerFrame);
  if (arrearsMs < LEAST_LEFT_MS || arrearsMs <= putBackMs) return { ...device, putBackMs };
  const latest = now - soundedAtMost(device) * msPerFrame;
  const later = Math.min(latest, origin + arrearsMs - putBackMs);
  return { ...fallBack(device, later), putBackMs: arrearsMs };
}

/** Upper limit of the frames heard: while more frames wait, the device keeps its buffer full. */
function soundedAtMost({ from, taken, buffering: { bufferFrames } }: DeviceTimeline): number {
  return from + Math.max(0, taken - (bufferFrames ?? 0));
}

/** Frames that were certainly heard. With arrears, untaken frames and a full device buffer do not count. */
export function surelyHeard(device: DeviceTimeline, at: number): number {
  const heard = heardFrames(device, at);
  if (!device.isCounted || device.arrearsMs < LEAST_LEFT_MS) return heard;
  return Math.min(heard, soundedAtMost(device));
}

/** Fallback without a count: the device counts as hung if its input pipe is full and does not drain. */
function lookAtPipe(device: DeviceTimeline, pipeBytes: number, now: number, limitMs: number): Looked {
  const isMoving = pipeBytes === 0 || pipeBytes < device.pipeBytes;
  const next = { ...device, pipeBytes, ...(isMoving && { takenAt: now, movedAt: now }) };
  return { device: next, hangs: now - next.takenAt > limitMs, slowShare: null };
}

/** Measures the device's pace, but only while its buffer is full; while it fills, the rate says nothing about the pace. */
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

/** Adopts the device's timeline if it is near ours. */
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

/** Delays our timeline to match the device's. */
function fallBack(device: DeviceTimeline, origin: number): DeviceTimeline {
  return {
    ...device,
    stalledMs: device.stalledMs + Math.max(0, origin - device.origin),
    origin: Math.max(device.origin, origin),
  };
}

/**
 * Call at the end of the given sound. If the device has not taken all of it (its program stands still), the remaining
 * frames are heard from `now` on. `lags`: whether frames remain.
 */
export function waitForRest(device: DeviceTimeline, now: number): { device: DeviceTimeline; lags: boolean } {
  const { isCounted, sent, from, taken } = device;
  const left = isCounted ? sent - from - taken : 0;
  if (isNothing(device, left)) return { device, lags: false };
  return { device: fallBack(device, now - (device.sent - left) * device.msPerFrame), lags: true };
}

/** Frames that wait in front of the device's own buffer; null if unknown. */
export function queuedFrames({ isMetered, sent, from, taken }: DeviceTimeline): number | null {
  return isMetered ? sent - from - taken : null;
}

/** Whether the device's own pace is known. */
export function isMeasured({ isMetered, looks }: DeviceTimeline): boolean {
  return isMetered && looks >= LOOKS_TO_BELIEVE;
}

/** Whether the device plays: it has taken more than its buffer holds in this stretch. True without a count. */
export function flows(device: DeviceTimeline): boolean {
  return !device.isCounted || device.taken > framesInFront(device);
}

/** Sound that a device must be given to prove that it plays. */
export function proofMs(device: DeviceTimeline): number {
  return (framesInFront(device) + device.buffering.periodFrames) * device.msPerFrame;
}

/** When to poll a device again that seems to stand still; null while it moves. */
export function doubtfulAt({ isMetered, lookedAt, movedAt }: DeviceTimeline, limitMs: number): number | null {
  if (!isMetered || lookedAt - movedAt <= DOUBTFUL_MS) return null;
  return Math.max(lookedAt + DOUBTFUL_MS / 2, movedAt + limitMs + 1);
}
