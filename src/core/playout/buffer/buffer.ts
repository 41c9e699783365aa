import type { MonotonicMs } from '../../../protocol/time.ts';
import { fadeOut } from '../../audio/fade.ts';
import { BYTES_PER_SAMPLE, durationMs, sampleCount } from '../../audio/pcm.ts';
import { CAPACITY_MS } from '../capacity.ts';
import * as limit from './limits.ts';
import { heardFrames, openLine, runDry } from './line.ts';
import { give, look, onGiven, silenceOf } from './look.ts';
import { append, NOTHING_PENDING, take, takeBack } from './pending.ts';
import {
  type BufferEffect,
  type BufferEvent,
  isSilent,
  type PlaybackBuffer,
  pendingEnd,
  runsOn,
} from './state.ts';
import { arrangeLook, leave, rest, restart, set, settle, type Turn, tell } from './turn.ts';

type EventOf<T extends BufferEvent['type']> = Extract<BufferEvent, { type: T }>;

export function stepPlaybackBuffer(
  buffer: PlaybackBuffer,
  event: BufferEvent,
  now: MonotonicMs,
): { state: PlaybackBuffer; effects: readonly BufferEffect[] } {
  const turn: Turn = { state: buffer, effects: [], now };
  dispatch(turn, event);
  return { state: turn.state, effects: turn.effects };
}

function dispatch(turn: Turn, event: BufferEvent): void {
  switch (event.type) {
    case 'write':
      return onWrite(turn, event);
    case 'flush':
      return onFlush(turn);
    case 'look':
      return look(turn, event.sight);
    case 'given':
      return onGiven(turn, event);
    case 'started':
      return set(turn, { startedAt: turn.now });
    case 'ready':
      return onReady(turn, event);
    case 'settled':
      return settle(turn);
    case 'ran_dry':
      return onRanDry(turn, event);
    case 'gone':
      return onGone(turn);
    case 'run_on':
      return onRunOn(turn, event);
  }
}

function onWrite(turn: Turn, { pcm, sight }: EventOf<'write'>): void {
  const { now } = turn;
  forgetMissed(turn);
  const { pending, rateHz, isOverflowing } = turn.state;
  const from = pendingEnd(turn.state, now);
  const bytes = sampleCount(pcm) * BYTES_PER_SAMPLE;
  set(turn, { written: { from, until: from } });
  if (bytes === 0) return;
  if (durationMs(pending.waitingBytes, rateHz) > CAPACITY_MS) {
    if (!isOverflowing) turn.effects.push({ type: 'overflows' });
    return set(turn, { isOverflowing: true });
  }
  const until = from + durationMs(bytes, rateHz);
  set(turn, {
    ...{ written: { from, until }, told: until, isAnswering: true, isOverflowing: false, padMs: 0 },
    pending: append(pending, pcm.subarray(0, bytes)),
  });
  look(turn, sight);
}

/** A device that is away for long misses what was to be heard meanwhile. */
function forgetMissed(turn: Turn): void {
  const { state, now } = turn;
  const { line, absentFrom, accountedUntil, pending, rateHz } = state;
  if (line !== null || absentFrom === null || now - absentFrom < limit.PATIENCE_MS) return;
  const missed = Math.round(((now - accountedUntil) * rateHz) / 1000) * BYTES_PER_SAMPLE;
  set(turn, { pending: take(pending, missed).pending, accountedUntil: now });
}

function onFlush(turn: Turn): void {
  const { state } = turn;
  if (runsOn(state) && state.sounding) return runOut(turn);
  const isIdle = !state.sounding && state.pending.waitingBytes === 0;
  set(turn, { pending: NOTHING_PENDING });
  if (!isIdle && state.line !== null) restart(turn);
}

/** What the device has been given runs out: one that is started again for it would break the clock. */
function runOut(turn: Turn): void {
  const { pending, rateHz } = turn.state;
  const { pcm } = take(pending, Math.round((limit.FADE_MS * rateHz) / 1000) * BYTES_PER_SAMPLE);
  const faded = fadeOut(pcm);
  set(turn, { pending: NOTHING_PENDING });
  give(turn, { kind: 'run_out' }, faded);
}

function onReady(turn: Turn, event: EventOf<'ready'>): void {
  const { now } = turn;
  const { startedAt, usualStartMs } = turn.state;
  set(turn, { usualStartMs: (usualStartMs * 3 + Math.min(1000, now - startedAt)) / 4 });
  // It has said late that it is ready, and was given sound before that.
  if (turn.state.line !== null) rest(turn);
  forgetMissed(turn);
  const line = openLine(event.deviceHz, event.buffering, event.isMetered);
  set(turn, { line, heldFrames: 0, hasSounded: false });
  if (!event.isSure) turn.effects.push({ type: 'settle_at', at: now + limit.SETTLED_MS });
  else if (event.afterFault) prove(turn);
  else settle(turn);
  look(turn, event.sight);
}

/** Opening is no proof that a device that had failed sounds again: it has to take more than its buffer holds. */
function prove(turn: Turn): void {
  const { pending, rateHz } = turn.state;
  const probe = silenceOf(limit.PROBE_MS, rateHz);
  const missing = probe.byteLength - pending.waitingBytes;
  set(turn, { awaitsProof: true, pending: append(pending, probe.subarray(0, Math.max(0, missing))) });
}

function onRanDry(turn: Turn, { ms, sight }: EventOf<'ran_dry'>): void {
  const { state, now } = turn;
  const { line, run, sounding, expectsDryUntil } = state;
  if (line === null || !sounding) return;
  const isOld = now < expectsDryUntil;
  set(turn, { expectsDryUntil: Number.NEGATIVE_INFINITY });
  if (isOld) return;
  set(turn, { line: runDry(line, sight, now, ms), run: run + 1 });
  tell(turn);
}

function onGone(turn: Turn): void {
  const { line, isSettled, pending } = turn.state;
  // One that ended before it was known to work has let nobody hear anything.
  if (line !== null) set(turn, { pending: takeBack(pending, isSettled ? heardFrames(line, turn.now) : 0) });
  leave(turn);
}

function onRunOn(turn: Turn, { on, restart: again }: EventOf<'run_on'>): void {
  set(turn, { wantsRunOn: on, needsRestart: turn.state.needsRestart || again });
  if (turn.state.line === null) return;
  if (turn.state.needsRestart && isSilent(turn.state, turn.now)) return restart(turn);
  arrangeLook(turn, turn.now);
}
