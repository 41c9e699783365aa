/**
 * Written ahead of what is heard, the device's buffer included: no less than whoever writes does, so that nothing is held
 * back here; a flush forgets it at once.
 */
export const AHEAD_MS = 1100;
/**
 * Between two looks at most, each write being one, too, while the device's clock is being learnt and later: no multiple of
 * a period, so that they fall on different parts of it.
 */
export const LOOK_MS = { learning: 113, later: 997 } as const;
export const SHORTEST_LOOK_MS = 5;
/** A look that only sees whether all is well may be this much later. */
export const LOOK_SLACK_MS = 300;
/** Silence in front of sound: without it, pieces that come one by one would run dry. */
export const PREROLL_MS = 40;
/** With less than this ahead and nothing behind it, the last period is filled up with silence. */
export const TAIL_MS = 130;
/** What a converter still holds back is pushed out by this much silence. */
export const CONVERTER_TAIL_MS = 10;
/** An estimate that is off by less is not worth telling. */
export const TOLERANCE_MS = 10;
/** A device that stands still for this long hangs: the owner knows of it within two seconds. */
export const HANG_LIMIT_MS = 1500;
/** After a fault this much silence, and more than its buffer holds, finds out whether the device takes sound, where there is none to play. */
export const PROBE_MS = 300;
/** A device that was too slow is given silence until it keeps up: up to `silence` ahead when less than `least` is left. */
export const PACE_PROBE_MS = { silence: 1000, least: 600 } as const;
/** A device of which the owner knows that it fails, and that is away for longer, misses what was to be heard meanwhile. */
export const PATIENCE_MS = 1000;
/** Any other delays it for as long as one may take to open: on a busy machine, seconds. */
export const START_PATIENCE_MS = 5000;
/** A child that is not heard to fail for this long works. */
export const SETTLED_MS = 500;
/** How soon after a pause a device says that it ran dry in it, if it does. */
export const DRY_NEWS_MS = 300;
/**
 * Where the device runs on between sounds: it is given no more than `most` ahead, which is what a flush lets run out, and
 * silence up to `silence` when less than `least` is left, as long as an event loop may be busy. The buffer of the device
 * is shorter than that: only a full one tells its pace.
 */
export const RUN_ON_MS = { most: 160, silence: 145, least: 90 } as const;
export const FADE_MS = 8;
