import { sampleCount, silence } from '../../audio/pcm.ts';
import * as limit from './limits.ts';
import {
  beginStretch,
  doubtfulAt,
  endOf,
  flows,
  giveFrames,
  heardFrames,
  isMeasured,
  lookAt,
  queuedFrames,
  type Sight,
  waitForRest,
} from './line.ts';
import { noteGiven, noteHeard, putBefore, take } from './pending.ts';
import {
  type BufferEvent,
  heldMs,
  isSilent,
  mostAheadMs,
  type PlaybackBuffer,
  runsOn,
  type Stage,
  soundEnd,
} from './state.ts';
import { arrangeLook, rest, restart, set, setLine, settle, type Turn, tell } from './turn.ts';

export function silenceOf(ms: number, rateHz: number): Uint8Array {
  return silence(2 * Math.round((ms * rateHz) / 1000));
}

/** Looks at what was heard, gives what is due, and says when to come again. */
export function look(turn: Turn, sight: Sight): void {
  const { state, now } = turn;
  const { line, pending } = state;
  if (line === null || (!state.sounding && pending.waitingBytes === 0 && !runsOn(state)))
    return arrangeLook(turn, null);
  const isNew = !state.sounding;
  if (isNew) begin(turn);
  const seen = isNew ? { ...sight, taken: line.isMetered ? 0 : null } : sight;
  const looked = lookAt(turn.state.line ?? line, seen, now, limit.HANG_LIMIT_MS);
  setLine(turn, looked.line);
  if (looked.hangs) {
    arrangeLook(turn, null);
    turn.effects.push({ type: 'hangs' });
    return;
  }
  if (!turn.state.isSettled && turn.state.awaitsProof && flows(looked.line)) settle(turn);
  if (turn.state.needsRestart && isSilent(turn.state, now)) return restart(turn);
  giveDue(turn);
}

function begin(turn: Turn): void {
  const { state, now } = turn;
  if (state.line === null) return;
  const preroll = silenceOf(limit.PREROLL_MS, state.rateHz);
  set(turn, {
    ...{ sounding: true, hasSounded: true, run: state.run + 1, given: 0 },
    expectsDryUntil: state.hasSounded ? now + limit.DRY_NEWS_MS : Number.NEGATIVE_INFINITY,
    line: beginStretch(state.line, now + state.latencyMs),
    pending: putBefore(state.pending, preroll),
  });
  turn.effects.push({ type: 'begin' });
}

function aheadMs({ line }: PlaybackBuffer, now: number): number {
  return line === null ? 0 : endOf(line) - now;
}

function giveDue(turn: Turn): void {
  const { state, now } = turn;
  const { line, pending, rateHz } = state;
  const queuedMs = line === null ? 0 : (queuedFrames(line) ?? 0) * line.msPerFrame;
  const dueMs = mostAheadMs(state) - Math.max(aheadMs(state, now), queuedMs);
  if (line === null || pending.waitingBytes === 0 || dueMs <= 0) return fillGap(turn);
  const taken = take(pending, 2 * Math.ceil((dueMs * rateHz) / 1000));
  set(turn, { pending: taken.pending });
  give(turn, { kind: 'sound', pcm: taken.pcm, from: line.sent }, taken.pcm);
}

/** Hands something to the device; what comes next waits for its answer. */
export function give(turn: Turn, stage: Stage, pcm: Uint8Array): void {
  set(turn, { stage, given: turn.state.given + sampleCount(pcm) });
  turn.effects.push({ type: stage.kind === 'tail' ? 'fill_up' : 'give', pcm });
}

/** The device was given what it was handed. */
export function onGiven(turn: Turn, { frames, heldFrames }: Extract<BufferEvent, { type: 'given' }>): void {
  const { stage, line } = turn.state;
  if (stage === null || line === null) return;
  const given = giveFrames(line, frames);
  set(turn, { line: given, heldFrames, stage: null });
  switch (stage.kind) {
    case 'sound':
      set(turn, { pending: noteGiven(turn.state.pending, stage.pcm, stage.from, given.sent) });
      return fillGap(turn);
    case 'silence':
      set(turn, { padMs: turn.state.padMs + stage.ms });
      return finish(turn);
    case 'tail':
      set(turn, { padMs: Math.max(0, endOf(given) - stage.end - stage.heldMs) });
      return finish(turn);
    case 'run_out':
      set(turn, { told: soundEnd(turn.state, turn.now) });
      return arrangeLook(turn, turn.now + limit.SHORTEST_LOOK_MS);
  }
}

/** Behind the last sound: silence where the device runs on, else what fills its last period. */
function fillGap(turn: Turn): void {
  const { state, now } = turn;
  const { line, pending, heldFrames, rateHz } = state;
  if (line === null || pending.waitingBytes > 0) return finish(turn);
  const ahead = aheadMs(state, now);
  if (runsOn(state)) {
    if (ahead >= limit.RUN_ON_MS.least) return finish(turn);
    const ms = Math.ceil(limit.RUN_ON_MS.silence - Math.max(0, ahead));
    return give(turn, { kind: 'silence', ms }, silenceOf(ms, rateHz));
  }
  if (heldFrames === 0 || ahead >= limit.TAIL_MS) return finish(turn);
  const converterMs = line.rateHz === rateHz ? 0 : limit.CONVERTER_TAIL_MS;
  give(turn, { kind: 'tail', end: endOf(line), heldMs: heldMs(state) }, silenceOf(converterMs, rateHz));
}

function finish(turn: Turn): void {
  const isOver = hasEnded(turn);
  const { line, pending, isSettled } = turn.state;
  if (line === null) return arrangeLook(turn, null);
  set(turn, { pending: noteHeard(pending, heardFrames(line, turn.now)) });
  if (isSettled) turn.effects.push({ type: 'works' });
  tell(turn);
  if (!isOver) return arrangeNext(turn);
  rest(turn);
  arrangeLook(turn, null);
}

function hasEnded(turn: Turn): boolean {
  const { state, now } = turn;
  const { line, pending, heldFrames } = state;
  if (line === null || runsOn(state) || pending.waitingBytes > 0 || heldFrames > 0) return false;
  if (aheadMs(state, now) > 0) return false;
  const waited = waitForRest(line, now);
  set(turn, { line: waited.line });
  return !waited.lags;
}

function arrangeNext(turn: Turn): void {
  const { state, now } = turn;
  const { line, pending, heldFrames } = state;
  if (line === null) return;
  const { learning, later } = limit.LOOK_MS;
  const ahead = aheadMs(state, now);
  const lookMs = isMeasured(line) ? later : learning;
  const idleMs = pending.waitingBytes > 0 ? learning : ahead - (heldFrames > 0 ? limit.TAIL_MS : 0);
  const soonMs = runsOn(state) ? ahead - limit.RUN_ON_MS.least : idleMs;
  const doubtfulMs = (doubtfulAt(line, limit.HANG_LIMIT_MS) ?? Number.POSITIVE_INFINITY) - now;
  const waitMs = Math.min(lookMs, Math.max(limit.SHORTEST_LOOK_MS, Math.min(soonMs + 1, doubtfulMs)));
  arrangeLook(turn, now + waitMs, waitMs === later ? limit.LOOK_SLACK_MS : 0);
}
