/** What comes on a simulated wire, as the stream adapter would hand it on. */
import type { OutMessage } from '../../src/emulator/core/outbox.ts';
import type { StreamListener, StreamMessage } from '../../src/ports/stream.ts';
import { parseServerFrame } from '../../src/protocol/service/server-message.ts';

/** The wire's message as the stream adapter would hand it on, without the way through text and back. */
export function toStreamMessage(message: OutMessage): StreamMessage {
  const { type, data, pcm } = message;
  if (type !== 'output_audio_data') return { message_type: type, data: withPartName(data) } as StreamMessage;
  const { transcription_id: id, translation_part_id: part, language, last_chunk: last } = data;
  const sentence = typeof id === 'string' ? id : null;
  return {
    message_type: 'output_audio',
    pcm: pcm ?? new Uint8Array(0),
    sentence,
    part: typeof part === 'string' ? part : null,
    language: typeof data.language === 'string' ? data.language : null,
    utterance: sentence === null ? null : `${sentence}/${part ?? ''}/${language ?? ''}`,
    last: last === true,
  };
}

/** A part's number is a name, as in the schema. */
function withPartName(data: OutMessage['data']): OutMessage['data'] {
  const { transcription } = data as { transcription?: { translation_part_id?: number } };
  const part = transcription?.translation_part_id;
  return part === undefined
    ? data
    : { transcription: { ...transcription, translation_part_id: String(part) } };
}

/** Takes a frame as it came, which may be anything. */
export function deliverRaw(
  payload: string | Uint8Array,
  listener: StreamListener,
  deliver: (message: StreamMessage) => void,
): void {
  if (typeof payload !== 'string') return listener.unreadable('frame', 'binary frames');
  const parsed = parseServerFrame(payload);
  if (parsed.kind === 'malformed')
    return listener.unreadable(parsed.type === null ? 'frame' : 'speech', parsed.reason);
  if (parsed.kind === 'unknown') return listener.oddity('an unknown message');
  if (parsed.message.message_type !== 'output_audio_data') return deliver(parsed.message);
  deliver({
    message_type: 'output_audio',
    pcm: new Uint8Array(0),
    sentence: null,
    language: null,
    utterance: null,
    last: false,
  });
}
