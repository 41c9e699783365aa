import {
  type BufferEffect,
  isSilent,
  type PlaybackBuffer,
  provesPace,
  runsOn,
  soundEnd,
} from './buffer-state.ts';
import type { DeviceTimeline } from './device-timeline.ts';
import * as limit from './limits.ts';
import { forgetGiven } from './unheard-sound.ts';

/** A step of the playback buffer in progress. */
export interface BufferStep {
  state: PlaybackBuffer;
  readonly effects: BufferEffect[];
  readonly now: number;
}

export function set(step: BufferStep, patch: Partial<PlaybackBuffer>): void {
  step.state = { ...step.state, ...patch };
}

export function setDevice(step: BufferStep, device: DeviceTimeline): void {
  if (step.state.device?.isCounted === true && !device.isCounted) step.effects.push({ type: 'distrust' });
  set(step, { device });
}

/** Ends a poll. @param at time of the next one; null: only after another event */
export function arrangeLook(step: BufferStep, at: number | null, slackMs = 0): void {
  set(step, { isAnswering: false, stage: null });
  step.effects.push(at === null ? { type: 'look_no_more' } : { type: 'look_at', at, slackMs });
}

/** Reports when all sound will have been heard, if that differs from the last report. */
export function reportEnd(step: BufferStep): void {
  const { state, now } = step;
  if (!state.sounding && state.pending.waitingBytes === 0) return;
  if ((runsOn(state) || provesPace(state)) && isSilent(state, now)) return;
  const until = soundEnd(state, now);
  if (Math.abs(until - state.reportedEnd) <= limit.TOLERANCE_MS) return;
  set(step, { reportedEnd: until });
  if (state.isAnswering) set(step, { written: { from: state.written.from, until } });
  else step.effects.push({ type: 'measured', until });
}

export function settle(step: BufferStep): void {
  set(step, { isSettled: true, awaitsProof: false, isSlow: false, absentFrom: null, hasFailed: false });
  step.effects.push({ type: 'works' });
}

/** All sound has been heard. */
export function rest(step: BufferStep): void {
  const pending = forgetGiven(step.state.pending);
  set(step, { sounding: false, pending, padMs: 0, reportedEnd: Number.NEGATIVE_INFINITY });
}

/** Call when the device is gone, or about to be. */
export function loseDevice(step: BufferStep): void {
  const { state, now } = step;
  arrangeLook(step, null);
  rest(step);
  set(step, { device: null, heldFrames: 0, isSettled: false, awaitsProof: false });
  if (state.absentFrom === null) set(step, { absentFrom: now, accountedUntil: now });
}

export function restart(step: BufferStep): void {
  loseDevice(step);
  set(step, { needsRestart: false, startedAt: step.now });
  step.effects.push({ type: 'restart' });
}
