/** One device of the fleet: its last messages as received, and its row in lists. */
import { readUnverified } from '../../adapters/signing/jws.ts';
import { readEnvelope } from '../../core/signed-message.ts';
import type { DesiredBody } from '../../fleet/desired-edit.ts';
import {
  type ReceivedReport,
  type ReceivedState,
  type ReceivedStatus,
  receivedReportSchema,
  receivedStateSchema,
  receivedStatusSchema,
} from '../../fleet/device-messages.ts';
import { claimsConnection } from '../../fleet/silence.ts';
import { isObject, parseJson } from '../../protocol/common/json.ts';
import { LONGEST_DESIRED } from '../../protocol/config-reported.ts';
import {
  FLEET_STATUSES,
  type FleetRow,
  type FleetStatus,
  type OpenCall,
} from '../../protocol/console-fleet.ts';
import { clean, cleanList, cleanTime } from './clean.ts';
import { isProblem, searchText } from './fleet-filter.ts';
import type { HealthRing } from './health-ring.ts';
import type { Listed } from './sorted-list.ts';

/** Retained messages, as text: parsed objects would take many times the memory. */
export interface Texts {
  status: string | null;
  state: string | null;
  health: string | null;
  reported: string | null;
  desired: string | null;
}

export interface FleetDevice extends Listed {
  /** `tenant/device` */
  readonly name: string;
  readonly texts: Texts;
  /** Time of the last message that was not retained, by the wall clock; null: none yet. */
  heardAt: number | null;
  /** The same by the monotonic clock. */
  lastHeard: number | null;
  /** The device counts as lost: no message within the limit. */
  isSilent: boolean;
  row: FleetRow;
  text: string;
  /** Counts the changes of `row`. */
  version: number;
  /** The latest events as JSON, oldest first. */
  readonly events: string[];
  ring: HealthRing | null;
  logUntil: number | null;
}

export const EMPTY: Texts = { status: null, state: null, health: null, reported: null, desired: null };

export function createDevice(name: string): FleetDevice {
  const row: FleetRow = {
    device: name,
    status: 'never',
    reasons: [],
    isProblem: false,
    since: null,
    groups: [],
    site: null,
    version: '',
    lanes: [],
    call: null,
    isOffDesired: false,
  };
  return {
    name,
    row,
    text: '',
    version: 0,
    heardAt: null,
    lastHeard: null,
    isSilent: false,
    texts: { ...EMPTY },
    events: [],
    ring: null,
    logUntil: null,
  };
}

export const timeText = (wallMs: number | null): string | null =>
  wallMs === null ? null : new Date(wallMs).toISOString();

const MOST_LANES = 16;
export const MOST_GROUPS = 40;

/** Inputs of the row from sources other than the device. */
export interface Surroundings {
  readonly site: string | null;
  /** Version of a group's desired configuration; null: none. */
  groupVersion(group: string): number | null;
}

export function rowOf(device: FleetDevice, around: Surroundings): FleetRow {
  const { name, texts, heardAt } = device;
  const status = readStatus(texts);
  const state = readState(texts);
  const published = status === null ? nameless(device) : statusOf(status.status);
  const isLost = device.isSilent && claimsConnection(published);
  const found = isLost ? 'lost' : published;
  const groups = cleanList(state?.groups ?? []).slice(0, MOST_GROUPS);
  return {
    device: name,
    status: found,
    reasons: isLost ? ['connection_lost'] : cleanList(status?.reasons ?? []),
    isProblem: isProblem(found),
    since: isLost ? lastSignOf(heardAt, status, state) : cleanTime(status?.ts ?? state?.ts),
    groups,
    site: around.site,
    version: clean(status?.version ?? '', 60),
    lanes: (state?.lanes ?? []).slice(0, MOST_LANES).map(({ id, phase, source, targets, muted, volume }) => ({
      id: clean(id, 64),
      phase: clean(phase, 40),
      source: clean(source, 40),
      targets: cleanList(targets),
      muted,
      volume,
    })),
    // A disconnected device cannot receive an answer, and its retained state may be stale.
    call: claimsConnection(found) ? callOf(state) : null,
    isOffDesired: isOffDesired(texts, groups, around),
  };
}

const callOf = (state: ReceivedState | null): OpenCall | null =>
  state === null || state.help === null
    ? null
    : { since: cleanTime(state.help.since), isLate: state.help.state === 'unanswered' };

export const textOf = (row: FleetRow): string => searchText(row);

/** Time of the device's last message; if none came since the backend's start, the latest time in its retained messages. */
function lastSignOf(
  heardAt: number | null,
  status: ReceivedStatus | null,
  state: ReceivedState | null,
): string | null {
  if (heardAt !== null) return timeText(heardAt);
  const times = [cleanTime(status?.ts), cleanTime(state?.ts)].filter((time) => time !== null);
  return times.sort().at(-1) ?? null;
}

const nameless = ({ heardAt, texts: { state, health, reported } }: FleetDevice): FleetStatus =>
  heardAt === null && state === null && health === null && reported === null ? 'never' : 'unknown';

function statusOf(text: string): FleetStatus {
  return FLEET_STATUSES.find((one) => one === text) ?? 'unknown';
}

/** Whether the report shows older documents than those published, or refused keys. Without a report: false. */
function isOffDesired(texts: Texts, groups: readonly string[], { groupVersion }: Surroundings): boolean {
  const report = readReport(texts);
  if (report === null) return false;
  if (report.errors.length > 0) return true;
  const own = versionOf(readDesired(texts.desired));
  if (own !== null && report.version['device'] !== own) return true;
  return groups.some((group) => {
    const wanted = groupVersion(group);
    return wanted !== null && report.version[`group:${group}`] !== wanted;
  });
}

export function versionOf(body: DesiredBody | null): number | null {
  const version = body?.['version'];
  return typeof version === 'number' ? version : null;
}

export function readStatus(texts: Texts): ReceivedStatus | null {
  const parsed = receivedStatusSchema.safeParse(parseJson(texts.status ?? ''));
  return parsed.success ? parsed.data : null;
}

export function readState(texts: Texts): ReceivedState | null {
  const parsed = receivedStateSchema.safeParse(parseJson(texts.state ?? ''));
  return parsed.success ? parsed.data : null;
}

export function readReport(texts: Texts): ReceivedReport | null {
  const parsed = receivedReportSchema.safeParse(parseJson(texts.reported ?? ''));
  return parsed.success ? parsed.data : null;
}

/** Reads a desired configuration, signed or not. Only the devices verify the signature. */
export function readDesired(text: string | null): DesiredBody | null {
  if (text === null || text === '') return null;
  const envelope = readEnvelope(text, 2 * LONGEST_DESIRED);
  if (envelope.kind === 'plain') return isObject(envelope.json) ? envelope.json : null;
  if (envelope.kind !== 'signed') return null;
  const opened = readUnverified(envelope.jws);
  const body = opened.ok ? parseJson(opened.content.payload) : null;
  return isObject(body) ? body : null;
}
