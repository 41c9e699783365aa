import { earliestSend, recordSend } from '../pacer.ts';
import { noteSilence, unspoken } from '../sent-log.ts';
import { closeStream, giveBack } from './ending.ts';
import { pump } from './sending.ts';
import type { Retiring, Stream } from './state.ts';
import type { Turn } from './turn.ts';

/** Lets a stream finish speaking while another one, or none, hears what is said. */
export function retire(turn: Turn, stream: Stream, how: Pick<Retiring, 'why' | 'successorWaits'>): void {
  dropRetiring(turn, 'terminate');
  const { pacer, settings } = turn.state;
  turn.set({ retiring: { ...how, stream, since: turn.now, ending: false, overtaken: false, pacer } });
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

/** The retiring stream broke off: what it leaves unspoken goes to the next one, while that has not heard newer speech. */
export function loseRetiring(turn: Turn): void {
  const { retiring } = turn.state;
  if (retiring === null) return;
  dropRetiring(turn, 'close');
  if (retiring.ending || retiring.overtaken) return;
  giveBack(turn, unspoken(retiring.stream.sentLog));
  pump(turn);
}

/** A service only confirms what is followed by silence: the retiring stream hears it, at real time. */
export function feedRetiring(turn: Turn): void {
  const { retiring, settings } = turn.state;
  if (retiring === null || retiring.ending || retiring.stream.congestedSince !== null) return;
  if (earliestSend(retiring.pacer, settings.chunkMs, true) > turn.now) return;
  const { stream } = retiring;
  const pacer = recordSend(retiring.pacer, turn.now, settings.chunkMs);
  const sentLog = noteSilence(stream.sentLog, turn.now);
  turn.set({ retiring: { ...retiring, pacer, stream: { ...stream, sentLog } } });
  turn.emit({ type: 'send_audio', stream: stream.id, pcm: null, capturedAt: null, queued: false });
}

/** It said something: it may say more, or be done. */
export function noteNews(turn: Turn, stream: Stream): void {
  const { retiring } = turn.state;
  if (retiring?.stream.id === stream.id && !retiring.ending) turn.arm('retire', doneAt(turn, retiring));
}

/** When it can be taken to have nothing more to say. */
function doneAt(turn: Turn, { stream, since }: Retiring): number {
  const { chunkMs, retireDoneMs, retireQuietMs, drainMs } = turn.state.settings;
  const newsAt = stream.newsAt ?? stream.liveAt ?? since;
  // A burst of sound may still go on; one that has been quiet for long, and owes nothing, need not stay at all.
  const isDone = unspoken(stream.sentLog).length === 0;
  const quietAt = isDone
    ? Math.max(newsAt + retireDoneMs, since + chunkMs)
    : Math.max(newsAt, since) + retireQuietMs;
  const latestAt = (stream.limitAt ?? Number.POSITIVE_INFINITY) - drainMs / 3;
  return Math.max(turn.now, Math.min(quietAt, latestAt));
}

export function onRetireTimer(turn: Turn): void {
  const { retiring } = turn.state;
  if (retiring === null) return;
  if (retiring.ending) return dropRetiring(turn, 'close');
  const dueAt = doneAt(turn, retiring);
  if (dueAt <= turn.now) sayGoodbye(turn);
  else turn.arm('retire', dueAt);
}
