import { batch, type Signal, signal } from '@preact/signals';
import type { DeviceDetail, DeviceEvent } from '../../../protocol/console-device.ts';
import type {
  FleetCall,
  FleetCounts,
  FleetFacets,
  FleetRow,
  FleetViewInput,
  FleetWindow,
} from '../../../protocol/console-fleet.ts';
import type { Job } from '../../../protocol/console-jobs.ts';
import type { StreamDiff, StreamSnapshot, ViewChange } from '../../../protocol/console-stream.ts';
import { ConsoleError, get, me, post, signedOut } from './api.ts';

/** Timeout for the first message (ms), because a proxy may buffer the stream. The page then polls snapshots. */
const FIRST_WITHIN_MS = 10_000;
/** Interval of polls for snapshots (ms). */
const ASK_EACH_MS = 5000;
/** Interval of retries to open a stream while the page polls snapshots (ms). */
const HELD_AGAIN_MS = 60_000;
/** A browser has six connections to one server for all its windows. Streams use at most four, and leave two for requests. */
const MOST_STREAMS = 4;
/** Silence after which the stream is reopened (ms): the backend sends something every 10 s. */
const SILENT_MS = 25_000;
const AGAIN_MS = 1500;
/** A hidden page releases its connection after this time (ms), because a browser has only six connections to a server. */
const HIDDEN_MS = 5000;
/** Rows keep their order for this long after the pointer last moved over them (ms). */
const HOLD_MS = 3000;
const MOST_LOG_LINES = 2000;
const MOST_EVENTS = 200;

/** `connecting`: no snapshot yet. `asking`: without a stream, the page polls snapshots. `gone`: neither works. */
export const connection = signal<'connecting' | 'live' | 'asking' | 'gone'>('connecting');
export const broker = signal<'connected' | 'away'>('connected');
export const counts = signal<FleetCounts | null>(null);
export const calls = signal<readonly FleetCall[]>([]);
export const facets = signal<FleetFacets | null>(null);
export const total = signal<number | null>(null);
/** The devices of the window, in order. */
export const order = signal<{ readonly first: number; readonly devices: readonly string[] }>({
  first: 0,
  devices: [],
});
/** Each row is a signal: a changed device renders only its own row. */
const rows = new Map<string, Signal<FleetRow>>();
export const device = signal<DeviceDetail | null>(null);
export const log = signal<{ readonly lines: readonly string[]; readonly dropped: number }>({
  lines: [],
  dropped: 0,
});
export const jobs = signal<readonly Job[]>([]);

let source: EventSource | null = null;
/** Releases the stream's connection for other windows of the browser; null: this window has none. */
let giveBack: (() => void) | null = null;
let isFollowing = false;
let isOpening = false;
let isAsking = false;
let hasBegun = false;
/** Times: loss of the stream (`goneSince`), next attempt (`openAt`), last snapshot request (`askedAt`). */
let goneSince = 0;
let openAt = 0;
let askedAt = 0;
let heardAt = 0;
let seq = 0;
let stream = '';
let view: FleetViewInput = {};
let followed: string | null = null;
let hiddenTimer = 0;
let heldOrder: readonly string[] | null = null;
let heldUntil = 0;
let openedView = '';
/** Number of view changes sent for this stream. */
let asked = 0;

/** Follows the fleet as long as the page is visible and a person is signed in. */
export function beginStream(): () => void {
  const timer = setInterval(() => {
    if (document.hidden || me.value === null) return;
    keepStream(performance.now());
    if (heldOrder !== null && performance.now() > heldUntil) release();
  }, AGAIN_MS);
  document.addEventListener('visibilitychange', onVisibility);
  isFollowing = true;
  goneSince = performance.now();
  void open();
  return () => {
    isFollowing = false;
    clearInterval(timer);
    clearTimeout(hiddenTimer);
    document.removeEventListener('visibilitychange', onVisibility);
    end();
  };
}

function keepStream(now: number): void {
  const isOpen = source !== null && source.readyState !== EventSource.CLOSED;
  if (isOpen && !hasBegun && now - heardAt > FIRST_WITHIN_MS) {
    end();
    openAt = now + HELD_AGAIN_MS;
  } else if (isOpen ? hasBegun && now - heardAt > SILENT_MS : now >= openAt) void open();
  if (!hasBegun && now - goneSince > FIRST_WITHIN_MS && now - askedAt >= ASK_EACH_MS) void askSnapshot();
}

function onVisibility(): void {
  clearTimeout(hiddenTimer);
  if (document.hidden) hiddenTimer = window.setTimeout(end, HIDDEN_MS);
  else if (source === null) void open();
}

function end(): void {
  source?.close();
  source = null;
  giveBack?.();
  giveBack = null;
  if (hasBegun) goneSince = performance.now();
  hasBegun = false;
}

/** Reserves a connection; null: other windows of this browser use all that streams may use. */
async function takeConnection(): Promise<(() => void) | null> {
  // Browsers offer locks only to pages loaded over TLS or from this machine.
  if (navigator.locks === undefined) return () => {};
  for (let number = 1; number <= MOST_STREAMS; number += 1) {
    const taken = await new Promise<(() => void) | null>((resolve) => {
      void navigator.locks.request(`dragoman-stream-${number}`, { ifAvailable: true }, (lock) =>
        lock === null ? resolve(null) : new Promise<void>((done) => resolve(done)),
      );
    });
    if (taken !== null) return taken;
  }
  return null;
}

const queryOf = (): URLSearchParams => {
  const query = new URLSearchParams({ view: JSON.stringify(view) });
  if (followed !== null) query.set('device', followed);
  return query;
};

async function open(): Promise<void> {
  if (isOpening) return;
  if (giveBack === null) {
    isOpening = true;
    const taken = await takeConnection();
    isOpening = false;
    if (!isFollowing || document.hidden) return taken?.();
    if (taken === null) {
      openAt = performance.now() + ASK_EACH_MS;
      return askSnapshot();
    }
    giveBack = taken;
  }
  source?.close();
  if (hasBegun) goneSince = performance.now();
  hasBegun = false;
  stream = '';
  heardAt = performance.now();
  openedView = JSON.stringify([view, followed]);
  source = new EventSource(`/api/stream?${queryOf()}`);
  source.addEventListener('snapshot', (event) => begin(JSON.parse(event.data)));
  source.addEventListener('diff', (event) => take(JSON.parse(event.data)));
  source.addEventListener('ping', alive);
  source.addEventListener('end', () => {
    end();
    signedOut();
  });
  source.addEventListener('error', () => {
    if (connection.value === 'asking') openAt = performance.now() + HELD_AGAIN_MS;
    else connection.value = 'gone';
    // The browser would reconnect with the initial view.
    end();
  });
}

/** Requests a snapshot, in place of a stream. */
async function askSnapshot(): Promise<void> {
  if (isAsking) return;
  isAsking = true;
  askedAt = performance.now();
  const asked = String(queryOf());
  try {
    const signal = AbortSignal.timeout(FIRST_WITHIN_MS);
    const snapshot = await get<StreamSnapshot>(`/api/snapshot?${asked}`, { signal });
    if (hasBegun || !isFollowing || asked !== String(queryOf())) return;
    batch(() => {
      connection.value = 'asking';
      takeSnapshot(snapshot);
    });
  } catch {
    if (!hasBegun) connection.value = 'gone';
  } finally {
    isAsking = false;
    if (!hasBegun && isFollowing && asked !== String(queryOf())) void askSnapshot();
  }
}

function takeSnapshot(snapshot: StreamSnapshot): void {
  broker.value = snapshot.broker;
  counts.value = snapshot.counts;
  calls.value = snapshot.calls;
  facets.value = snapshot.facets;
  device.value = snapshot.device;
  jobs.value = snapshot.jobs;
  takeWindow(snapshot.window);
}

function alive(): void {
  heardAt = performance.now();
  connection.value = 'live';
}

function begin(snapshot: StreamSnapshot): void {
  batch(() => {
    alive();
    hasBegun = true;
    ({ seq, stream } = snapshot);
    asked = 0;
    takeSnapshot(snapshot);
  });
  // The view has changed since the stream was requested.
  if (openedView !== JSON.stringify([view, followed])) void askView();
}

function take(diff: StreamDiff): void {
  // A diff is missing: open a new stream, which begins with a snapshot.
  if (diff.seq !== seq + 1) return void open();
  seq = diff.seq;
  batch(() => {
    alive();
    if (diff.broker !== undefined) broker.value = diff.broker;
    if (diff.counts !== undefined) counts.value = diff.counts;
    if (diff.calls !== undefined) calls.value = diff.calls;
    if (diff.facets !== undefined) facets.value = diff.facets;
    if (diff.total !== undefined) total.value = diff.total;
    if (diff.window !== undefined) takeWindow(diff.window);
    for (const row of diff.rows ?? []) setRow(row);
    if (diff.order !== undefined) takeOrder(diff.order);
    takeDevice(diff);
    if (diff.jobs !== undefined) jobs.value = mergedJobs(diff.jobs);
  });
}

function takeDevice({ device: changed, events, log: lines }: StreamDiff): void {
  if (changed === null) device.value = null;
  else if (changed !== undefined) {
    if (device.value !== null) device.value = { ...device.value, ...changed };
    else if (isWhole(changed)) device.value = changed;
  }
  if (events !== undefined && device.value !== null)
    device.value = { ...device.value, events: joined(device.value.events, events) };
  if (lines !== undefined) {
    const all = [...log.value.lines, ...lines.lines].slice(-MOST_LOG_LINES);
    log.value = { lines: all, dropped: log.value.dropped + lines.dropped };
  }
}

const isWhole = (part: Partial<DeviceDetail>): part is DeviceDetail =>
  part.row !== undefined && part.lanes !== undefined && part.events !== undefined;

function joined(before: readonly DeviceEvent[], next: readonly DeviceEvent[]): readonly DeviceEvent[] {
  const last = before.at(-1)?.number ?? 0;
  return [...before, ...next.filter(({ number }) => number > last)].slice(-MOST_EVENTS);
}

function mergedJobs(changed: readonly Job[]): readonly Job[] {
  const byId = new Map(jobs.value.map((job) => [job.id, job]));
  for (const job of changed) byId.set(job.id, job);
  return [...byId.values()].sort((one, other) => (one.at < other.at ? 1 : -1));
}

function takeWindow({ total: all, first, rows: next }: FleetWindow): void {
  total.value = all;
  for (const row of next) setRow(row);
  // A polled snapshot must not move the row under the pointer.
  if (connection.value === 'asking' && first === order.value.first)
    return takeOrder(next.map(({ device: name }) => name));
  heldOrder = null;
  order.value = { first, devices: next.map(({ device: name }) => name) };
  forgetRows();
}

function setRow(row: FleetRow): void {
  const known = rows.get(row.device);
  if (known === undefined) rows.set(row.device, signal(row));
  else known.value = row;
}

export const rowOf = (name: string): FleetRow | undefined => rows.get(name)?.value;

function takeOrder(next: readonly string[]): void {
  if (performance.now() < heldUntil) heldOrder = next;
  else setOrder(next);
}

function setOrder(devices: readonly string[]): void {
  heldOrder = null;
  order.value = { first: order.value.first, devices };
  forgetRows();
}

/** Call it when the pointer moves over the rows: the row under it then stays in place. */
export function holdOrder(): void {
  heldUntil = performance.now() + HOLD_MS;
}

export function release(): void {
  heldUntil = 0;
  if (heldOrder !== null) setOrder(heldOrder);
}

function forgetRows(): void {
  const kept = new Set(order.value.devices);
  for (const name of rows.keys()) if (!kept.has(name)) rows.delete(name);
}

/** From now on the stream follows this view. */
export function showView(next: FleetViewInput): void {
  view = next;
  void askView();
}

export function followDevice(name: string | null): void {
  if (followed === name) return;
  followed = name;
  device.value = null;
  log.value = { lines: [], dropped: 0 };
  void askView();
}

async function askView(): Promise<void> {
  if (connection.value === 'asking') return askSnapshot();
  // A stream that is opening has the view in its address.
  if (stream === '' || source === null) return;
  asked += 1;
  const change = { stream, number: asked, view: view as ViewChange['view'], device: followed };
  try {
    await post('/api/stream/view', change);
  } catch (error) {
    // The backend no longer knows this stream: open a new one with this view.
    if (error instanceof ConsoleError && error.code === 'not_found' && change.stream === stream) void open();
  }
}
