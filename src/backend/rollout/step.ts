/**
 * The next step of a roll-out. Pure: the fleet's reports since the last step go in, the next state and orders come out.
 */
import { compareVersions } from '../../core/update/package-versions.ts';
import {
  followDevice,
  giveUp,
  hasVersion,
  newEntry,
  noteAnswer,
  type OrderAnswer,
  type SeenDevice,
} from './device-entry.ts';
import { drawNext, sizeOf } from './draw.ts';
import { countConversations, impossiblyBusy, isWaveOver, judge } from './judgement.ts';
import { type Entry, NO_SPEECH, orderId, type Rollout, type Speech, versionOf } from './rollout.ts';

/** Validity of an order (ms). */
const VALID_MS = 600_000;
/** Time after which an order is sent again (ms): longer than its validity, because clocks differ. */
const AGAIN_MS = 900_000;
/** Maximum number of orders per step: the queue of the connection holds 500 messages. */
const MOST_ORDERS = 100;
/** Longest time counted for one step (ms): a machine does not watch while it is suspended. */
const LONGEST_STEP_MS = 60_000;

export interface Seen {
  /** Time since the last step. */
  readonly elapsedMs: number;
  /** The devices that the roll-out is for and that can be updated. */
  readonly devices: ReadonlyMap<string, SeenDevice>;
  /** Number of further devices without an updater. */
  readonly unsupported: number;
  /** Conversations that ended since the last step. */
  readonly conversations: ReadonlyMap<string, number>;
  /** Time of each device's streams in the ledger since the wave began. */
  readonly billedMs: ReadonlyMap<string, number>;
  readonly answers: readonly OrderAnswer[];
}

export interface Order {
  readonly device: string;
  readonly id: string;
  readonly args: Readonly<Record<string, unknown>>;
  readonly notAfter: number;
}

export interface Step {
  readonly rollout: Rollout;
  readonly orders: readonly Order[];
}

export function step(before: Rollout, seen: Seen, now: number): Step {
  const judged = judge(hear(before, seen, now), now);
  const ready = judged.state === 'running' ? goOn(judged, seen, now) : judged;
  return order(ready.state === 'done' ? draw(ready, seen) : ready, seen, now);
}

/** Whether anything but sums has changed. */
export function isNews(before: Rollout, after: Rollout): boolean {
  const progress = ['state', 'reason', 'wave', 'waveSince', 'heard', 'conversations'] as const;
  const keys = [...progress, 'devices', 'unsupported', 'implausible', 'drawn'] as const;
  return keys.some((key) => before[key] !== after[key]);
}

/** Copy on write: the first change creates a copy. */
function changeable(before: Rollout['drawn']) {
  let all = before;
  return {
    get all() {
      return all;
    },
    set(name: string, entry: Entry): void {
      if (entry === all[name]) return;
      if (all === before) all = { ...before };
      all[name] = entry;
    },
  };
}

/** Applies the reports. */
function hear(rollout: Rollout, seen: Seen, now: number): Rollout {
  const { devices, unsupported, answers, conversations, billedMs } = seen;
  const version = versionOf(rollout);
  const drawn = changeable(rollout.drawn);
  for (const answer of answers) {
    const entry = drawn.all[answer.device];
    if (entry !== undefined && orderId(rollout, entry) === answer.id)
      drawn.set(answer.device, noteAnswer(entry, answer));
  }
  for (const [name, entry] of Object.entries(drawn.all)) {
    const device = devices.get(name);
    const followed = device === undefined ? entry : followDevice(entry, device, version);
    drawn.set(name, giveUp(entry, followed, now));
  }
  const isTime = rollout.waveSince !== null;
  const own = [...conversations].filter(([name]) => isTime && drawn.all[name]?.state === 'live');
  const more = own.map(([name, count]): [string, number] => [name, (rollout.heard[name] ?? 0) + count]);
  const heard = more.length === 0 ? rollout.heard : { ...rollout.heard, ...Object.fromEntries(more) };
  const next = { ...rollout, drawn: drawn.all, heard, devices: devices.size, unsupported };
  const known = { ...next, ...speechOf(next, seen), implausible: implausibleOf(next, seen, now) };
  return { ...known, conversations: countConversations(known, billedMs) };
}

/** Adds each device's lost speech. A device that has the version without an order does not count. */
function speechOf(rollout: Rollout, { devices, elapsedMs }: Seen): Pick<Rollout, 'updated' | 'rest'> {
  const version = versionOf(rollout);
  const passed = Math.min(elapsedMs, LONGEST_STEP_MS);
  const sums = { updated: { ...rollout.updated }, rest: { ...rollout.rest } };
  for (const [name, device] of devices) {
    const isUpdated = hasVersion(device, version);
    if (isUpdated && !Object.hasOwn(rollout.drawn, name)) continue;
    const sum = sums[isUpdated ? 'updated' : 'rest'];
    const { connectedMs, troubleMs }: Speech = sum[name] ?? NO_SPEECH;
    sum[name] = {
      connectedMs: connectedMs + (device.isConnected ? passed : 0),
      troubleMs: troubleMs + device.troubleMs,
    };
  }
  return sums;
}

function implausibleOf(rollout: Rollout, { devices }: Seen, now: number): Rollout['implausible'] {
  const known = new Set(rollout.implausible);
  const implausible = [...devices].filter(([, { isImplausible }]) => isImplausible).map(([name]) => name);
  const added = [...implausible, ...impossiblyBusy(rollout, now)].filter((name) => !known.has(name));
  return added.length === 0 ? rollout.implausible : [...new Set([...known, ...added])].sort();
}

/** Begins the next wave if the present one is over. */
function goOn(rollout: Rollout, seen: Seen, now: number): Rollout {
  let next = rollout;
  for (;;) {
    next = draw(next, seen);
    if (next.devices === 0) return next;
    const own = Object.entries(next.drawn).filter(([, { wave }]) => wave === next.wave);
    if (next.waveSince === null && mostAreLive(own, seen)) next = { ...next, waveSince: now };
    // A wave whose devices are all excused, or that has none, shows nothing: it is skipped.
    const isGivenUp = own.every(([, { isExcused }]) => isExcused);
    if (own.length > 0 && !isGivenUp && !isWaveOver(next, now)) return next;
    const isLast = next.wave + 1 >= next.plan.waves.length;
    if (isLast) return { ...next, state: 'done' };
    next = { ...next, wave: next.wave + 1, waveSince: null, heard: {}, conversations: 0 };
  }
}

/** Whether the devices that run the version outnumber the connected ones that are still to get it. */
function mostAreLive(own: readonly [string, Entry][], { devices }: Seen): boolean {
  const live = own.filter(([, { state }]) => state === 'live');
  const coming = own.filter(
    ([name, { state }]) => isUnderWay(state) && devices.get(name)?.isConnected === true,
  );
  return live.length > coming.length;
}
const isUnderWay = (state: Entry['state']): boolean => state === 'waiting' || state === 'ordered';

/** Selects further devices for the wave. */
function draw(rollout: Rollout, { devices }: Seen): Rollout {
  const version = versionOf(rollout);
  const share = rollout.plan.waves[rollout.wave] ?? 0;
  const missing = sizeOf(share, devices.size) - Object.keys(rollout.drawn).length;
  if (missing <= 0) return rollout;
  const candidates = [...devices]
    .filter(([name]) => !Object.hasOwn(rollout.drawn, name))
    // After the roll-out ends, a device that a person has updated further keeps that version.
    .filter(([, device]) => rollout.state !== 'done' || compareVersions(device.version, version) < 0)
    .map(([name, { isConnected }]) => ({ name, isAway: !isConnected }));
  const added = drawNext(rollout.id, candidates, missing).flatMap((name): [string, Entry][] => {
    const device = devices.get(name);
    return device === undefined ? [] : [[name, newEntry(rollout.wave, device, version)]];
  });
  return added.length === 0
    ? rollout
    : { ...rollout, drawn: { ...rollout.drawn, ...Object.fromEntries(added) } };
}

/** Orders connected devices to update if they have no order. */
function order(rollout: Rollout, { devices }: Seen, now: number): Step {
  if (rollout.state !== 'running' && rollout.state !== 'done') return { rollout, orders: [] };
  const { version, manifestUrl } = rollout.plan;
  const args = { version, ...(manifestUrl !== null && { manifest_url: manifestUrl }) };
  const due = Object.entries(rollout.drawn)
    .filter(([name, entry]) => devices.get(name)?.isConnected === true && isDue(entry, now))
    .slice(0, MOST_ORDERS)
    .map(([name, entry]): [string, Entry] => {
      const sent = { state: 'ordered', attempts: entry.attempts + 1, sentAt: now, isHeard: false } as const;
      return [name, { ...entry, ...sent, reason: null }];
    });
  if (due.length === 0) return { rollout, orders: [] };
  return {
    rollout: { ...rollout, drawn: { ...rollout.drawn, ...Object.fromEntries(due) } },
    orders: due.map(([device, entry]) => ({
      device,
      id: orderId(rollout, entry),
      args,
      notAfter: now + VALID_MS,
    })),
  };
}

function isDue({ state, sentAt, isHeard }: Entry, now: number): boolean {
  const isOpen = state === 'waiting' || (state === 'ordered' && !isHeard);
  return isOpen && (sentAt === null || now - sentAt >= AGAIN_MS);
}
