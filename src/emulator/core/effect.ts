import type { OutMessage } from './outbox.ts';
import type { RenderJob } from './render.ts';

/** Bytes go out as a binary frame, as a text frame whatever they are, or past the WebSocket protocol. */
export type RawForm = 'binary' | 'text' | 'wire';

/** A request of a stream's core to its shell. */
export type Effect =
  | { type: 'send'; stream: string; message: OutMessage }
  /** Sends a frame that is no proper message. */
  | { type: 'sendRaw'; stream: string; payload: string | Uint8Array; as?: RawForm }
  | { type: 'close'; stream: string; code: number; reason: string }
  /** Ends the connection without a close, as a dying network does. */
  | { type: 'reset'; stream: string }
  /** How the connection's two directions behave from now on. */
  | { type: 'link'; stream: string; link: Link }
  /** Makes speech; the answer is fed to `rendered`. */
  | { type: 'render'; job: RenderJob };

/** The state of a connection below its messages. */
export interface Link {
  /** Nothing is read from the client: its socket fills up. */
  readonly deaf: boolean;
  /** Bytes per second read from the client; 0: as fast as they come. */
  readonly readBytesPerS: number;
  /** Nothing goes out, not even pongs: a half-open connection. */
  readonly mute: boolean;
}

export const HEALTHY_LINK: Link = { deaf: false, readBytesPerS: 0, mute: false };
