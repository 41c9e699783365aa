/** Maximum waiting sound (ms): a service that is permanently faster than real time must not fill the memory. */
export const CAPACITY_MS = 60_000;
/**
 * Sound given ahead of what is heard (ms), the device's buffer included. At least as much as the writer writes ahead, so
 * that no sound is held back here; a flush drops this sound at once.
 */
export const AHEAD_MS = 1100;
/**
 * Longest time between two polls (ms; a write is a poll, too): while the device's clock is being learnt, if it cannot be learnt,
 * and once it is known. Not a multiple of a period, so that polls fall on different parts of the period.
 */
export const LOOK_MS = { learning: 113, unknown: 397, later: 997 } as const;
export const SHORTEST_LOOK_MS = 5;
/** Permitted delay (ms) of a poll that only checks that all is well. */
export const LOOK_SLACK_MS = 300;
/** Silence before sound (ms): without it, pieces that arrive one by one would underrun. */
export const PREROLL_MS = 40;
/** If nothing follows and less sound than this (ms) is still ahead, the last period is padded with silence. */
export const TAIL_MS = 130;
/** Silence (ms) that pushes out the sound held in a sample rate converter. */
export const CONVERTER_TAIL_MS = 10;
/** Smallest change of an estimate (ms) that is reported. */
export const TOLERANCE_MS = 10;
/**
 * Time without consumption (ms) after which the device counts as hung. A hung card is reported within two seconds. A sound server whose
 * device was suspended wakes up in half a second, and PulseAudio's null sink takes sound in blocks of two seconds.
 */
const HANG_LIMIT_MS = { card: 1500, server: 5000 } as const;

export const hangLimitMs = (isServer = false): number =>
  isServer ? HANG_LIMIT_MS.server : HANG_LIMIT_MS.card;
/** Silence (ms) that tests a device after a fault if there is no sound to play; it must also exceed the device's buffer. */
export const PROBE_MS = 300;
/** Silence (ms) for a device that was too slow, until it keeps up: filled up to `silence` when less than `least` is left. */
export const PACE_PROBE_MS = { silence: 1000, least: 600 } as const;
/** Absence (ms) of a device with a reported fault after which due sound is dropped. */
export const PATIENCE_MS = 1000;
/** Absence (ms) without a reported fault after which due sound is dropped: on a busy machine, opening may take seconds. */
export const START_PATIENCE_MS = 5000;
/** Time without failure (ms) after which a child process counts as working. */
export const SETTLED_MS = 500;
/** Delay (ms) within which a device reports an underrun of the previous pause. */
export const DRY_NEWS_MS = 300;
/**
 * For a device that runs on between sounds (ms). It is given at most `most` ahead: that much still sounds after a flush.
 * Silence is added up to `silence` when less than `least` is left, which bridges a busy event loop. The device's buffer
 * must be shorter, because only a full buffer shows the pace.
 */
export const RUN_ON_MS = { most: 160, silence: 145, least: 90 } as const;
export const FADE_MS = 8;
