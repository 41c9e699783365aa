/** Streams with the same view and rights share one channel: each change is computed and written as JSON once for all of them. */
import type { DeviceDetail, DeviceEvent } from '../../protocol/console-device.ts';
import type { FleetView, FleetWindow } from '../../protocol/console-fleet.ts';
import type { StreamDiff } from '../../protocol/console-stream.ts';
import { detailOf } from '../fleet/device-detail.ts';
import type { Fleet, FleetNews } from '../fleet/fleet.ts';
import type { FleetDevice } from '../fleet/fleet-device.ts';
import { createSortedList, type SortedList } from '../fleet/sorted-list.ts';

/** Maximum number of log lines in one difference. */
const MOST_LINES = 500;

/** The content of a stream. */
export interface Shown {
  readonly view: FleetView;
  readonly device: string | null;
  readonly mayReadLogs: boolean;
}

export interface Channel {
  readonly window: Omit<FleetWindow, 'number'>;
  readonly detail: DeviceDetail | null;
  hearLog(device: string, lines: readonly string[], dropped: number): void;
  /** Changes since the last call. */
  changes(news: FleetNews): Omit<StreamDiff, 'seq'>;
}

/** One stream's use of a channel. */
export interface OpenChannel {
  readonly channel: Channel;
  /** Must be called exactly once. */
  readonly leave: () => void;
}

export interface Channels {
  /** Call it only when the fleet and all channels are up to date. */
  open(shown: Shown): OpenChannel;
  all(): Iterable<Channel>;
  /** Brings the lists up to date. */
  update(news: FleetNews): void;
}

/** Values with a reference count: each is dropped when its last user leaves. */
function createShared<T>() {
  const used = new Map<string, { value: T; users: number }>();
  return {
    values: () => [...used.values()].map(({ value }) => value),
    take(key: string, make: () => T): { value: T; leave: () => void } {
      const known = used.get(key) ?? { value: make(), users: 0 };
      known.users += 1;
      used.set(key, known);
      return {
        value: known.value,
        leave() {
          known.users -= 1;
          if (known.users === 0) used.delete(key);
        },
      };
    },
  };
}

export function createChannels(fleet: Fleet, prefix: string): Channels {
  const lists = createShared<SortedList<FleetDevice>>();
  const channels = createShared<Channel>();
  return {
    open(shown) {
      const { filter, sort, descending } = shown.view;
      const listKey = JSON.stringify([filter, sort, descending]);
      const list = lists.take(listKey, () => createSortedList(shown.view, fleet.devices.values()));
      const opened = channels.take(JSON.stringify([shown.view, shown.device, shown.mayReadLogs]), () =>
        createChannel(shown, list.value, fleet, prefix),
      );
      return {
        channel: opened.value,
        leave() {
          opened.leave();
          list.leave();
        },
      };
    },
    all: channels.values,
    update(news) {
      if (news.rows.size === 0) return;
      for (const list of lists.values()) list.update(news.rows, fleet.isGone);
    },
  };
}

function createChannel(shown: Shown, list: SortedList<FleetDevice>, fleet: Fleet, prefix: string): Channel {
  const { first, last } = shown.view;
  const followed = (): FleetDevice | undefined =>
    shown.device === null ? undefined : fleet.devices.get(shown.device);
  let rows = list.window(first, last);
  let versions = versionsOf(rows);
  let { total } = list;
  let detail = fieldsOf(followed(), prefix);
  let log: { lines: string[]; dropped: number } | null = null;

  const changedDetail = (news: FleetNews): StreamDiff['device'] => {
    const device = followed();
    if (device === undefined) {
      const isNew = detail !== null;
      detail = null;
      return isNew ? null : undefined;
    }
    if (detail !== null && !news.heard.has(device)) return undefined;
    const before = detail;
    const now = fieldsOf(device, prefix);
    detail = now;
    if (now === null || before === null) return now === null ? null : detailOf(device, prefix);
    // New events are sent separately.
    const changed = [...now].filter(([name, text]) => name !== 'events' && before.get(name) !== text);
    if (changed.length === 0) return undefined;
    return Object.fromEntries(
      changed.map(([name, text]) => [name, JSON.parse(text)]),
    ) as Partial<DeviceDetail>;
  };

  return {
    get window() {
      return { total, first, rows: rows.map(({ row }) => row) };
    },
    get detail() {
      const device = followed();
      return device === undefined ? null : detailOf(device, prefix);
    },
    hearLog(device, lines, dropped) {
      if (device !== shown.device || !shown.mayReadLogs) return;
      log ??= { lines: [], dropped: 0 };
      const taken = lines.slice(0, Math.max(0, MOST_LINES - log.lines.length));
      log.lines.push(...taken);
      log.dropped += dropped + lines.length - taken.length;
    },
    changes(news) {
      const next = list.window(first, last);
      const isMoved = next.length !== rows.length || next.some((device, at) => device !== rows[at]);
      const changed = next.filter((device) => versions.get(device) !== device.version);
      const isOther = total !== list.total;
      const wasUnknown = detail === null;
      const device = changedDetail(news);
      const events: DeviceEvent[] = wasUnknown
        ? []
        : news.events.filter((one) => one.device === shown.device).map(({ event }) => event);
      const diff = {
        ...(isOther && { total: list.total }),
        ...(isMoved && { order: next.map(({ name }) => name) }),
        ...(changed.length > 0 && { rows: changed.map(({ row }) => row) }),
        ...(device !== undefined && { device }),
        ...(events.length > 0 && { events }),
        ...(log !== null && { log }),
      };
      log = null;
      total = list.total;
      rows = next;
      if (isMoved || changed.length > 0) versions = versionsOf(next);
      return diff;
    },
  };
}

const versionsOf = (rows: readonly FleetDevice[]): Map<FleetDevice, number> =>
  new Map(rows.map((device) => [device, device.version]));

function fieldsOf(device: FleetDevice | undefined, prefix: string): Map<string, string> | null {
  if (device === undefined) return null;
  return new Map(
    Object.entries(detailOf(device, prefix)).map(([name, value]) => [name, JSON.stringify(value)]),
  );
}
