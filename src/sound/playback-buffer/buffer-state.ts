import { BYTES_PER_SAMPLE } from '../pcm.ts';
import { type Buffering, type DeviceTimeline, endOf, queuedFrames, type Sight } from './device-timeline.ts';
import { AHEAD_MS, PATIENCE_MS, PREROLL_MS, RUN_ON_MS, START_PATIENCE_MS } from './limits.ts';
import { NOTHING_PENDING, type Pending } from './unheard-sound.ts';

/**
 * State of the playback buffer: the written sound that has not been heard, and the times at which it will be. The buffer
 * decides when the device is given sound, and handles a device that is absent, stands still or restarts.
 */
export interface PlaybackBuffer {
  /** Rate of the written sound. */
  readonly rateHz: number;
  /** Assumed delay of a device that reports none. */
  readonly latencyMs: number;
  readonly pending: Pending;
  /** The device's timeline; null while none is ready. */
  readonly device: DeviceTimeline | null;
  /** Frames in a sample rate converter that do not fill a period yet. */
  readonly heldFrames: number;
  readonly sounding: boolean;
  /** Until this time, an underrun report is about the pause before this stretch. */
  readonly expectsDryUntil: number;
  readonly hasSounded: boolean;
  /** Silence after the last sound (ms). */
  readonly padMs: number;
  /** End of all sound as last reported to the writer. */
  readonly reportedEnd: number;
  /** Since when no device has counted as working; null: one does. */
  readonly absentFrom: number | null;
  /** The device's failure was reported to the owner, its recovery not yet. */
  readonly hasFailed: boolean;
  /** Until when sound missed during the absence has been counted. */
  readonly accountedUntil: number;
  /** Since when the device has hung; null: it does not hang. */
  readonly stoodSince: number | null;
  /** The current device counts as working. */
  readonly isSettled: boolean;
  readonly awaitsProof: boolean;
  /** The device was too slow when it last played, and must prove that it keeps up. */
  readonly isSlow: boolean;
  readonly startedAt: number;
  readonly usualStartMs: number;
  readonly isOverflowing: boolean;
  /** The device should keep running between sounds. */
  readonly wantsRunOn: boolean;
  readonly needsRestart: boolean;
  /** Number of the device's current unbroken run; `given`: the samples given in that run. */
  readonly run: number;
  readonly given: number;
  /** Samples already heard when this run continued the count of the previous one, after an underrun; null: the count began anew. */
  readonly heardFrom: number | null;
  /** The device's pending request. */
  readonly stage: Stage | null;
  /** Result of the last write. */
  readonly written: { readonly from: number; readonly until: number };
  /** A write is being answered: changes go into its answer instead of a separate report. */
  readonly isAnswering: boolean;
}

export type Stage =
  | { readonly kind: 'sound'; readonly pcm: Uint8Array; readonly from: number }
  | { readonly kind: 'silence'; readonly ms: number }
  | { readonly kind: 'tail'; readonly end: number; readonly heldMs: number }
  | { readonly kind: 'run_out' };

export type BufferEvent =
  | { readonly type: 'write'; readonly pcm: Uint8Array; readonly sight: Sight }
  | { readonly type: 'flush' }
  /** A scheduled poll of the device. */
  | { readonly type: 'look'; readonly sight: Sight }
  /** Answer to `give`: frames given, and frames that wait for a full period. */
  | { readonly type: 'given'; readonly frames: number; readonly heldFrames: number }
  /** A device is being started. */
  | { readonly type: 'started' }
  /** A device can be given sound. `isSure`: it reported so itself; `afterFault`: it must prove that it plays. */
  | {
      readonly type: 'ready';
      readonly deviceHz: number;
      readonly buffering: Buffering;
      readonly isMetered: boolean;
      readonly isSure: boolean;
      readonly afterFault: boolean;
      readonly sight: Sight;
    }
  /** The device has run for long enough without failing to count as working. */
  | { readonly type: 'settled' }
  | { readonly type: 'ran_dry'; readonly ms: number; readonly sight: Sight }
  | { readonly type: 'gone' }
  /** The failure was reported to the owner. */
  | { readonly type: 'failed' }
  /** `restart`: the change requires a restart of the device. */
  | { readonly type: 'run_on'; readonly on: boolean; readonly restart: boolean };

export type BufferEffect =
  /** A stretch of sound begins: the device's count starts here. */
  | { readonly type: 'begin' }
  /** Answered with `given`. */
  | { readonly type: 'give'; readonly pcm: Uint8Array }
  /** Flushes a sample rate converter with this silence and pads the last period. Answered with `given`. */
  | { readonly type: 'fill_up'; readonly pcm: Uint8Array }
  /** The device's count is not trusted any more. */
  | { readonly type: 'distrust' }
  | { readonly type: 'look_at'; readonly at: number; readonly slackMs: number }
  | { readonly type: 'look_no_more' }
  | { readonly type: 'settle_at'; readonly at: number }
  | { readonly type: 'works' }
  /** The device takes no sound, or only this share of the due sound, which is too little. */
  | { readonly type: 'hangs'; readonly slowShare: number | null }
  | { readonly type: 'restart' }
  | { readonly type: 'measured'; readonly until: number }
  /** Written sound that was never heard, because the device was absent. */
  | { readonly type: 'missed'; readonly ms: number }
  | { readonly type: 'overflows' };

export function beginPlaybackBuffer(rateHz: number, latencyMs: number, now: number): PlaybackBuffer {
  return {
    rateHz,
    latencyMs,
    pending: NOTHING_PENDING,
    device: null,
    heldFrames: 0,
    stage: null,
    sounding: false,
    hasSounded: false,
    padMs: 0,
    run: 0,
    given: 0,
    heardFrom: null,
    expectsDryUntil: Number.NEGATIVE_INFINITY,
    reportedEnd: Number.NEGATIVE_INFINITY,
    absentFrom: now,
    hasFailed: false,
    accountedUntil: now,
    startedAt: now,
    usualStartMs: 20,
    stoodSince: null,
    isSettled: false,
    awaitsProof: false,
    isSlow: false,
    isOverflowing: false,
    wantsRunOn: false,
    needsRestart: false,
    isAnswering: false,
    written: { from: now, until: now },
  };
}

/** Whether the device runs on. Requires a known pace: with a wrong pace, silence would pile up or underrun. */
export function runsOn({ wantsRunOn, device }: PlaybackBuffer): boolean {
  return wantsRunOn && device !== null && queuedFrames(device) !== null;
}

/** Whether the device is given silence until it proves that it keeps up. */
export function provesPace({ awaitsProof, isSlow }: PlaybackBuffer): boolean {
  return awaitsProof && isSlow;
}

/** When the next written sound will be heard; a past time means that all is silent. */
export function pendingEnd(buffer: PlaybackBuffer, now: number): number {
  const { device, sounding, pending, rateHz } = buffer;
  const behind = (pending.waitingBytes / BYTES_PER_SAMPLE) * (1000 / rateHz);
  if (device === null || !sounding) return firstHeardAt(buffer, now) + PREROLL_MS + behind;
  return endOf(device) + heldMs(buffer) + behind;
}

export function heldMs({ device, heldFrames }: PlaybackBuffer): number {
  return heldFrames * (device?.msPerFrame ?? 0);
}

function firstHeardAt(buffer: PlaybackBuffer, now: number): number {
  const { device, latencyMs, startedAt, usualStartMs } = buffer;
  if (device !== null) return now + latencyMs;
  return (isPatient(buffer, now) ? Math.max(now, startedAt + usualStartMs) : now) + latencyMs;
}

/** Whether waiting sound is kept for an absent device. */
export function isPatient({ absentFrom, hasFailed }: PlaybackBuffer, now: number): boolean {
  return absentFrom === null || now - absentFrom < (hasFailed ? PATIENCE_MS : START_PATIENCE_MS);
}

export function soundEnd(buffer: PlaybackBuffer, now: number): number {
  return pendingEnd(buffer, now) - buffer.padMs;
}

/** Whether all sound has been heard. */
export function isSilent(buffer: PlaybackBuffer, now: number): boolean {
  return !buffer.sounding || (buffer.pending.waitingBytes === 0 && soundEnd(buffer, now) <= now);
}

/** After a flush: until when sound is still heard; undefined: the device is silent at once. */
export function runsOutUntil(buffer: PlaybackBuffer): number | undefined {
  return runsOn(buffer) && buffer.sounding ? buffer.reportedEnd : undefined;
}

/** Sample position after all written sound; null if the device does not run without a break. */
export function placeAfter(
  buffer: PlaybackBuffer,
): { run: number; sample: number; heardFrom: number | null } | null {
  const { run, given, heardFrom, pending, sounding } = buffer;
  if (!runsOn(buffer) || !sounding) return null;
  return { run, sample: given + pending.waitingBytes / BYTES_PER_SAMPLE, heardFrom };
}

/** How far ahead the device may be given sound. */
export function mostAheadMs(buffer: PlaybackBuffer): number {
  return runsOn(buffer) ? RUN_ON_MS.most : AHEAD_MS;
}
