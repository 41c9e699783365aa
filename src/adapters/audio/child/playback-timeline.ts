import { type CaptureClock, createCaptureClock } from '../../../core/audio/capture-clock.ts';
import { type Consumption, openConsumption } from './consumption.ts';
import { frameBytesOf, type Shape } from './format.ts';
import type { Child } from './process.ts';

/** How a playback child holds sound between its standard input and the ear. */
export interface Buffering {
  readonly periodFrames: number;
  /** The device's ring buffer; null where it is not known. */
  readonly bufferFrames: number | null;
}

/** When what was written to a child is heard: its device's time line, guessed by our clock and corrected by its own. */
export interface SpeakerLine {
  /** Frames written to the child since it was started. */
  readonly sent: number;
  /** Sound begins after a pause: the next frame is heard at `at`. */
  begin(at: number): void;
  write(bytes: Uint8Array): void;
  /** When the frame behind all that was written is heard. */
  end(): number;
  /** Frames that were heard until now. */
  heard(now: number): number;
  /**
   * Looks at what the device has taken; true when it has stood still for `limitMs` although it should not, and has taken
   * nothing since the last look.
   */
  look(now: number, limitMs: number): boolean;
  /** The device ran dry for this long while it should have sounded; it begins again with what comes. */
  ranDry(now: number, forMs: number): void;
  /**
   * At the end of what was written: the device has not taken all of it, as when its program stands still. What is left is
   * not heard before `now`.
   * @returns whether that is so, as far as anybody knows
   */
  lags(now: number): boolean;
  /** Frames that wait before the device's own buffer; null where nobody knows. */
  queuedFrames(): number | null;
  readonly isMeasured: boolean;
  /** The device has taken more than its own buffer holds in this stretch, so it sounds; true as well where nobody can tell. */
  readonly flows: boolean;
  /** By now it seems to stand still: when the next look is to find out; null while it moves. */
  doubtful(limitMs: number): number | null;
  close(): void;
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

export function createSpeakerLine(
  child: Child,
  shape: Shape,
  buffering: Buffering,
  openMeter = openConsumption,
): SpeakerLine {
  const msPerFrame = 1000 / shape.rateHz;
  const frameBytes = frameBytesOf(shape);
  const { periodFrames, bufferFrames } = buffering;
  let meter: Consumption | null =
    child.pid === null || bufferFrames === null ? null : openMeter(child.pid, periodFrames, frameBytes);
  let sent = 0;
  /** When frame 0 would have been heard. */
  let origin = 0;
  /** This stretch of sound: where it begins, and when. */
  let from = 0;
  let beganAt = 0;
  let taken = 0;
  let takenAt = 0;
  /** When it stood still, if it does: what it took since the last look was taken at its own pace before that. */
  let movedAt = 0;
  let lookedAt = 0;
  let waiting = 0;
  let looks = 0;
  /** Frames of this stretch that had been taken when the device's buffer was empty last. */
  let refilledFrom = 0;
  let line: CaptureClock = createCaptureClock(shape.rateHz);
  let lined = 0;

  const restartLine = (): void => {
    line = createCaptureClock(shape.rateHz);
    lined = 0;
    looks = 0;
  };
  /** The device is behind our line. */
  const fallBack = (next: number): void => {
    stalledMs += Math.max(0, next - origin);
    origin = Math.max(origin, next);
  };
  const distrust = (): void => {
    meter?.close();
    meter = null;
  };
  /** Compares the device's line with ours, and takes it over. */
  const believe = (now: number): void => {
    const measured = line.timeOf(0);
    if (measured === null || looks < LOOKS_TO_BELIEVE) return;
    const deviceOrigin = measured - from * msPerFrame;
    const limit = LARGEST_START_ERROR_MS + (now - beganAt) * LARGEST_DRIFT;
    if (Math.abs(deviceOrigin - firstOrigin) <= limit + stalledMs) origin = deviceOrigin;
    else distrust();
  };
  let firstOrigin = 0;
  /** How long the device has stood still in this stretch: its line may be this much behind ours. */
  let stalledMs = 0;

  return {
    get sent() {
      return sent;
    },
    begin(at) {
      from = sent;
      beganAt = at;
      origin = firstOrigin = at - sent * msPerFrame;
      stalledMs = 0;
      taken = 0;
      takenAt = movedAt = lookedAt = at;
      refilledFrom = 0;
      restartLine();
      meter?.begin();
    },
    write(bytes) {
      child.write(bytes);
      sent += bytes.byteLength / frameBytes;
    },
    end: () => origin + sent * msPerFrame,
    heard: (now) => Math.max(0, Math.min(sent, Math.floor((now - origin) / msPerFrame))),
    look(now, limitMs) {
      const inStretch = sent - from;
      const frames = meter?.frames() ?? null;
      if (frames === null) {
        const isMoving = child.waitingBytes === 0 || child.waitingBytes < waiting;
        waiting = child.waitingBytes;
        if (isMoving) takenAt = movedAt = now;
        return now - takenAt > limitMs;
      }
      if (frames > inStretch + periodFrames) {
        // It reads something else, too: its account says nothing of its sound.
        distrust();
        return false;
      }
      const isMoving = frames > taken;
      if (isMoving) movedAt = Math.min(now, lookedAt + (frames - taken) * msPerFrame);
      if (frames >= inStretch) movedAt = now;
      lookedAt = now;
      if (isMoving || frames >= inStretch) {
        if (now - takenAt > 200 && frames < inStretch) stalledMs += now - takenAt;
        taken = Math.max(taken, frames);
        takenAt = now;
      }
      const inFront = (bufferFrames ?? 0) + periodFrames;
      // Only a device with a full buffer tells its pace; the filling of it does not.
      if (taken > refilledFrom + inFront && taken < inStretch) {
        const played = taken - inFront;
        line.trackNoiseFloor(played - lined, now);
        lined = played;
        looks++;
        believe(now);
      }
      return taken < inStretch && !isMoving && now - movedAt > limitMs;
    },
    ranDry(now, forMs) {
      const frames = meter?.frames() ?? null;
      // What it has taken has been heard, but for the period that it holds; that begins now.
      const heard = frames === null ? null : Math.max(0, frames - periodFrames);
      const next = heard === null ? origin + forMs : now - (from + heard) * msPerFrame;
      fallBack(next);
      refilledFrom = heard ?? 0;
      restartLine();
    },
    lags(now) {
      const left = meter === null || bufferFrames === null ? 0 : sent - from - taken;
      if (left * msPerFrame < LEAST_LEFT_MS || now - takenAt > LONGEST_LAG_MS) return false;
      fallBack(now - (sent - left) * msPerFrame);
      return true;
    },
    queuedFrames() {
      if (meter === null || bufferFrames === null) return null;
      return sent - from - taken;
    },
    get isMeasured() {
      return meter !== null && looks >= LOOKS_TO_BELIEVE;
    },
    get flows() {
      return meter === null || taken > (bufferFrames ?? 0) + periodFrames;
    },
    doubtful: (limitMs) =>
      meter !== null && lookedAt - movedAt > DOUBTFUL_MS
        ? Math.max(lookedAt + DOUBTFUL_MS / 2, movedAt + limitMs + 1)
        : null,
    close: distrust,
  };
}
