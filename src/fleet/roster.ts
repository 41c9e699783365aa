import type { ReceivedLane, ReceivedState, ReceivedStatus } from './device-messages.ts';
import { claimsConnection } from './silence.ts';

/** The retained messages of one device. */
export interface DeviceEntry {
  readonly device: string;
  readonly status: ReceivedStatus | null;
  readonly state: ReceivedState | null;
  /** The device has a login but has never connected to the broker. */
  readonly isRegistered?: true;
}

/** The devices of a tenant. */
export interface Roster {
  readonly size: number;
  get(device: string): DeviceEntry | undefined;
  entries(): Iterable<DeviceEntry>;
  /** Notes the last message of a device. A cleared topic (null) removes that message. */
  note(
    device: string,
    news: { readonly status: ReceivedStatus | null } | { readonly state: ReceivedState | null },
  ): void;
}

/** Maximum number of devices of one tenant; more are ignored. */
export const MOST_DEVICES = 20_000;

/** A large fleet sends thousands of retained messages at once: the cost of each must not depend on their number. */
export function createRoster(): Roster {
  const devices = new Map<string, DeviceEntry>();
  return {
    get size() {
      return devices.size;
    },
    get: (device) => devices.get(device),
    entries: () => devices.values(),
    note(device, news) {
      const known = devices.get(device);
      if (known === undefined && devices.size >= MOST_DEVICES) return;
      const entry: DeviceEntry = { ...(known ?? { device, status: null, state: null }), ...news };
      if (entry.status === null && entry.state === null) devices.delete(device);
      else devices.set(device, entry);
    },
  };
}

/** Completes a sentence that begins with a device's name. */
export const NEVER_CAME = 'is registered but has never connected';

/** The registered devices that the broker does not know. */
export function neverCame(registered: readonly string[], known: readonly DeviceEntry[]): DeviceEntry[] {
  const names = new Set(known.map(({ device }) => device));
  return registered
    .filter((device) => !names.has(device))
    .map((device) => ({ device, status: null, state: null, isRegistered: true }));
}

/** Whether a command that is sent now will arrive. */
export function isReachable({ status }: DeviceEntry): boolean {
  return status !== null && status.status !== 'lost' && status.status !== 'offline';
}

/** Whether the broker has no message of the device. */
export function isUnknown({ status, state }: DeviceEntry): boolean {
  return status === null && state === null;
}

/** Marks a device that claims to be connected as lost, after a long silence. */
export function lostBySilence(entry: DeviceEntry): DeviceEntry {
  const { status } = entry;
  if (status === null || !claimsConnection(status.status)) return entry;
  return { ...entry, status: { ...status, status: 'lost', reasons: ['connection_lost'] } };
}

/** Whether the device reports that it belongs to the group. */
export function isInGroup({ state }: DeviceEntry, group: string): boolean {
  return state?.groups.includes(group) ?? false;
}

/** How urgently a person should look: lower is sooner. */
const SEVERITY: Readonly<Record<string, number>> = {
  lost: 0,
  degraded: 1,
  offline: 2,
  stopping: 3,
  idle: 4,
  ready: 5,
};

/** One line of a table of devices. */
export interface RosterRow {
  readonly device: string;
  readonly status: string;
  readonly reasons: string;
  readonly lanes: string;
  readonly version: string;
  /** Time of the status; null: unknown. */
  readonly since: string | null;
  readonly isProblem: boolean;
}

/** The devices as lines of a table, problems first, then by name. */
export function rosterRows(entries: Iterable<DeviceEntry>): RosterRow[] {
  const rank = ({ status }: DeviceEntry): number => SEVERITY[status?.status ?? ''] ?? 2;
  return [...entries]
    .sort((one, other) => rank(one) - rank(other) || (one.device < other.device ? -1 : 1))
    .map(({ device, status, state, isRegistered }) => ({
      device,
      status: status?.status ?? (isRegistered ? 'never' : 'unknown'),
      reasons: isRegistered ? NEVER_CAME : (status?.reasons ?? []).join(' '),
      lanes: (state?.lanes ?? []).map(describeLane).join('; '),
      version: status?.version ?? '',
      since: status?.ts ?? state?.ts ?? null,
      isProblem: status === null || status.status === 'lost' || status.status === 'degraded',
    }));
}

/** `main live en>es,fr`, followed by `muted` and `volume 0` if they apply. */
export function describeLane({ id, phase, source, targets, muted, volume }: ReceivedLane): string {
  const odd = [...(muted ? ['muted'] : []), ...(volume === 0 ? ['volume 0'] : [])];
  return [`${id} ${phase} ${source}>${targets.join(',')}`, ...odd].join(' ');
}
