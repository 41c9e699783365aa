/** The streams of the console: a snapshot for each, then what has changed, four times a second at most. */
import { randomBytes } from 'node:crypto';
import type { EventSink } from '../../adapters/console/console-request.ts';
import type { Clock } from '../../ports/clock.ts';
import type { SignedIn } from '../../ports/console-store.ts';
import type { FleetFacets, FleetView } from '../../protocol/console-fleet.ts';
import type { Job } from '../../protocol/console-jobs.ts';
import { includesRole } from '../../protocol/console-routes.ts';
import type {
  StreamDiff,
  StreamMessages,
  StreamSnapshot,
  ViewChange,
} from '../../protocol/console-stream.ts';
import { type Channel, createChannels } from './channels.ts';
import type { Fleet } from './fleet.ts';

const TICK_MS = 250;
/** Devices whose rows are built at a time: 2,000 a second. */
const MOST_AT_ONCE = 500;
const PING_EACH_MS = 10_000;
const FACETS_EACH_MS = 2000;
const RETRY_MS = 2000;
const MOST_STREAMS = 200;
/** One person's pages: a forgotten or stolen session must leave streams for the others. */
export const MOST_STREAMS_EACH = 20;
/** Streams that only administrators may open: many viewers must not keep them from seeing the fleet. */
const KEPT_FOR_ADMINISTRATORS = 20;
/** Unread bytes after which a stream is dropped; the browser connects again and gets a snapshot. */
export const MOST_UNREAD_BYTES = 256 * 1024;

export interface StreamParts {
  readonly fleet: Fleet;
  readonly prefix: string;
  readonly clock: Clock;
  readonly isConnected: () => boolean;
  readonly jobs: { recent(): readonly Job[]; takeChanged(): readonly Job[] };
  /** Whether a session goes on; it is not used by being asked. */
  readonly isSignedIn: (key: string) => Promise<boolean>;
}

export interface Viewer {
  /** Hash of the session's cookie. */
  readonly session: string;
  readonly who: SignedIn;
  readonly view: FleetView;
  readonly device: string | null;
}

export interface Streams {
  readonly count: number;
  /** False: there are too many, of this person or in all. */
  mayOpen(who: Pick<SignedIn, 'name' | 'role'>): boolean;
  /** @returns what to do when the browser is gone */
  open(viewer: Viewer, sink: EventSink): () => void;
  /** The first message of a stream for this viewer. */
  snapshot(viewer: Viewer): StreamSnapshot;
  /** False: the session has no such stream. */
  change(session: string, change: ViewChange): boolean;
  hearLog(device: string, lines: readonly string[], dropped: number): void;
  /** Brings the fleet and all streams up to date. */
  refresh(): void;
  /** Ends the streams of sessions that have ended. */
  check(): Promise<void>;
  close(): void;
}

interface Stream {
  readonly id: string;
  readonly sink: EventSink;
  readonly viewer: Viewer;
  channel: Channel;
  leave: () => void;
  seq: number;
  /** Number of the view's last change. */
  number: number;
  followed: string | null;
}

export function createStreams(parts: StreamParts): Streams {
  const { fleet, prefix, clock, jobs } = parts;
  const channels = createChannels(fleet, prefix);
  const streams = new Map<string, Stream>();
  let counts = '';
  let broker: 'connected' | 'away' = 'away';
  let facets: { value: FleetFacets; text: string; at: number } | null = null;
  let areFacetsOld = false;
  let stopTicks = (): void => {};
  let stopPings = (): void => {};

  const drop = (stream: Stream): void => {
    if (!streams.delete(stream.id)) return;
    stream.leave();
    stream.sink.close();
    if (streams.size > 0) return;
    stopPings();
    facets = null;
  };
  const write = (stream: Stream, ...bytes: readonly Buffer[]): void => {
    stream.sink.write(...bytes);
    if (stream.sink.unread > MOST_UNREAD_BYTES) drop(stream);
  };
  const send = <K extends keyof StreamMessages>(stream: Stream, event: K, data: StreamMessages[K]): void =>
    write(stream, Buffer.from(`event: ${event}\nid: ${stream.seq}\ndata: ${JSON.stringify(data)}\n\n`));
  /** @param rest JSON of the difference without its first brace */
  const sendDiff = (stream: Stream, rest: Buffer): void => {
    stream.seq += 1;
    write(stream, Buffer.from(`event: diff\nid: ${stream.seq}\ndata: {"seq":${stream.seq},`), rest);
  };

  const sharedChanges = (): Omit<StreamDiff, 'seq'> => {
    const now = parts.isConnected() ? 'connected' : 'away';
    const isOtherBroker = now !== broker;
    broker = now;
    const countsNow = JSON.stringify(fleet.counts);
    const isOtherCount = countsNow !== counts;
    counts = countsNow;
    const isDue = areFacetsOld && facets !== null && clock.now() - facets.at >= FACETS_EACH_MS;
    const before = facets?.text;
    if (isDue) readFacets();
    const changed = jobs.takeChanged();
    return {
      ...(isOtherBroker && { broker }),
      ...(isOtherCount && { counts: fleet.counts }),
      ...(isDue && facets !== null && before !== facets.text && { facets: facets.value }),
      ...(changed.length > 0 && { jobs: changed }),
    };
  };
  const readFacets = (): FleetFacets => {
    const value = fleet.facets();
    facets = { value, text: JSON.stringify(value), at: clock.now() };
    areFacetsOld = false;
    return value;
  };

  /** Brings all streams up to date. */
  const tick = (most?: number): void => {
    const news = fleet.settle(most);
    if (news.rows.size > 0) areFacetsOld = true;
    channels.update(news);
    const shared = sharedChanges();
    const texts = new Map<Channel, Buffer>();
    for (const channel of channels.all()) {
      const text = JSON.stringify({ ...shared, ...channel.changes(news) });
      if (text !== '{}') texts.set(channel, Buffer.from(`${text.slice(1)}\n\n`));
    }
    for (const stream of streams.values()) {
      const text = texts.get(stream.channel);
      if (text !== undefined) sendDiff(stream, text);
    }
  };
  const keepTicking = (): void => {
    stopTicks = clock.at(clock.now() + TICK_MS, () => {
      // A whole fleet that returns at once must not make token requests wait.
      tick(MOST_AT_ONCE);
      keepTicking();
    });
  };
  const check = async (): Promise<void> => {
    const sessions = new Set([...streams.values()].map(({ viewer }) => viewer.session));
    for (const session of sessions) {
      if (await parts.isSignedIn(session)) continue;
      for (const stream of [...streams.values()]) {
        if (stream.viewer.session !== session) continue;
        send(stream, 'end', { code: 'signed_out' });
        drop(stream);
      }
    }
  };
  const keepPinging = (): void => {
    stopPings = clock.at(clock.now() + PING_EACH_MS, () => {
      for (const stream of streams.values()) send(stream, 'ping', {});
      void check();
      if (streams.size > 0) keepPinging();
    });
  };
  keepTicking();
  const shownBy = (viewer: Viewer, view: FleetView, device: string | null) => ({
    view,
    device,
    mayReadLogs: includesRole(viewer.who.role, 'operator'),
  });

  const snapshotOf = (channel: Channel, stream: string, seq: number): StreamSnapshot => ({
    seq,
    stream,
    broker,
    counts: fleet.counts,
    facets: facets?.value ?? readFacets(),
    window: { number: 0, ...channel.window },
    device: channel.detail,
    jobs: jobs.recent(),
  });

  return {
    get count() {
      return streams.size;
    },
    mayOpen({ name, role }) {
      const most = role === 'administrator' ? MOST_STREAMS : MOST_STREAMS - KEPT_FOR_ADMINISTRATORS;
      const own = [...streams.values()].filter(({ viewer }) => viewer.who.name === name);
      return streams.size < most && own.length < MOST_STREAMS_EACH;
    },
    open(viewer, sink) {
      tick();
      const { channel, leave } = channels.open(shownBy(viewer, viewer.view, viewer.device));
      const id = randomBytes(12).toString('base64url');
      const stream: Stream = { id, sink, viewer, channel, leave, seq: 1, number: 0, followed: viewer.device };
      const isFirst = streams.size === 0;
      streams.set(id, stream);
      sink.write(Buffer.from(`retry: ${RETRY_MS}\n`));
      send(stream, 'snapshot', snapshotOf(channel, id, stream.seq));
      if (isFirst && streams.size > 0) keepPinging();
      return () => drop(stream);
    },
    snapshot(viewer) {
      tick();
      const { channel, leave } = channels.open(shownBy(viewer, viewer.view, viewer.device));
      const snapshot = snapshotOf(channel, '', 0);
      leave();
      return snapshot;
    },
    change(session, { stream: id, number, view, device }) {
      const stream = streams.get(id);
      if (stream === undefined || stream.viewer.session !== session) return false;
      if (number <= stream.number) return true;
      tick();
      stream.number = number;
      const isOther = device !== undefined && device !== stream.followed;
      if (device !== undefined) stream.followed = device;
      const opened = channels.open(shownBy(stream.viewer, view, stream.followed));
      // After the new one is opened: both use the same sorted list, which is expensive to make.
      stream.leave();
      stream.channel = opened.channel;
      stream.leave = opened.leave;
      const diff = {
        window: { number, ...opened.channel.window },
        ...(isOther && { device: opened.channel.detail }),
      };
      sendDiff(stream, Buffer.from(`${JSON.stringify(diff).slice(1)}\n\n`));
      return true;
    },
    hearLog(device, lines, dropped) {
      for (const channel of channels.all()) channel.hearLog(device, lines, dropped);
    },
    refresh: () => tick(),
    check,
    close() {
      stopTicks();
      for (const stream of [...streams.values()]) drop(stream);
    },
  };
}
