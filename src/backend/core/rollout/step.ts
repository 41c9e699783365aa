/**
 * What a roll-out does next. Pure: what the fleet reported since the last step goes in, the next state and orders come out.
 */
import { compareVersions } from '../../../core/update/versions.ts';
import {
  followDevice,
  hasVersion,
  newEntry,
  noteAnswer,
  type OrderAnswer,
  type SeenDevice,
} from './device-entry.ts';
import { drawNext, sizeOf } from './draw.ts';
import { type Entry, orderId, type Rollout, type Speech, versionOf } from './rollout.ts';

export const HOUR_MS = 3_600_000;
/** A wave is over after one of both. */
export const WAVE_MS = 24 * HOUR_MS;
export const WAVE_CONVERSATIONS = 100;
/** The updated devices may lose this much speech an hour (ms), however little the others lose. */
export const TROUBLE_MS = 1000;
export const TROUBLE_FACTOR = 2;
/** Devices do not carry an order out after this time (ms). They get another one later than that, so clocks may differ. */
const VALID_MS = 600_000;
const AGAIN_MS = 900_000;
/** Orders of one step: the queue of the connection holds 500 messages. */
const MOST_ORDERS = 100;
/** A machine that slept has not watched. */
const LONGEST_STEP_MS = 60_000;

export interface Seen {
  /** Time since the last step. */
  readonly elapsedMs: number;
  /** The devices that it is for and that can be updated. */
  readonly devices: ReadonlyMap<string, SeenDevice>;
  /** How many more there are that have no updater. */
  readonly unsupported: number;
  /** Conversations that ended since the last step. */
  readonly conversations: ReadonlyMap<string, number>;
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
  const heard = hear(before, seen);
  const judged = stopIfBad(heard, now);
  const ready = judged.state === 'running' ? goOn(judged, seen, now) : judged;
  return order(ready.state === 'done' ? draw(ready, seen) : ready, seen, now);
}

/** Whether more than sums have changed. */
export function isNews(before: Rollout, after: Rollout): boolean {
  const keys = ['state', 'wave', 'waveSince', 'conversations', 'devices', 'unsupported', 'drawn'] as const;
  return keys.some((key) => before[key] !== after[key]);
}

/** A copy is made with the first change. */
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

/** Adds what was reported. */
function hear(rollout: Rollout, { devices, unsupported, answers, conversations, elapsedMs }: Seen): Rollout {
  const version = versionOf(rollout);
  const drawn = changeable(rollout.drawn);
  for (const answer of answers) {
    const entry = drawn.all[answer.device];
    if (entry !== undefined && orderId(rollout, entry) === answer.id)
      drawn.set(answer.device, noteAnswer(entry, answer));
  }
  for (const [name, entry] of Object.entries(drawn.all)) {
    const device = devices.get(name);
    if (device !== undefined) drawn.set(name, followDevice(entry, device, version));
  }
  const passed = Math.min(elapsedMs, LONGEST_STEP_MS);
  const sums = { updated: { ...rollout.updated }, rest: { ...rollout.rest } };
  for (const device of devices.values()) {
    const sum = sums[hasVersion(device, version) ? 'updated' : 'rest'];
    if (device.isConnected) sum.connectedMs += passed;
    sum.troubleMs += device.troubleMs;
  }
  let more = 0;
  for (const [name, count] of conversations) if (drawn.all[name]?.state === 'live') more += count;
  return {
    ...{ ...rollout, ...sums, drawn: drawn.all, devices: devices.size, unsupported },
    conversations: rollout.conversations + more,
  };
}

function stopIfBad(rollout: Rollout, now: number): Rollout {
  if (rollout.state === 'stopped' || rollout.state === 'aborted') return rollout;
  const reason = rolledBack(rollout) ?? (rollout.state === 'done' ? null : troubled(rollout));
  return reason === null ? rollout : { ...rollout, state: 'stopped', reason, endedAt: now };
}

function rolledBack({ drawn, plan }: Rollout): string | null {
  for (const [name, { state, isExcused, reason }] of Object.entries(drawn))
    if (state === 'rolled_back' && !isExcused)
      return `${name}: ${reason ?? `version ${plan.version} was rolled back`}`;
  return null;
}

/** Trouble in an hour (ms). Less than an hour counts as one: a single sentence at its beginning says little. */
export const troubleAnHour = ({ troubleMs, connectedMs }: Speech): number =>
  troubleMs / Math.max(1, connectedMs / HOUR_MS);

function troubled({ updated, rest }: Rollout): string | null {
  const [ours, theirs] = [troubleAnHour(updated), troubleAnHour(rest)];
  if (ours <= TROUBLE_MS || ours <= TROUBLE_FACTOR * theirs) return null;
  const [one, other] = [inSeconds(ours), inSeconds(theirs)];
  return `devices with it lose ${one} s of speech an hour (lost or not spoken), the others ${other} s`;
}

export const inSeconds = (ms: number): string => (ms / 1000).toFixed(1);

/** Begins the next waves. */
function goOn(rollout: Rollout, seen: Seen, now: number): Rollout {
  let next = rollout;
  for (;;) {
    next = draw(next, seen);
    if (next.devices === 0) return next;
    const own = Object.values(next.drawn).filter(({ wave }) => wave === next.wave);
    if (next.waveSince === null && own.some(({ state }) => state === 'live'))
      next = { ...next, waveSince: now };
    // A wave without further devices shows nothing new.
    if (own.length > 0 && !isOver(next, now)) return next;
    const isLast = next.wave + 1 >= next.plan.waves.length;
    if (isLast) return { ...next, state: 'done' };
    next = { ...next, wave: next.wave + 1, waveSince: null, conversations: 0 };
  }
}

function isOver({ waveSince, conversations }: Rollout, now: number): boolean {
  return waveSince !== null && (conversations >= WAVE_CONVERSATIONS || now - waveSince >= WAVE_MS);
}

/** Takes further devices into the wave. */
function draw(rollout: Rollout, { devices }: Seen): Rollout {
  const version = versionOf(rollout);
  const share = rollout.plan.waves[rollout.wave] ?? 0;
  const missing = sizeOf(share, devices.size) - Object.keys(rollout.drawn).length;
  if (missing <= 0) return rollout;
  const candidates = [...devices]
    .filter(([name]) => !Object.hasOwn(rollout.drawn, name))
    // After the end a device that somebody has brought further stays there.
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

/** Orders the version from devices that are there and have no order. */
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
      ...{ device, id: orderId(rollout, entry), args, notAfter: now + VALID_MS },
    })),
  };
}

function isDue({ state, sentAt, isHeard }: Entry, now: number): boolean {
  const isOpen = state === 'waiting' || (state === 'ordered' && !isHeard);
  return isOpen && (sentAt === null || now - sentAt >= AGAIN_MS);
}
