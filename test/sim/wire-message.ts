/** Converts messages of the simulated wire to events, as the stream adapter does. */
import { eventOf, spokeOf } from '../../src/adapters/stream/server-event.ts';
import { parseServerFrame, type ServerMessage } from '../../src/adapters/stream/server-message.ts';
import type { OutMessage } from '../../src/emulator/core/outbox.ts';
import type { ServiceEvent, StreamListener } from '../../src/ports/stream.ts';

type SoundData = Extract<ServerMessage, { message_type: 'output_audio_data' }>['data'];

/** Converts a message without encoding it as text. */
export function toServiceEvent({ type, data, pcm }: OutMessage): ServiceEvent {
  if (type === 'output_audio_data') return spokeOf(data as SoundData, pcm ?? new Uint8Array(0));
  return eventOf({ message_type: type, data: withPartName(data) } as Parameters<typeof eventOf>[0]);
}

/** Converts a part's number to text, as the schema does. */
function withPartName(data: OutMessage['data']): OutMessage['data'] {
  const { transcription } = data as { transcription?: { translation_part_id?: number } };
  const part = transcription?.translation_part_id;
  return part === undefined
    ? data
    : { transcription: { ...transcription, translation_part_id: String(part) } };
}

/** Parses and delivers a raw frame, which may be malformed. */
export function deliverRaw(
  payload: string | Uint8Array,
  listener: StreamListener,
  deliver: (event: ServiceEvent) => void,
): void {
  if (typeof payload !== 'string') return listener.unreadable('frame', 'binary frames');
  const parsed = parseServerFrame(payload);
  if (parsed.kind === 'malformed')
    return listener.unreadable(parsed.type === null ? 'frame' : 'speech', parsed.reason);
  if (parsed.kind === 'unknown') return listener.oddity('an unknown message');
  const { message } = parsed;
  if (message.message_type === 'output_audio_data') deliver(spokeOf(message.data, new Uint8Array(0)));
  else deliver(eventOf(message));
}
