import { type DeviceTimeline, heardFrames, NO_ARREARS, newClock, type Sight } from './device-timeline.ts';

/**
 * Estimates the origin after an underrun. The taken frames have been heard, except for the period that begins to sound
 * now. If sound waits, the device has also taken more since: up to a whole buffer.
 * @param most upper limit of the heard frames of this stretch
 */
function dryOrigin(device: DeviceTimeline, most: number, now: number, byTime: number): number {
  const earliest = now - (device.from + most) * device.msPerFrame;
  const latest = earliest + Math.min(most, device.buffering.bufferFrames ?? 0) * device.msPerFrame;
  // Sound servers report nonsense durations, so without a trusted pace only the bound counts.
  if (!device.isMetered) return Math.min(latest, byTime);
  if (device.sent - device.from > most + device.buffering.periodFrames) return latest;
  return Math.min(latest, Math.max(earliest, byTime));
}

/** Notes an underrun of this length; the device starts again with the next sound. */
export function noteUnderrun(
  device: DeviceTimeline,
  { taken }: Sight,
  now: number,
  forMs: number,
): DeviceTimeline {
  const byTime = device.origin + forMs;
  const most =
    taken === null || !device.isCounted ? null : Math.max(0, taken - device.buffering.periodFrames);
  const origin = Math.max(device.origin, most === null ? byTime : dryOrigin(device, most, now, byTime));
  const sounded = Math.max(0, heardFrames({ ...device, origin }, now) - device.from);
  return {
    ...device,
    inTime: { at: now, taken: device.taken },
    watchedFrom: now,
    // When it sounds again is unknown: start a new timeline, with the usual error at its start.
    origin,
    firstOrigin: origin,
    beganAt: now,
    stalledMs: 0,
    ...NO_ARREARS,
    refilledFrom: most === null || !device.isMetered ? 0 : Math.min(most, sounded),
    ...newClock(device.rateHz),
  };
}
