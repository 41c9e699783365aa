/**
 * The fleet as its devices publish it. Messages are kept as received; rows are built from them while a console is open, at most four
 * times a second, however often a device publishes.
 */

import { receivedHealthSchema } from '../../fleet/health-message.ts';
import { isSilent } from '../../fleet/silence.ts';
import type { Clock } from '../../ports/clock.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { parseJson } from '../../protocol/common/json.ts';
import type { DeviceEvent } from '../../protocol/console-device.ts';
import {
  FLEET_STATUSES,
  type FleetCall,
  type FleetCounts,
  type FleetFacets,
} from '../../protocol/console-fleet.ts';
import { nameOf, siteOf } from '../config/owned-devices.ts';
import { readEvent } from './device-event.ts';
import { createDevice, type FleetDevice, readDesired, rowOf, textOf, versionOf } from './fleet-device.ts';
import type { DeviceNews } from './fleet-topics.ts';
import { createHealthRing, noteHealth } from './health-ring.ts';

/** Maximum number of devices; further ones are ignored. */
export const MOST_DEVICES = 20_000;
/** Maximum number of calls on the page; the longest waiting ones are shown. */
export const MOST_CALLS = 50;
const MOST_EVENTS = 20;
const MOST_NEW_EVENTS = 5000;
/** Longest message (characters): no device sends a longer one. */
const LONGEST_MESSAGE = 131_072;
const LONGEST_EVENT = 16_384;
/** Interval of checks for silent devices (ms). */
const LOOK_EACH_MS = 10_000;

export interface FleetEvents {
  readonly device: string;
  readonly event: DeviceEvent;
}
/** Changes since the last call. */
export interface FleetNews {
  /** Devices that are new or whose row has changed. */
  readonly rows: ReadonlySet<FleetDevice>;
  /** Devices examined because a message from or about them came, they fell silent, or the configuration lists them. */
  readonly heard: ReadonlySet<FleetDevice>;
  readonly events: readonly FleetEvents[];
}

export interface Fleet {
  readonly devices: ReadonlyMap<string, FleetDevice>;
  hear(news: DeviceNews): void;
  /** Sets whether all messages of devices arrive now. While they do, a silent device counts as lost. */
  listen(isListening: boolean): void;
  /**
   * Brings rows, counts and lists up to date.
   * @param most maximum number of devices; the others wait for the next call
   */
  settle(most?: number): FleetNews;
  readonly counts: FleetCounts;
  /** Devices at which visitors wait for a member of staff, longest first. */
  calls(): readonly FleetCall[];
  facets(): FleetFacets;
  groupDesired(tenant: string, group: string): string | null;
  isGone(device: FleetDevice): boolean;
}

export function createFleet(
  config: Pick<BackendConfig, 'allow' | 'groups' | 'devices'>,
  clock: Clock,
): Fleet {
  const devices = new Map<string, FleetDevice>();
  const groupDocuments = new Map<string, string>();
  const listed = new Set(namesIn(config));
  let dirty = new Set<FleetDevice>();
  let events: FleetEvents[] = [];
  let number = 0;
  let listeningSince: number | null = null;
  let lookedAt = clock.now();
  const byStatus = Object.fromEntries(FLEET_STATUSES.map((status) => [status, 0])) as Record<
    (typeof FLEET_STATUSES)[number],
    number
  >;
  let total = 0;
  let problems = 0;

  const calling = new Set<FleetDevice>();

  const count = (device: FleetDevice, by: 1 | -1): void => {
    const { row } = device;
    if (by === 1 && row.call !== null) calling.add(device);
    else calling.delete(device);
    byStatus[row.status] += by;
    total += by;
    if (row.isProblem) problems += by;
  };
  const find = (name: string): FleetDevice | null => {
    const known = devices.get(name);
    if (known !== undefined) return known;
    if (devices.size >= MOST_DEVICES) return null;
    const made = createDevice(name);
    devices.set(name, made);
    count(made, 1);
    return made;
  };
  const isEmpty = ({ texts }: FleetDevice): boolean =>
    texts.status === null && texts.state === null && texts.reported === null;
  const around = (name: string) => {
    const who = nameOf(name);
    return {
      site: siteOf(config, who),
      groupVersion: (group: string) =>
        versionOf(readDesired(groupDocuments.get(`${who.tenant}/${group}`) ?? null)),
    };
  };
  const hearEvent = (device: FleetDevice, kind: string, payload: string): void => {
    if (payload.length > LONGEST_EVENT) return;
    number += 1;
    const event = readEvent(number, kind, payload);
    if (event === null) return;
    device.events.push(JSON.stringify(event));
    if (device.events.length > MOST_EVENTS) device.events.shift();
    // Dropped if no page fetches them; each device keeps its own latest events.
    if (events.length >= MOST_NEW_EVENTS) events = [];
    events.push({ device: device.name, event });
  };
  const hearHealth = (device: FleetDevice, payload: string): void => {
    const parsed = receivedHealthSchema.safeParse(parseJson(payload));
    const wall = clock.wall();
    if (!parsed.success || wall === null) return;
    device.ring ??= createHealthRing();
    noteHealth(device.ring, parsed.data, wall);
  };
  const noteSilence = (): void => {
    const now = clock.now();
    if (now - lookedAt < LOOK_EACH_MS) return;
    lookedAt = now;
    for (const device of devices.values()) {
      if (device.isSilent || !isSilent(device.lastHeard, listeningSince, now)) continue;
      device.isSilent = true;
      dirty.add(device);
    }
  };
  for (const name of listed) {
    const device = find(name);
    if (device !== null) dirty.add(device);
  }

  return {
    devices,
    hear(news) {
      if (news.payload.length > LONGEST_MESSAGE) return;
      if (news.kind === 'group_desired') {
        groupDocuments.set(news.name, news.payload);
        const [tenant = '', group = ''] = news.name.split('/');
        for (const device of devices.values())
          if (device.name.startsWith(`${tenant}/`) && device.row.groups.includes(group)) dirty.add(device);
        return;
      }
      const text = news.payload === '' ? null : news.payload;
      const known = devices.get(news.name);
      // An empty retained message does not make a device known.
      if (known === undefined && (text === null || news.kind === 'desired')) return;
      const device = known ?? find(news.name);
      if (device === null) return;
      if (news.kind === 'event') {
        // Devices do not retain events, so a retained one is not genuine.
        if (news.isRetained || text === null) return;
        hearEvent(device, news.event, text);
      } else {
        const isSame = device.texts[news.kind] === text;
        if (isSame && news.isRetained) return;
        device.texts[news.kind] = text;
        if (news.kind === 'health' && text !== null && !news.isRetained) hearHealth(device, text);
      }
      // A retained message may be old, and a desired configuration comes from others: neither is a sign of life.
      if (text !== null && news.kind !== 'desired' && !news.isRetained) {
        device.heardAt = clock.wall();
        device.lastHeard = clock.now();
        device.isSilent = false;
      }
      dirty.add(device);
    },
    listen(isListening) {
      listeningSince = isListening ? clock.now() : null;
    },
    settle(most = Number.POSITIVE_INFINITY) {
      noteSilence();
      const heard = dirty.size <= most ? dirty : new Set([...dirty].slice(0, most));
      const rows = new Set<FleetDevice>();
      const news = { rows, heard, events };
      dirty = heard === dirty ? new Set() : new Set([...dirty].slice(most));
      events = [];
      for (const device of heard) {
        if (isEmpty(device) && !listed.has(device.name)) {
          if (devices.delete(device.name)) count(device, -1);
          rows.add(device);
          continue;
        }
        const row = rowOf(device, around(device.name));
        const isNew = device.version === 0;
        if (!isNew && JSON.stringify(row) === JSON.stringify(device.row)) continue;
        count(device, -1);
        device.row = row;
        device.text = textOf(row);
        device.version += 1;
        count(device, 1);
        rows.add(device);
      }
      return news;
    },
    get counts() {
      return { total, problems, byStatus: { ...byStatus } };
    },
    calls: () => callsOf(calling),
    facets: () => facetsOf(devices.values()),
    groupDesired: (tenant, group) => groupDocuments.get(`${tenant}/${group}`) || null,
    isGone: (device) => devices.get(device.name) !== device,
  };
}

/** Devices that the configuration names individually: expected, even if they have never connected. */
function namesIn({ allow, groups, devices }: Pick<BackendConfig, 'allow' | 'groups' | 'devices'>): string[] {
  const all = [...allow, ...groups.flatMap(({ members }) => members), ...Object.keys(devices)];
  return all.filter((name) => !name.includes('*'));
}

function callsOf(devices: Iterable<FleetDevice>): FleetCall[] {
  const calls = [...devices].flatMap(({ name, row: { call, site } }): FleetCall[] =>
    call === null ? [] : [{ device: name, site, since: call.since, isLate: call.isLate }],
  );
  const key = ({ since, device }: FleetCall): string => `${since ?? ''} ${device}`;
  return calls.sort((a, b) => (key(a) < key(b) ? -1 : 1)).slice(0, MOST_CALLS);
}

const MOST_FACETS = 1000;

function facetsOf(devices: Iterable<FleetDevice>): FleetFacets {
  const tenants = new Set<string>();
  const sites = new Set<string>();
  const versions = new Set<string>();
  const groups = new Map<string, { devices: number; problems: number }>();
  for (const { name, row } of devices) {
    tenants.add(nameOf(name).tenant);
    if (row.site !== null) sites.add(row.site);
    if (row.version !== '') versions.add(row.version);
    for (const group of new Set(row.groups)) {
      const known = groups.get(group) ?? { devices: 0, problems: 0 };
      groups.set(group, {
        devices: known.devices + 1,
        problems: known.problems + Number(row.isProblem),
      });
    }
  }
  const sorted = (names: Iterable<string>): string[] => [...names].sort().slice(0, MOST_FACETS);
  return {
    tenants: sorted(tenants),
    groups: sorted(groups.keys()).map((name) => ({
      name,
      ...(groups.get(name) ?? { devices: 0, problems: 0 }),
    })),
    sites: sorted(sites),
    versions: sorted(versions),
  };
}
