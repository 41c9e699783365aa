import { batch, type Signal, signal } from '@preact/signals';
import type { DeviceDetail, DeviceEvent } from '../../protocol/console-device.ts';
import type {
  FleetCounts,
  FleetFacets,
  FleetRow,
  FleetViewInput,
  FleetWindow,
} from '../../protocol/console-fleet.ts';
import type { Job } from '../../protocol/console-jobs.ts';
import type { StreamDiff, StreamSnapshot, ViewChange } from '../../protocol/console-stream.ts';
import { ConsoleError, me, post, signedOut } from './api.ts';

/** The backend sends something every 10 s. */
const SILENT_MS = 25_000;
const AGAIN_MS = 1500;
/** A hidden page gives its connection back after this time: a browser has six to one server. */
const HIDDEN_MS = 5000;
/** Rows stay where they are while the pointer moves over them, at most this long. */
const HOLD_MS = 3000;
const MOST_LOG_LINES = 2000;
const MOST_EVENTS = 200;

export const isConnected = signal<boolean | null>(null);
export const broker = signal<'connected' | 'away'>('connected');
export const counts = signal<FleetCounts | null>(null);
export const facets = signal<FleetFacets | null>(null);
export const total = signal<number | null>(null);
/** The devices of the window in their order. */
export const order = signal<{ readonly first: number; readonly devices: readonly string[] }>({
  first: 0,
  devices: [],
});
/** Each row is a signal: one changed device paints one row. */
const rows = new Map<string, Signal<FleetRow>>();
export const device = signal<DeviceDetail | null>(null);
export const log = signal<{ readonly lines: readonly string[]; readonly dropped: number }>({
  lines: [],
  dropped: 0,
});
export const jobs = signal<readonly Job[]>([]);

let source: EventSource | null = null;
let heardAt = 0;
let seq = 0;
let stream = '';
let view: FleetViewInput = {};
let followed: string | null = null;
let hiddenTimer = 0;
let heldOrder: readonly string[] | null = null;
let heldUntil = 0;
let openedView = '';
/** Changes of the view of this stream. */
let asked = 0;

/** Follows the fleet as long as the page is visible and somebody is signed in. */
export function beginStream(): () => void {
  const timer = setInterval(() => {
    if (document.hidden || me.value === null) return;
    const isSilent = performance.now() - heardAt > SILENT_MS;
    if (source === null || source.readyState === EventSource.CLOSED || isSilent) open();
    if (heldOrder !== null && performance.now() > heldUntil) release();
  }, AGAIN_MS);
  document.addEventListener('visibilitychange', onVisibility);
  open();
  return () => {
    clearInterval(timer);
    document.removeEventListener('visibilitychange', onVisibility);
    end();
  };
}

function onVisibility(): void {
  clearTimeout(hiddenTimer);
  if (document.hidden) hiddenTimer = window.setTimeout(end, HIDDEN_MS);
  else if (source === null) open();
}

function end(): void {
  source?.close();
  source = null;
}

function open(): void {
  source?.close();
  stream = '';
  heardAt = performance.now();
  openedView = JSON.stringify([view, followed]);
  const query = new URLSearchParams({ view: JSON.stringify(view) });
  if (followed !== null) query.set('device', followed);
  source = new EventSource(`/api/stream?${query}`);
  source.addEventListener('snapshot', (event) => begin(JSON.parse(event.data)));
  source.addEventListener('diff', (event) => take(JSON.parse(event.data)));
  source.addEventListener('ping', alive);
  source.addEventListener('end', () => {
    end();
    signedOut();
  });
  source.addEventListener('error', () => {
    isConnected.value = false;
    // The browser would ask for the view of the beginning.
    end();
  });
}

function alive(): void {
  heardAt = performance.now();
  isConnected.value = true;
}

function begin(snapshot: StreamSnapshot): void {
  batch(() => {
    alive();
    ({ seq, stream } = snapshot);
    asked = 0;
    broker.value = snapshot.broker;
    counts.value = snapshot.counts;
    facets.value = snapshot.facets;
    device.value = snapshot.device;
    jobs.value = snapshot.jobs;
    takeWindow(snapshot.window);
  });
  // The viewer has gone on since the stream was asked for.
  if (openedView !== JSON.stringify([view, followed])) void askView();
}

function take(diff: StreamDiff): void {
  // A difference is missing: only a snapshot helps.
  if (diff.seq !== seq + 1) return open();
  seq = diff.seq;
  batch(() => {
    alive();
    if (diff.broker !== undefined) broker.value = diff.broker;
    if (diff.counts !== undefined) counts.value = diff.counts;
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

/** The pointer moves over the rows: the one under it stays. */
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
  // A stream that begins brings the view of its address.
  if (stream === '' || source === null) return;
  asked += 1;
  const change = { stream, number: asked, view: view as ViewChange['view'], device: followed };
  try {
    await post('/api/stream/view', change);
  } catch (error) {
    // The stream is another one by now: a new one begins with this view.
    if (error instanceof ConsoleError && error.code === 'not_found' && change.stream === stream) open();
  }
}
