/** The streams of the console: first a snapshot, then the changes, at most four times a second. */
import type { EventSink } from '../../adapters/console/console-request.ts';
import { repeat } from '../../machine/repeat.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SignedIn } from '../../ports/console-store.ts';
import type { FleetView } from '../../protocol/console-fleet.ts';
import type { Job } from '../../protocol/console-jobs.ts';
import { includesRole } from '../../protocol/console-routes.ts';
import type { StreamSnapshot, ViewChange } from '../../protocol/console-stream.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { FleetSummary } from '../fleet/fleet-summary.ts';
import { type Channel, type Channels, createChannels, type OpenChannel } from './channels.ts';
import { EventStream, encodeDiff, type Viewer } from './event-stream.ts';

const TICK_MS = 250;
/** Maximum number of rows built per tick: 2,000 a second. */
const MOST_AT_ONCE = 500;
const PING_EACH_MS = 10_000;
const MOST_STREAMS = 200;
/** Maximum number of streams per person: a forgotten or stolen session must leave streams for the others. */
export const MOST_STREAMS_EACH = 20;
/** Number of streams reserved for administrators: many viewers must not keep them from seeing the fleet. */
const KEPT_FOR_ADMINISTRATORS = 20;

export interface StreamParts {
  readonly fleet: Fleet;
  readonly prefix: string;
  readonly clock: Clock;
  readonly isConnected: () => boolean;
  readonly jobs: { recent(): readonly Job[]; takeChanged(): readonly Job[] };
  /** Whether a session is still valid; asking does not extend it. */
  readonly isSignedIn: (key: string) => Promise<boolean>;
}

export class Streams {
  private readonly parts: StreamParts;
  private readonly channels: Channels;
  private readonly summary: FleetSummary;
  private readonly streams = new Map<string, EventStream>();
  private readonly stopTicks: () => void;
  private stopPings = (): void => {};

  constructor(parts: StreamParts) {
    const { fleet, prefix, clock, isConnected } = parts;
    this.parts = parts;
    this.channels = createChannels(fleet, prefix);
    this.summary = new FleetSummary(fleet, clock, isConnected);
    // A whole fleet that reconnects at once must not delay token requests.
    this.stopTicks = repeat(clock, TICK_MS, () => this.tick(MOST_AT_ONCE));
  }

  get count(): number {
    return this.streams.size;
  }

  /** False: there are too many streams, of this person or in total. */
  mayOpen({ name, role }: Pick<SignedIn, 'name' | 'role'>): boolean {
    const most = role === 'administrator' ? MOST_STREAMS : MOST_STREAMS - KEPT_FOR_ADMINISTRATORS;
    const own = [...this.streams.values()].filter(({ viewer }) => viewer.who.name === name);
    return this.streams.size < most && own.length < MOST_STREAMS_EACH;
  }

  /** @returns a function to call when the browser has disconnected */
  open(viewer: Viewer, sink: EventSink): () => void {
    this.tick();
    const shown = this.openChannel(viewer, viewer.view, viewer.device);
    const stream = new EventStream(viewer, sink, shown, (slow) => this.drop(slow));
    const isFirst = this.streams.size === 0;
    this.streams.set(stream.id, stream);
    stream.begin(this.contentOf(shown.channel));
    if (isFirst && this.streams.size > 0) this.stopPings = repeat(this.parts.clock, PING_EACH_MS, this.ping);
    return () => this.drop(stream);
  }

  /** The first message of a stream for this viewer. */
  snapshot(viewer: Viewer): StreamSnapshot {
    this.tick();
    const { channel, leave } = this.openChannel(viewer, viewer.view, viewer.device);
    const content = this.contentOf(channel);
    leave();
    return { seq: 0, stream: '', ...content };
  }

  /** False: the session has no such stream. */
  change(session: string, { stream: id, number, view, device }: ViewChange): boolean {
    const stream = this.streams.get(id);
    if (stream === undefined || stream.viewer.session !== session) return false;
    if (number <= stream.viewNumber) return true;
    this.tick();
    // The tick may have dropped the stream, because the browser does not read.
    if (!this.streams.has(id)) return false;
    stream.viewNumber = number;
    const isOther = device !== undefined && device !== stream.followed;
    if (device !== undefined) stream.followed = device;
    // Opened before leaving the old channel: both may share a sorted list, which is expensive to build.
    const shown = this.openChannel(stream.viewer, view, stream.followed);
    stream.show(shown);
    const { window, detail } = shown.channel;
    const diff = { window: { number, ...window }, ...(isOther && { device: detail }) };
    stream.sendDiff(encodeDiff(diff));
    return true;
  }

  hearLog(device: string, lines: readonly string[], dropped: number): void {
    for (const channel of this.channels.all()) channel.hearLog(device, lines, dropped);
  }

  /** Brings the fleet and all streams up to date. */
  refresh(): void {
    this.tick();
  }

  /** Ends the streams of sessions that have ended. */
  async check(): Promise<void> {
    const sessions = new Set([...this.streams.values()].map(({ viewer }) => viewer.session));
    for (const session of sessions) {
      if (await this.parts.isSignedIn(session)) continue;
      for (const stream of [...this.streams.values()]) {
        if (stream.viewer.session !== session) continue;
        stream.send('end', { code: 'signed_out' });
        this.drop(stream);
      }
    }
  }

  close(): void {
    this.stopTicks();
    for (const stream of [...this.streams.values()]) this.drop(stream);
  }

  /** @param most maximum number of rows to build; the others follow at the next tick */
  private tick(most?: number): void {
    const news = this.parts.fleet.settle(most);
    if (news.rows.size > 0) this.summary.noteRows();
    this.channels.update(news);
    const jobs = this.parts.jobs.takeChanged();
    const shared = { ...this.summary.changes(), ...(jobs.length > 0 && { jobs }) };
    const texts = new Map<Channel, Buffer>();
    for (const channel of this.channels.all()) {
      const diff = { ...shared, ...channel.changes(news) };
      if (Object.keys(diff).length > 0) texts.set(channel, encodeDiff(diff));
    }
    for (const stream of this.streams.values()) {
      const text = texts.get(stream.channel);
      if (text !== undefined) stream.sendDiff(text);
    }
  }

  private readonly ping = (): void => {
    for (const stream of this.streams.values()) stream.send('ping', {});
    void this.check();
  };

  private openChannel({ who }: Viewer, view: FleetView, device: string | null): OpenChannel {
    return this.channels.open({ view, device, mayReadLogs: includesRole(who.role, 'operator') });
  }

  private contentOf(channel: Channel): Omit<StreamSnapshot, 'seq' | 'stream'> {
    return {
      ...this.summary.current(),
      window: { number: 0, ...channel.window },
      device: channel.detail,
      jobs: this.parts.jobs.recent(),
    };
  }

  private drop(stream: EventStream): void {
    if (!this.streams.delete(stream.id)) return;
    stream.close();
    if (this.streams.size > 0) return;
    this.stopPings();
    this.summary.forgetFacets();
  }
}
