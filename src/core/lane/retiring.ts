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
  turn.set({ retiring: { ...how, stream, newsAt: turn.now, ending: false, overtaken: false, pacer } });
  turn.arm('retire', turn.now + settings.retireDoneMs);
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

/** It said something: it may say more. */
export function noteNews(turn: Turn, stream: Stream): void {
  const { retiring } = turn.state;
  if (retiring?.stream.id === stream.id) turn.set({ retiring: { ...retiring, newsAt: turn.now } });
}

export function onRetireTimer(turn: Turn): void {
  const { retiring, settings } = turn.state;
  if (retiring === null) return;
  if (retiring.ending) return dropRetiring(turn, 'close');
  const { stream, newsAt } = retiring;
  const isDone = unspoken(stream.sentLog).length === 0;
  const quietAt = newsAt + (isDone ? settings.retireDoneMs : settings.retireQuietMs);
  const dueAt = Math.min(quietAt, (stream.limitAt ?? Number.POSITIVE_INFINITY) - settings.drainMs / 3);
  if (dueAt <= turn.now) sayGoodbye(turn);
  else turn.arm('retire', dueAt);
}
