import * as limit from './limits.ts';
import type { DeviceLine } from './line.ts';
import { forgetGiven } from './pending.ts';
import { type BufferEffect, isSilent, type PlaybackBuffer, runsOn, soundEnd } from './state.ts';

/** One step of the playback buffer while it is made. */
export interface Turn {
  state: PlaybackBuffer;
  readonly effects: BufferEffect[];
  readonly now: number;
}

export function set(turn: Turn, patch: Partial<PlaybackBuffer>): void {
  turn.state = { ...turn.state, ...patch };
}

export function setLine(turn: Turn, line: DeviceLine): void {
  if (turn.state.line?.isMetered === true && !line.isMetered) turn.effects.push({ type: 'distrust' });
  set(turn, { line });
}

/** The end of what one look does: when the next one is due; null: when something happens. */
export function arrangeLook(turn: Turn, at: number | null, slackMs = 0): void {
  set(turn, { isAnswering: false, stage: null });
  turn.effects.push(at === null ? { type: 'look_no_more' } : { type: 'look_at', at, slackMs });
}

/** Tells the writer when all will have been heard, where that is not what it knows. */
export function tell(turn: Turn): void {
  const { state, now } = turn;
  if (!state.sounding && state.pending.waitingBytes === 0) return;
  if (runsOn(state) && isSilent(state, now)) return;
  const until = soundEnd(state, now);
  if (Math.abs(until - state.told) <= limit.TOLERANCE_MS) return;
  set(turn, { told: until });
  if (state.isAnswering) set(turn, { written: { from: state.written.from, until } });
  else turn.effects.push({ type: 'measured', until });
}

export function settle(turn: Turn): void {
  set(turn, { isSettled: true, awaitsProof: false, absentFrom: null });
  turn.effects.push({ type: 'works' });
}

/** Nothing sounds any more. */
export function rest(turn: Turn): void {
  const pending = forgetGiven(turn.state.pending);
  set(turn, { sounding: false, pending, padMs: 0, told: Number.NEGATIVE_INFINITY });
}

/** The device is gone, or about to be. */
export function leave(turn: Turn): void {
  const { state, now } = turn;
  arrangeLook(turn, null);
  rest(turn);
  set(turn, { line: null, heldFrames: 0, isSettled: false, awaitsProof: false });
  if (state.absentFrom === null) set(turn, { absentFrom: now, accountedUntil: now });
}

export function restart(turn: Turn): void {
  leave(turn);
  set(turn, { needsRestart: false, startedAt: turn.now });
  turn.effects.push({ type: 'restart' });
}
