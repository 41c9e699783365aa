import { sampleCount, silence } from '../pcm.ts';
import {
  type BufferEvent,
  heldMs,
  isSilent,
  mostAheadMs,
  type PlaybackBuffer,
  provesPace,
  runsOn,
  type Stage,
  soundEnd,
} from './buffer-state.ts';
import {
  arrangeLook,
  type BufferStep,
  reportEnd,
  rest,
  restart,
  set,
  setDevice,
  settle,
} from './buffer-step.ts';
import {
  beginStretch,
  type DeviceTimeline,
  doubtfulAt,
  endOf,
  flows,
  giveFrames,
  isMeasured,
  lookAt,
  queuedFrames,
  type Sight,
  stoodSince,
  surelyHeard,
  waitForRest,
  watchPace,
} from './device-timeline.ts';
import * as limit from './limits.ts';
import { noteGiven, noteHeard, putBefore, take } from './unheard-sound.ts';

export function silenceOf(ms: number, rateHz: number): Uint8Array {
  return silence(2 * Math.round((ms * rateHz) / 1000));
}

/** Reads the device, gives it the due sound, and arranges the next poll. */
export function poll(step: BufferStep, sight: Sight): void {
  const { state, now } = step;
  const { device, pending } = state;
  if (device === null || (!state.sounding && pending.waitingBytes === 0 && !runsOn(state)))
    return arrangeLook(step, null);
  const isNew = !state.sounding;
  if (isNew) begin(step);
  const seen = isNew ? { ...sight, taken: device.isCounted ? 0 : null } : sight;
  const isAll = pending.waitingBytes === 0 && !provesPace(state);
  const looked = lookAt(
    step.state.device ?? device,
    seen,
    now,
    limit.hangLimitMs(device.buffering.isServer),
    isAll,
  );
  setDevice(step, looked.device);
  const slowShare = looked.hangs || provesPace(state) ? null : looked.slowShare;
  if (looked.hangs || slowShare !== null) {
    arrangeLook(step, null);
    set(step, { stoodSince: stoodSince(looked.device, now), isSlow: state.isSlow || slowShare !== null });
    step.effects.push({ type: 'hangs', slowShare });
    return;
  }
  if (!step.state.isSettled && step.state.awaitsProof && isProven(step, looked.device)) settle(step);
  if (step.state.needsRestart && isSilent(step.state, now)) return restart(step);
  giveDue(step);
}

function isProven(step: BufferStep, device: DeviceTimeline): boolean {
  if (!step.state.isSlow) return flows(device);
  const watched = watchPace(device, step.now);
  setDevice(step, watched.device);
  return watched.keepsUp;
}

function begin(step: BufferStep): void {
  const { state, now } = step;
  if (state.device === null) return;
  const preroll = silenceOf(limit.PREROLL_MS, state.rateHz);
  set(step, {
    sounding: true,
    hasSounded: true,
    run: state.run + 1,
    given: 0,
    heardFrom: null,
    expectsDryUntil: state.hasSounded ? now + limit.DRY_NEWS_MS : Number.NEGATIVE_INFINITY,
    device: beginStretch(state.device, now + state.latencyMs),
    pending: putBefore(state.pending, preroll),
  });
  step.effects.push({ type: 'begin' });
}

function aheadMs({ device }: PlaybackBuffer, now: number): number {
  return device === null ? 0 : endOf(device) - now;
}

function giveDue(step: BufferStep): void {
  const { state, now } = step;
  const { device, pending, rateHz } = state;
  const queuedMs = device === null ? 0 : (queuedFrames(device) ?? 0) * device.msPerFrame;
  const dueMs = mostAheadMs(state) - Math.max(aheadMs(state, now), queuedMs);
  if (device === null || pending.waitingBytes === 0 || dueMs <= 0) return fillGap(step);
  const taken = take(pending, 2 * Math.ceil((dueMs * rateHz) / 1000));
  set(step, { pending: taken.pending });
  give(step, { kind: 'sound', pcm: taken.pcm, from: device.sent }, taken.pcm);
}

/** Hands sound to the device; the step continues with its answer. */
export function give(step: BufferStep, stage: Stage, pcm: Uint8Array): void {
  set(step, { stage, given: step.state.given + sampleCount(pcm) });
  step.effects.push({ type: stage.kind === 'tail' ? 'fill_up' : 'give', pcm });
}

/** Handles the device's answer to `give`. */
export function onGiven(
  step: BufferStep,
  { frames, heldFrames }: Extract<BufferEvent, { type: 'given' }>,
): void {
  const { stage, device } = step.state;
  if (stage === null || device === null) return;
  const given = giveFrames(device, frames);
  set(step, { device: given, heldFrames, stage: null });
  switch (stage.kind) {
    case 'sound':
      set(step, { pending: noteGiven(step.state.pending, stage.pcm, stage.from, given.sent) });
      return fillGap(step);
    case 'silence':
      set(step, { padMs: step.state.padMs + stage.ms });
      return endStep(step);
    case 'tail':
      set(step, { padMs: Math.max(0, endOf(given) - stage.end - stage.heldMs) });
      return endStep(step);
    case 'run_out':
      set(step, { reportedEnd: soundEnd(step.state, step.now) });
      return arrangeLook(step, step.now + limit.SHORTEST_LOOK_MS);
  }
}

/** After the last sound: silence for a device that runs on, otherwise padding of the last period. */
function fillGap(step: BufferStep): void {
  const { state, now } = step;
  const { device, pending, heldFrames, rateHz } = state;
  if (device === null || pending.waitingBytes > 0) return endStep(step);
  const ahead = aheadMs(state, now);
  if (runsOn(state) || provesPace(state)) {
    const { least, silence: most } = runsOn(state) ? limit.RUN_ON_MS : limit.PACE_PROBE_MS;
    if (ahead >= least) return endStep(step);
    const ms = Math.ceil(most - Math.max(0, ahead));
    return give(step, { kind: 'silence', ms }, silenceOf(ms, rateHz));
  }
  if (heldFrames === 0 || ahead >= limit.TAIL_MS) return endStep(step);
  const converterMs = device.rateHz === rateHz ? 0 : limit.CONVERTER_TAIL_MS;
  give(step, { kind: 'tail', end: endOf(device), heldMs: heldMs(state) }, silenceOf(converterMs, rateHz));
}

function endStep(step: BufferStep): void {
  const isOver = hasEnded(step);
  const { device, pending, isSettled } = step.state;
  if (device === null) return arrangeLook(step, null);
  // A stalled device may need its frames again, so count only those that were heard before it stalled.
  const heard = surelyHeard(device, Math.min(step.now, device.movedAt));
  set(step, { pending: noteHeard(pending, heard) });
  if (isSettled) step.effects.push({ type: 'works' });
  reportEnd(step);
  if (!isOver) return arrangeNext(step);
  rest(step);
  arrangeLook(step, null);
}

function hasEnded(step: BufferStep): boolean {
  const { state, now } = step;
  const { device, pending, heldFrames } = state;
  if (device === null || runsOn(state) || provesPace(state)) return false;
  if (pending.waitingBytes > 0 || heldFrames > 0) return false;
  if (aheadMs(state, now) > 0) return false;
  const waited = waitForRest(device, now);
  set(step, { device: waited.device });
  return !waited.lags;
}

function arrangeNext(step: BufferStep): void {
  const { state, now } = step;
  const { device, pending, heldFrames } = state;
  if (device === null) return;
  const { learning, later } = limit.LOOK_MS;
  const ahead = aheadMs(state, now);
  const lookMs = provesPace(state) ? learning : usualLookMs(device);
  const idleMs = pending.waitingBytes > 0 ? learning : ahead - (heldFrames > 0 ? limit.TAIL_MS : 0);
  const soonMs = runsOn(state) ? ahead - limit.RUN_ON_MS.least : idleMs;
  const doubtfulMs =
    (doubtfulAt(device, limit.hangLimitMs(device.buffering.isServer)) ?? Number.POSITIVE_INFINITY) - now;
  const waitMs = Math.min(lookMs, Math.max(limit.SHORTEST_LOOK_MS, Math.min(soonMs + 1, doubtfulMs)));
  arrangeLook(step, now + waitMs, waitMs === later ? limit.LOOK_SLACK_MS : 0);
}

function usualLookMs(device: DeviceTimeline): number {
  const { learning, unknown, later } = limit.LOOK_MS;
  if (!device.isMetered) return unknown;
  return isMeasured(device) ? later : learning;
}
