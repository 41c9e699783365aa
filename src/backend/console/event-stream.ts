/** One browser's stream: numbered messages, as server-sent events. */
import { randomBytes } from 'node:crypto';
import type { EventSink } from '../../adapters/console/console-request.ts';
import type { SignedIn } from '../../ports/console-store.ts';
import type { FleetView } from '../../protocol/console-fleet.ts';
import type { StreamDiff, StreamMessages, StreamSnapshot } from '../../protocol/console-stream.ts';
import type { Channel, OpenChannel } from './channels.ts';

/** Time after which a browser reconnects when its stream has ended (ms). */
const RETRY_MS = 2000;
/** Unread bytes after which a stream is dropped; the browser connects again and gets a snapshot. */
export const MOST_UNREAD_BYTES = 256 * 1024;

export interface Viewer {
  /** Hash of the session's cookie. */
  readonly session: string;
  readonly who: SignedIn;
  readonly view: FleetView;
  readonly device: string | null;
}

export class EventStream {
  readonly id = randomBytes(12).toString('base64url');
  readonly viewer: Viewer;
  /** The device that the page follows now. */
  followed: string | null;
  /** Number of the view's last change. */
  viewNumber = 0;
  private readonly sink: EventSink;
  private readonly tooSlow: (stream: EventStream) => void;
  private shown: OpenChannel;
  private seq = 1;

  /** @param tooSlow called when the browser does not read: drop the stream */
  constructor(viewer: Viewer, sink: EventSink, shown: OpenChannel, tooSlow: (stream: EventStream) => void) {
    this.viewer = viewer;
    this.followed = viewer.device;
    this.sink = sink;
    this.shown = shown;
    this.tooSlow = tooSlow;
  }

  get channel(): Channel {
    return this.shown.channel;
  }

  /** Sends the first message. */
  begin(content: Omit<StreamSnapshot, 'seq' | 'stream'>): void {
    this.sink.write(Buffer.from(`retry: ${RETRY_MS}\n`));
    this.send('snapshot', { seq: this.seq, stream: this.id, ...content });
  }

  send<K extends keyof StreamMessages>(event: K, data: StreamMessages[K]): void {
    this.write(Buffer.from(`event: ${event}\nid: ${this.seq}\ndata: ${JSON.stringify(data)}\n\n`));
  }

  /** @param rest from `encodeDiff`; shared by many streams */
  sendDiff(rest: Buffer): void {
    this.seq += 1;
    this.write(Buffer.from(`event: diff\nid: ${this.seq}\ndata: {"seq":${this.seq},`), rest);
  }

  /** Switches the stream to this channel. */
  show(shown: OpenChannel): void {
    this.shown.leave();
    this.shown = shown;
  }

  close(): void {
    this.shown.leave();
    this.sink.close();
  }

  private write(...bytes: readonly Buffer[]): void {
    this.sink.write(...bytes);
    if (this.sink.unread > MOST_UNREAD_BYTES) this.tooSlow(this);
  }
}

/** JSON of a difference without its opening brace: each stream puts its own number in front. */
export function encodeDiff(diff: Omit<StreamDiff, 'seq'>): Buffer {
  return Buffer.from(`${JSON.stringify(diff).slice(1)}\n\n`);
}
