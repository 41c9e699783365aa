import type { OutMessage } from './outbox.ts';
import type { RenderJob } from './render.ts';

/** How bytes are sent: as a binary frame, as a text frame without a check, or below the WebSocket protocol. */
export type RawForm = 'binary' | 'text' | 'wire';

/** A request of a stream's core to its shell. */
export type Effect =
  | { type: 'send'; stream: string; message: OutMessage }
  /** Sends a frame that is not a valid message. */
  | { type: 'sendRaw'; stream: string; payload: string | Uint8Array; as?: RawForm }
  | { type: 'close'; stream: string; code: number; reason: string }
  /** Ends the connection without a close, like a failing network. */
  | { type: 'reset'; stream: string }
  /** Sets the behaviour of the connection's two directions from now on. */
  | { type: 'link'; stream: string; link: Link }
  /** Synthesises speech; the result is passed to `rendered`. */
  | { type: 'render'; job: RenderJob };

/** The state of a connection below its messages. */
export interface Link {
  /** The service reads nothing from the client: its socket fills up. */
  readonly deaf: boolean;
  /** Bytes per second read from the client; 0: no limit. */
  readonly readBytesPerS: number;
  /** The service sends nothing, not even pongs: a half-open connection. */
  readonly mute: boolean;
}

export const HEALTHY_LINK: Link = { deaf: false, readBytesPerS: 0, mute: false };
