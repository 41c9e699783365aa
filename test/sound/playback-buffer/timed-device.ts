import { expect } from 'vitest';
import {
  beginStretch,
  doubtfulAt,
  endOf,
  giveFrames,
  isMeasured,
  lookAt,
  openTimeline,
  queuedFrames,
  waitForRest,
} from '../../../src/sound/playback-buffer/device-timeline.ts';

export const RATE_HZ = 24_000;
export const PERIOD = 480;
export const BUFFER = 2400;
export const LOOK_MS = 37;

/** A device with its own pace that takes a period whenever its buffer has room. */
export function play(options: {
  readonly ppm?: number;
  readonly seconds: number;
  readonly startsLateMs?: number;
  /** The device stalls in this stretch of time. */
  readonly stall?: readonly [number, number];
  /** Other sound that it reads besides ours. */
  readonly foreign?: (now: number) => number;
  /** Nothing is written from this time on. */
  readonly endsMs?: number;
  /** Time between two looks without doubt. */
  readonly lookMs?: number;
  readonly limitMs?: number;
  /** Sound ready ahead of what is heard. */
  readonly aheadMs?: number;
}) {
  const {
    ppm = 0,
    seconds,
    startsLateMs = 0,
    stall = [0, 0],
    foreign = () => 0,
    endsMs = Infinity,
    lookMs = LOOK_MS,
    limitMs = 2000,
    aheadMs = 240,
  } = options;
  const framesPerMs = (RATE_HZ / 1000) * (1 + ppm * 1e-6);
  let written = 0;
  let now = 10_000;
  const heardBy = (at: number): number => {
    const stood = Math.max(0, Math.min(at, stall[1]) - stall[0]) * (stall[1] > 0 && at > stall[0] ? 1 : 0);
    return Math.max(0, Math.min(written, (at - 10_000 - startsLateMs - stood) * framesPerMs));
  };
  const taken = (): number => {
    const room = Math.floor((heardBy(now) + BUFFER + PERIOD) / PERIOD) * PERIOD;
    return Math.min(written, room) + foreign(now);
  };
  let device = openTimeline(RATE_HZ, { periodFrames: PERIOD, bufferFrames: BUFFER }, true);
  device = beginStretch(device, now);
  const errors: { at: number; error: number; aheadMs: number; lags: boolean }[] = [];
  let hung = false;
  let hungAt: number | null = null;
  while (now < 10_000 + seconds * 1000) {
    const looked = lookAt(device, { taken: taken(), pipeBytes: 0 }, now, limitMs);
    device = looked.device;
    hung ||= looked.hangs;
    if (hung) hungAt ??= now - 10_000;
    const mostQueued = (aheadMs * RATE_HZ) / 1000;
    while (
      now - 10_000 < endsMs &&
      endOf(device) - now < aheadMs &&
      (queuedFrames(device) ?? 0) < mostQueued
    ) {
      device = giveFrames(device, PERIOD);
      written += PERIOD;
    }
    const reallyAhead = (written - heardBy(now)) / framesPerMs;
    const waited = endOf(device) <= now ? waitForRest(device, now) : { device, lags: false };
    device = waited.device;
    errors.push({
      at: now - 10_000,
      error: endOf(device) - now - reallyAhead,
      aheadMs: reallyAhead,
      lags: waited.lags,
    });
    now = Math.min(now + lookMs, doubtfulAt(device, limitMs) ?? Number.POSITIVE_INFINITY);
  }
  return { errors, hung, hungAt, device };
}
export const since = <T extends { at: number }>(ms: number, errors: readonly T[]): T[] =>
  errors.filter(({ at }) => at > ms);

/** Checks a device that is off by this much. */
export function expectKnown(ppm: number, seconds: number): void {
  const { errors, device } = play({ ppm, seconds });
  const late = since(5000, errors);
  expect(late.length).toBeGreaterThan(0);
  expect(late.every(({ error }) => Math.abs(error) < 6)).toBe(true);
  // The delay neither grows nor shrinks to nothing.
  expect(late.every(({ aheadMs }) => aheadMs > 200 && aheadMs < 280)).toBe(true);
  expect(isMeasured(device)).toBe(true);
}
