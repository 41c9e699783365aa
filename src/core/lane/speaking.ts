import type { StreamMessage } from '../../ports/stream.ts';
import { advance, enqueue } from '../playout.ts';
import type { Turn } from './turn.ts';

export function onOutputAudio(
  turn: Turn,
  stream: number,
  message: Extract<StreamMessage, { message_type: 'output_audio' }>,
): void {
  const format = { bytesPerMs: turn.state.settings.playoutBytesPerMs };
  const arrival = {
    stream,
    key: message.utterance ?? '',
    pcm: message.pcm,
    receivedAt: turn.now,
    complete: message.last,
  };
  turn.set({ playout: enqueue(turn.state.playout, arrival, format) });
  feedLoudspeaker(turn);
}

/** Keeps the loudspeaker fed a little ahead of what is heard. */
export function feedLoudspeaker(turn: Turn): void {
  const next = advance(turn.state.playout, turn.now, { bytesPerMs: turn.state.settings.playoutBytesPerMs });
  turn.set({ playout: next.playout });
  for (const write of next.writes) turn.emit({ type: 'play', ...write });
  if (next.wakeAt === null) turn.disarm('playout');
  else turn.arm('playout', next.wakeAt);
}
