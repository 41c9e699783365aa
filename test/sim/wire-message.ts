/** What comes on a simulated wire, as the stream adapter would hand it on. */
import { eventOf, spokeOf } from '../../src/adapters/stream/server-event.ts';
import { parseServerFrame, type ServerMessage } from '../../src/adapters/stream/server-message.ts';
import type { OutMessage } from '../../src/emulator/core/outbox.ts';
import type { ServiceEvent, StreamListener } from '../../src/ports/stream.ts';

type SoundData = Extract<ServerMessage, { message_type: 'output_audio_data' }>['data'];

/** What the wire's message means, without the way through text and back. */
export function toServiceEvent({ type, data, pcm }: OutMessage): ServiceEvent {
  if (type === 'output_audio_data') return spokeOf(data as SoundData, pcm ?? new Uint8Array(0));
  return eventOf({ message_type: type, data: withPartName(data) } as Parameters<typeof eventOf>[0]);
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
