import type { MonotonicMs } from '../../protocol/common/time.ts';
import { fadeOut } from '../fade.ts';
import { audibleMs } from '../frame-levels.ts';
import { BYTES_PER_SAMPLE, durationMs, sampleCount } from '../pcm.ts';
import {
  type BufferEffect,
  type BufferEvent,
  isPatient,
  isSilent,
  type PlaybackBuffer,
  pendingEnd,
  runsOn,
} from './buffer-state.ts';
import {
  arrangeLook,
  type BufferStep,
  loseDevice,
  reportEnd,
  rest,
  restart,
  set,
  settle,
} from './buffer-step.ts';
import { type DeviceTimeline, heardFrames, openTimeline, proofMs, surelyHeard } from './device-timeline.ts';
import * as limit from './limits.ts';
import { CAPACITY_MS } from './limits.ts';
import { give, onGiven, poll, silenceOf } from './poll.ts';
import { noteUnderrun } from './underrun.ts';
import { append, NOTHING_PENDING, take, takeBack } from './unheard-sound.ts';

type EventOf<T extends BufferEvent['type']> = Extract<BufferEvent, { type: T }>;

export function stepPlaybackBuffer(
  buffer: PlaybackBuffer,
  event: BufferEvent,
  now: MonotonicMs,
): { state: PlaybackBuffer; effects: readonly BufferEffect[] } {
  const step: BufferStep = { state: buffer, effects: [], now };
  dispatch(step, event);
  return { state: step.state, effects: step.effects };
}

function dispatch(step: BufferStep, event: BufferEvent): void {
  switch (event.type) {
    case 'write':
      return onWrite(step, event);
    case 'flush':
      return onFlush(step);
    case 'look':
      return poll(step, event.sight);
    case 'given':
      return onGiven(step, event);
    case 'started':
      return set(step, { startedAt: step.now });
    case 'ready':
      return onReady(step, event);
    case 'settled':
      return settle(step);
    case 'ran_dry':
      return onRanDry(step, event);
    case 'gone':
      return onGone(step);
    case 'failed':
      return set(step, { hasFailed: true });
    case 'run_on':
      return onRunOn(step, event);
  }
}

function onWrite(step: BufferStep, { pcm, sight }: EventOf<'write'>): void {
  const { now } = step;
  forgetMissed(step);
  const { pending, rateHz, isOverflowing } = step.state;
  const from = pendingEnd(step.state, now);
  const bytes = sampleCount(pcm) * BYTES_PER_SAMPLE;
  set(step, { written: { from, until: from } });
  if (bytes === 0) return;
  if (durationMs(pending.waitingBytes, rateHz) > CAPACITY_MS) {
    if (!isOverflowing) step.effects.push({ type: 'overflows' });
    return set(step, { isOverflowing: true });
  }
  const until = from + durationMs(bytes, rateHz);
  set(step, {
    written: { from, until },
    reportedEnd: until,
    isAnswering: true,
    isOverflowing: false,
    padMs: 0,
    pending: append(pending, pcm.subarray(0, bytes)),
  });
  poll(step, sight);
}

/** Drops sound that was due during a long absence of the device. */
function forgetMissed(step: BufferStep): void {
  const { state, now } = step;
  const { device, accountedUntil, pending, rateHz } = state;
  if (device !== null || isPatient(state, now)) return;
  const missed = Math.round(((now - accountedUntil) * rateHz) / 1000) * BYTES_PER_SAMPLE;
  const gone = take(pending, missed);
  set(step, { pending: gone.pending, accountedUntil: now });
  const ms = audibleMs(gone.pcm, rateHz);
  if (ms > 0) step.effects.push({ type: 'missed', ms });
}

function onFlush(step: BufferStep): void {
  const { state } = step;
  if (runsOn(state) && state.sounding) return runOut(step);
  const isIdle = !state.sounding && state.pending.waitingBytes === 0;
  set(step, { pending: NOTHING_PENDING });
  if (!isIdle && state.device !== null) restart(step);
}

/** Lets the device play out the sound that it already has: a restart would lose the device's measured clock. */
function runOut(step: BufferStep): void {
  const { pending, rateHz } = step.state;
  const { pcm } = take(pending, Math.round((limit.FADE_MS * rateHz) / 1000) * BYTES_PER_SAMPLE);
  const faded = fadeOut(pcm);
  set(step, { pending: NOTHING_PENDING });
  give(step, { kind: 'run_out' }, faded);
}

function onReady(step: BufferStep, event: EventOf<'ready'>): void {
  const { now } = step;
  const { startedAt, usualStartMs } = step.state;
  set(step, { usualStartMs: (usualStartMs * 3 + Math.min(1000, now - startedAt)) / 4 });
  // A late "ready": the device was given sound before that, so start the stretch again.
  if (step.state.device !== null) rest(step);
  forgetMissed(step);
  const device = openTimeline(event.deviceHz, event.buffering, event.isMetered);
  set(step, { device, heldFrames: 0, hasSounded: false });
  if (!event.isSure) step.effects.push({ type: 'settle_at', at: now + limit.SETTLED_MS });
  else if (event.afterFault || step.state.isSlow) prove(step, device);
  else settle(step);
  poll(step, event.sight);
}

/** After a fault, opening proves nothing: the device must take more sound than its buffer holds. */
function prove(step: BufferStep, device: DeviceTimeline): void {
  const { pending, rateHz } = step.state;
  const probe = silenceOf(Math.max(limit.PROBE_MS, proofMs(device)), rateHz);
  const missing = probe.byteLength - pending.waitingBytes;
  set(step, { awaitsProof: true, pending: append(pending, probe.subarray(0, Math.max(0, missing))) });
}

function onRanDry(step: BufferStep, { ms, sight }: EventOf<'ran_dry'>): void {
  const { state, now } = step;
  const { device, run, sounding, expectsDryUntil } = state;
  if (device === null || !sounding) return;
  const isOld = now < expectsDryUntil;
  set(step, { expectsDryUntil: Number.NEGATIVE_INFINITY });
  if (isOld) return;
  const again = noteUnderrun(device, sight, now, ms);
  const heard = ((heardFrames(again, now) - again.from) * state.rateHz) / again.rateHz;
  set(step, { device: again, run: run + 1, heardFrom: Math.max(0, Math.round(heard)) });
  reportEnd(step);
}

function onGone(step: BufferStep): void {
  const { device, isSettled, pending, stoodSince } = step.state;
  // If a device ended before it proved to work, its sound counts as unheard.
  if (device !== null)
    set(step, {
      pending: takeBack(pending, isSettled ? surelyHeard(device, stoodSince ?? step.now) : 0),
      stoodSince: null,
    });
  loseDevice(step);
}

function onRunOn(step: BufferStep, { on, restart: again }: EventOf<'run_on'>): void {
  set(step, { wantsRunOn: on, needsRestart: step.state.needsRestart || again });
  if (step.state.device === null) return;
  if (step.state.needsRestart && isSilent(step.state, step.now)) return restart(step);
  arrangeLook(step, step.now);
}
