import { earliestSend, recordSend } from '../pacer.ts';
import { noteSilence, owesSpeech } from '../replay/log.ts';
import { closeStream, takeBackFrom } from './ending.ts';
import { pump } from './sending.ts';
import type { Retiring, Stream } from './state.ts';
import type { Turn } from './turn.ts';

/** Lets a stream finish speaking while another one, or none, hears what is said. */
export function retire(turn: Turn, stream: Stream, how: Pick<Retiring, 'why' | 'successorWaits'>): void {
  dropRetiring(turn, 'terminate');
  const { pacer, settings } = turn.state;
  turn.set({ retiring: { ...how, stream, since: turn.now, ending: false, asked: false, pacer } });
  turn.arm('retire', turn.now + settings.chunkMs);
}

/** Gives a stream up that has nothing left to say. */
export function dismiss(turn: Turn, stream: Stream): void {
  retire(turn, stream, { why: 'standby', successorWaits: false });
  sayGoodbye(turn);
}

function sayGoodbye(turn: Turn): void {
  const { retiring, settings } = turn.state;
  if (retiring === null) return;
  turn.set({ retiring: { ...retiring, ending: true } });
  turn.emit({ type: 'end_task', stream: retiring.stream.id });
  turn.arm('retire', turn.now + settings.drainMs);
}

/** The retiring stream is gone. */
export function dropRetiring(turn: Turn, how: 'close' | 'terminate'): void {
  const { retiring, phase } = turn.state;
  if (retiring === null) return;
  turn.disarm('retire');
  turn.set({ retiring: null });
  closeStream(turn, retiring.stream, retiring.why, how);
  if (phase === 'waiting' && retiring.successorWaits) turn.arm('retry', turn.now);
}

/**
 * The retiring stream broke off: what it leaves unspoken goes to the next one. That may have heard newer speech: better
 * said late than never.
 */
export function loseRetiring(turn: Turn): void {
  const { retiring } = turn.state;
  if (retiring === null) return;
  dropRetiring(turn, 'close');
  if (retiring.why === 'standby') return;
  takeBackFrom(turn, retiring.stream);
  pump(turn);
}

/** The retiring stream has ended in order: what it has not spoken by now was nothing to it. */
export function endRetiring(turn: Turn): void {
  if (turn.state.retiring?.ending === true) dropRetiring(turn, 'close');
  else loseRetiring(turn);
}

/** A service only confirms what is followed by silence: the retiring stream hears it, at real time. */
export function feedRetiring(turn: Turn): void {
  const { retiring, settings } = turn.state;
  if (retiring === null || retiring.ending || retiring.stream.congestedSince !== null) return;
  if (earliestSend(retiring.pacer, settings.chunkMs, true) > turn.now) return;
  const { stream } = retiring;
  const pacer = recordSend(retiring.pacer, turn.now, settings.chunkMs);
  const replay = noteSilence(stream.replay, settings.chunkMs, turn.now);
  turn.set({ retiring: { ...retiring, pacer, stream: { ...stream, replay } } });
  turn.emit({ type: 'send_audio', stream: stream.id, pcm: null, capturedAt: null, queued: false });
}

/** It said something: it may say more, or be done. */
export function noteNews(turn: Turn, stream: Stream): void {
  const { retiring } = turn.state;
  if (retiring?.stream.id !== stream.id || retiring.ending) return;
  const alive = { ...retiring, asked: false };
  turn.set({ retiring: alive });
  turn.arm('retire', doneAt(turn, alive));
}

/** When it can be taken to have nothing more to say; a sign of life is asked for before that where it owes something. */
function doneAt(turn: Turn, { stream, since, asked }: Retiring): number {
  const { chunkMs, retireDoneMs, retireQuietMs } = turn.state.settings;
  const newsAt = stream.newsAt ?? stream.liveAt ?? since;
  // A burst of sound may still go on; one that has been quiet for long, and owes nothing, need not stay at all.
  const isDone = !owesSpeech(stream.replay);
  const quietAt = isDone
    ? Math.max(newsAt + retireDoneMs, since + chunkMs)
    : Math.max(newsAt, since) + retireQuietMs - (asked ? 0 : retireDoneMs);
  return Math.max(turn.now, Math.min(quietAt, latestAt(turn, stream)));
}

/** It must be told to end before the service ends it. */
function latestAt(turn: Turn, { limitAt }: Stream): number {
  return (limitAt ?? Number.POSITIVE_INFINITY) - turn.state.settings.drainMs / 3;
}

export function onRetireTimer(turn: Turn): void {
  const { retiring } = turn.state;
  if (retiring === null) return;
  // Told to end, or asked for a sign of life, and silent: it is gone, and what it owes with it.
  if (retiring.ending || isDead(retiring)) return loseRetiring(turn);
  const { stream, asked } = retiring;
  const dueAt = doneAt(turn, retiring);
  const owes = owesSpeech(stream.replay);
  if (dueAt > turn.now) turn.arm('retire', dueAt);
  else if (owes && !asked && turn.now < latestAt(turn, stream)) askForLife(turn, retiring);
  else sayGoodbye(turn);
}

/** It owes something and says nothing: is anybody there? */
function askForLife(turn: Turn, retiring: Retiring): void {
  const { stream } = retiring;
  turn.set({ retiring: { ...retiring, asked: true, stream: { ...stream, pingsOut: stream.pingsOut + 1 } } });
  turn.emit({ type: 'ping', stream: stream.id });
  turn.arm('retire', doneAt(turn, { ...retiring, asked: true }));
}

function isDead({ asked, stream }: Retiring): boolean {
  return asked && stream.pingsOut > 0;
}
