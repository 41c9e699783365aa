import { type BackoffPolicy, drawBackoff } from '../backoff.ts';
import { discard, EMPTY_HOLD, type Hold, takeBack } from '../hold.ts';
import { flush, type Playout, SILENT_PLAYOUT } from '../playout.ts';
import { unspoken } from '../replay/log.ts';
import { closeStream } from './ending.ts';
import type { LaneEvent, TimerName } from './event.ts';
import { isListening, isTransition } from './phases.ts';
import { createLane, type LaneState } from './state.ts';
import type { Turn } from './turn.ts';

/** A defect that comes again and again must neither flood the owner nor spend tokens. */
const RESTART_WAIT: BackoffPolicy = { baseMs: 2000, capMs: 300_000, floorMs: 500 };

/**
 * A step of this lane threw. Its state may contradict itself and the world, so nothing of it is built upon: what is open
 * is closed, what is armed is disarmed, and a fresh lane takes its place that begins anew after a wait. Only what the
 * operator ordered, what is counted, and what must stay unique is taken over.
 * @param defect `where`: what was being done, in words that hold nothing of what was said
 */
export function restart(turn: Turn, { where, during }: Extract<LaneEvent, { type: 'defect' }>): void {
  const { hold, settings } = turn.state;
  letGoOfEverything(turn);
  turn.set({ ...freshState(turn.state, turn.now), ...toldBy(turn.state, during) });
  const { phase, wanted, ending } = turn.state;
  const message = `a defect of the program ended a step (${where}); its log tells more`;
  turn.set({ problem: { code: 'internal_error', message, at: turn.now } });
  let waitMs: number | null = null;
  const next = ending ? 'closed' : wanted ? 'restarting' : 'idle';
  if (phase !== next && !isTransition(phase, next)) turn.enter('restarting');
  if (turn.state.phase !== next) turn.enter(next);
  if (next === 'restarting') {
    const { crashes, seed } = turn.state;
    const drawn = drawBackoff(RESTART_WAIT, crashes, seed);
    waitMs = drawn.waitMs;
    turn.set({ seed: drawn.seed });
    turn.arm('retry', turn.now + waitMs);
  }
  const lost = turn.state.hold.accounts.lost - hold.accounts.lost;
  turn.notify('internal_error', { message, retry_ms: waitMs, lost_ms: Math.round(lost * settings.chunkMs) });
}

function letGoOfEverything(turn: Turn): void {
  const { phase, stream, approach, retiring, lease, timers, orders } = turn.state;
  for (const open of [stream, approach?.stream, retiring?.stream]) {
    if (open != null) closeStream(turn, open, 'internal_error', 'terminate');
  }
  if (lease !== null) turn.emit({ type: 'forget_grant', grant: lease.grant.id });
  if (isListening(phase)) turn.emit({ type: 'close_capture' });
  turn.emit({ type: 'flush_playback' });
  turn.emit({ type: 'duck', on: false });
  // Holds for the microphone that opens next: a fallback is tried anew with everything else.
  turn.emit({ type: 'cancel_echo', on: orders.echo === 'cancel' });
  turn.disarm(...(Object.keys(timers) as TimerName[]));
}

/** What nobody tells a second time: a lane that missed it would wait for ever, or run although it was stopped. */
function toldBy({ ending, orders }: LaneState, event: LaneEvent | undefined): Partial<LaneState> {
  switch (event?.type) {
    case 'start':
      return ending ? {} : { wanted: true };
    case 'stop':
      return { wanted: false };
    case 'shutdown':
      return { wanted: false, ending: true };
    case 'line':
      return { lineUp: event.up };
    case 'backend':
      return { backendSilent: event.silent };
    case 'orders':
      return { orders: { ...orders, ...event.orders } };
    default:
      return {};
  }
}

/** The phase and the seed stay for the caller to go on from. */
function freshState(state: LaneState, now: number): LaneState {
  const { settings, orders, idPrefix, seed, counts } = state;
  const backlog = withOwed(state);
  const takenBack = counts.takenBack + backlog.chunks.length - state.hold.chunks.length;
  return {
    ...createLane({ settings, orders, idPrefix, seed }),
    phase: state.phase,
    wanted: state.wanted,
    ending: state.ending,
    ...{ lineUp: state.lineUp, backendSilent: state.backendSilent, loss: state.loss },
    nextId: state.nextId,
    nextStream: state.nextStream,
    captureFindings: state.captureFindings,
    playbackLost: state.playbackLost,
    capturedCount: state.capturedCount,
    hold: emptied(backlog),
    playout: silenced(state.playout, now),
    counts: { ...counts, takenBack, defects: counts.defects + 1 },
    crashes: state.crashes + 1,
  };
}

/** What waits, and what the streams that are cut had heard and not spoken, if that can be told. */
function withOwed({ hold, stream, retiring }: LaneState): Hold {
  try {
    const owed = [stream, retiring?.stream].flatMap((cut) => (cut == null ? [] : unspoken(cut.replay)));
    return takeBack(hold, owed, Number.POSITIVE_INFINITY);
  } catch {
    return hold;
  }
}

/** All of it is lost with the step, and counted as such. */
function emptied(hold: Hold): Hold {
  const { accounts } = discard(hold);
  const lost = hold.chunks.filter(({ pcm, voiced }) => pcm !== null && voiced).length;
  return { ...EMPTY_HOLD, accounts: { ...accounts, lost: accounts.lost + lost } };
}

/** The gate must still know what the room heard last, if that can be told. */
function silenced(playout: Playout, now: number): Playout {
  const { queuedBytes, droppedBytes, writtenBytes, shed, gaps, soundings } = playout;
  const fresh = {
    ...SILENT_PLAYOUT,
    ...{ writtenBytes, shed, gaps },
    droppedBytes: droppedBytes + queuedBytes,
    soundings: { ...SILENT_PLAYOUT.soundings, nextWrite: soundings.nextWrite },
  };
  try {
    const { heard, earlier, soundings: known } = flush(playout, now);
    return { ...fresh, heard, earlier, soundings: known };
  } catch {
    return fresh;
  }
}
