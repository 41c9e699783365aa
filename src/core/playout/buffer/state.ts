import { BYTES_PER_SAMPLE } from '../../audio/pcm.ts';
import { type Buffering, type DeviceTimeline, endOf, queuedFrames, type Sight } from './device-timeline.ts';
import { AHEAD_MS, PATIENCE_MS, PREROLL_MS, RUN_ON_MS, START_PATIENCE_MS } from './limits.ts';
import { NOTHING_PENDING, type Pending } from './pending.ts';

/**
 * The playback buffer: the ledger of what was written to a loudspeaker and has not been heard, and of when it will be. It decides what the
 * device is given when, and what becomes of it where the device is away, stands still or starts again.
 */
export interface PlaybackBuffer {
  /** Of what is written. */
  readonly rateHz: number;
  /** From being given sound to sounding, where nothing else is known. */
  readonly latencyMs: number;
  readonly pending: Pending;
  /** The device's timeline; null while none is ready. */
  readonly device: DeviceTimeline | null;
  /** Frames that a converter holds back until they fill a period. */
  readonly heldFrames: number;
  readonly sounding: boolean;
  /** Until then, news that it ran dry is of the pause before this stretch. */
  readonly expectsDryUntil: number;
  readonly hasSounded: boolean;
  /** Silence behind the last sound. */
  readonly padMs: number;
  /** Until when all is heard, as the writer knows it. */
  readonly told: number;
  /** Since when what waits is not heard, because no device is ready. */
  readonly absentFrom: number | null;
  /** The owner knows that it fails, and not yet that it works again. */
  readonly hasFailed: boolean;
  /** Until when what should have been heard meanwhile is accounted for. */
  readonly accountedUntil: number;
  /** It hangs, and has moved last then; null: it does not. */
  readonly stoodSince: number | null;
  /** The present device works, as far as can be told. */
  readonly isSettled: boolean;
  readonly awaitsProof: boolean;
  /** It took its sound too slowly when it was heard last, and has to show that it keeps up. */
  readonly isSlow: boolean;
  readonly startedAt: number;
  readonly usualStartMs: number;
  readonly isOverflowing: boolean;
  /** The device is to run on between sounds. */
  readonly wantsRunOn: boolean;
  readonly needsRestart: boolean;
  /** Stretches in which the device has run without a break, and samples given to it in this one. */
  readonly run: number;
  readonly given: number;
  /** Of those, what had been heard when this one began in the middle of them; null where it began with the first. */
  readonly heardFrom: number | null;
  /** What the device was asked to take and has not answered yet. */
  readonly stage: Stage | null;
  /** What the last write came to. */
  readonly written: { readonly from: number; readonly until: number };
  /** A write is being answered: what is found out meanwhile is part of the answer, and told no other way. */
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
  /** It is time to look. */
  | { readonly type: 'look'; readonly sight: Sight }
  /** What was asked for was given: how many frames, and how many wait for their period to be full. */
  | { readonly type: 'given'; readonly frames: number; readonly heldFrames: number }
  /** A device is being started. */
  | { readonly type: 'started' }
  /** It can be given sound. `isSure`: it has said so; `afterFault`: there was a fault before, and sounding has to be proven. */
  | {
      readonly type: 'ready';
      readonly deviceHz: number;
      readonly buffering: Buffering;
      readonly isMetered: boolean;
      readonly isSure: boolean;
      readonly afterFault: boolean;
      readonly sight: Sight;
    }
  /** It has not failed for so long that it counts as working. */
  | { readonly type: 'settled' }
  | { readonly type: 'ran_dry'; readonly ms: number; readonly sight: Sight }
  | { readonly type: 'gone' }
  /** The owner is told that it fails. */
  | { readonly type: 'failed' }
  /** `restart`: the device has to be started again for it. */
  | { readonly type: 'run_on'; readonly on: boolean; readonly restart: boolean };

export type BufferEffect =
  /** A stretch of sound begins: what the device takes counts from here. */
  | { readonly type: 'begin' }
  /** Answered by `given`. */
  | { readonly type: 'give'; readonly pcm: Uint8Array }
  /** Pushes out what a converter holds back with this silence, and fills the last period. Answered by `given`. */
  | { readonly type: 'fill_up'; readonly pcm: Uint8Array }
  /** What the device takes is not believed any more. */
  | { readonly type: 'distrust' }
  | { readonly type: 'look_at'; readonly at: number; readonly slackMs: number }
  | { readonly type: 'look_no_more' }
  | { readonly type: 'settle_at'; readonly at: number }
  | { readonly type: 'works' }
  /** It takes nothing; or `slowShare` of what is due, which is too little. */
  | { readonly type: 'hangs'; readonly slowShare: number | null }
  | { readonly type: 'restart' }
  | { readonly type: 'measured'; readonly until: number }
  /** So much of what was written will never be heard: the device was away. */
  | { readonly type: 'missed'; readonly ms: number }
  | { readonly type: 'overflows' };

export function beginPlaybackBuffer(rateHz: number, latencyMs: number, now: number): PlaybackBuffer {
  return {
    ...{ rateHz, latencyMs, pending: NOTHING_PENDING, device: null, heldFrames: 0, stage: null },
    ...{ sounding: false, hasSounded: false, padMs: 0, run: 0, given: 0, heardFrom: null },
    ...{ expectsDryUntil: Number.NEGATIVE_INFINITY, told: Number.NEGATIVE_INFINITY },
    ...{ absentFrom: now, hasFailed: false, accountedUntil: now, startedAt: now, usualStartMs: 20 },
    ...{ stoodSince: null, isSettled: false, awaitsProof: false, isSlow: false, isOverflowing: false },
    ...{ wantsRunOn: false, needsRestart: false, isAnswering: false, written: { from: now, until: now } },
  };
}

/** Only where the device's pace is known: silence at another one would pile up, or run dry. */
export function runsOn({ wantsRunOn, device }: PlaybackBuffer): boolean {
  return wantsRunOn && device !== null && queuedFrames(device) !== null;
}

/** It is given silence for as long as it has not shown that it keeps up. */
export function provesPace({ awaitsProof, isSlow }: PlaybackBuffer): boolean {
  return awaitsProof && isSlow;
}

/** When what will be written next is heard; the past means that nothing sounds. */
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

/** Whether what is to be heard waits for the device, which is away. */
export function isPatient({ absentFrom, hasFailed }: PlaybackBuffer, now: number): boolean {
  return absentFrom === null || now - absentFrom < (hasFailed ? PATIENCE_MS : START_PATIENCE_MS);
}

export function soundEnd(buffer: PlaybackBuffer, now: number): number {
  return pendingEnd(buffer, now) - buffer.padMs;
}

/** Nothing sounds, and nothing waits to. */
export function isSilent(buffer: PlaybackBuffer, now: number): boolean {
  return !buffer.sounding || (buffer.pending.waitingBytes === 0 && soundEnd(buffer, now) <= now);
}

/** After a flush: until when something is heard all the same; nothing where it is silent at once. */
export function runsOutUntil(buffer: PlaybackBuffer): number | undefined {
  return runsOn(buffer) && buffer.sounding ? buffer.told : undefined;
}

/** The place behind all that was written, in samples; null where the device does not run without a break. */
export function placeBehind(
  buffer: PlaybackBuffer,
): { run: number; sample: number; heardFrom: number | null } | null {
  const { run, given, heardFrom, pending, sounding } = buffer;
  if (!runsOn(buffer) || !sounding) return null;
  return { run, sample: given + pending.waitingBytes / BYTES_PER_SAMPLE, heardFrom };
}

/** How far ahead of what is heard the device may be given sound. */
export function mostAheadMs(buffer: PlaybackBuffer): number {
  return runsOn(buffer) ? RUN_ON_MS.most : AHEAD_MS;
}
