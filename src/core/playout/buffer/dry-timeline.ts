import { type DeviceTimeline, heardFrames, NO_ARREARS, newClock, type Sight } from './device-timeline.ts';

/**
 * What it has taken has been heard, but for the period that it holds, which begins to sound now, and for what it has taken since
 * where something waited for it: a whole buffer where something still waits.
 * @param most frames of this stretch that have been heard at most
 */
function dryOrigin(device: DeviceTimeline, most: number, now: number, byTime: number): number {
  const earliest = now - (device.from + most) * device.msPerFrame;
  const latest = earliest + Math.min(most, device.buffering.bufferFrames ?? 0) * device.msPerFrame;
  // Of an account whose pace is not believed no more than the bound is: sound servers tell nonsense of how long it was.
  if (!device.isMetered) return Math.min(latest, byTime);
  if (device.sent - device.from > most + device.buffering.periodFrames) return latest;
  return Math.min(latest, Math.max(earliest, byTime));
}

/** The device ran dry for this long while it should have sounded; it begins again with what comes. */
export function runDry(device: DeviceTimeline, { taken }: Sight, now: number, forMs: number): DeviceTimeline {
  const byTime = device.origin + forMs;
  const most =
    taken === null || !device.isCounted ? null : Math.max(0, taken - device.buffering.periodFrames);
  const origin = Math.max(device.origin, most === null ? byTime : dryOrigin(device, most, now, byTime));
  const sounded = Math.max(0, heardFrames({ ...device, origin }, now) - device.from);
  return {
    ...device,
    ...{ inTime: { at: now, taken: device.taken }, watchedFrom: now },
    // When it sounds again nobody tells: from here its timeline is another one, which may again be wrong by as much at first.
    ...{ origin, firstOrigin: origin, beganAt: now, stalledMs: 0, ...NO_ARREARS },
    refilledFrom: most === null || !device.isMetered ? 0 : Math.min(most, sounded),
    ...newClock(device.rateHz),
  };
}
