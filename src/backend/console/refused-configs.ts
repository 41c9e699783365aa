/** Records in the audit, at the line of a publication, that devices have refused the published configuration. */

import type { Complain } from '../../machine/limited-warnings.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore } from '../../ports/console-store.ts';
import { nameOf } from '../config/owned-devices.ts';
import type { Fleet } from '../fleet/fleet.ts';
import {
  type FleetDevice,
  MOST_GROUPS,
  readDesired,
  readReport,
  readState,
  versionOf,
} from '../fleet/fleet-device.ts';
import { publishedAs } from './desired.ts';
import { refusalOf } from './refusal-of.ts';

/** Wait after a report (ms): after connecting, a device reports first and then reads newer documents. */
const SETTLED_AFTER_MS = 5000;
/** Maximum number of refusals written at a time: each write reads the audit. */
const MOST_AT_ONCE = 20;
const MOST_NOTED = 20_000;

export interface RefusedConfigs {
  /**
   * Call it when a device has just reported its configuration, but not for a retained report, which may concern an older document.
   */
  heard(device: string): void;
  /** Writes the settled refusals to the audit. */
  note(): Promise<void>;
}

/** A document that a device has refused. */
interface Refused {
  /** Device or group, as the audit names it. */
  readonly on: string;
  readonly version: number;
  readonly how: string;
}

export function createRefusedConfigs(parts: {
  readonly fleet: Fleet;
  readonly store: Pick<ConsoleStore, 'contradictAudit'>;
  readonly clock: Clock;
  readonly complain: Complain;
}): RefusedConfigs {
  const { fleet, store, clock, complain } = parts;
  /** By device: the refusals of its last report, and the time of that report. */
  const waiting = new Map<string, { readonly at: number; readonly refused: readonly Refused[] }>();
  /** By target: the version of the document whose refusal is already in the audit. */
  const noted = new Map<string, number>();

  const write = async ({ on, version, how }: Refused): Promise<void> => {
    if (noted.size >= MOST_NOTED) noted.clear();
    await store.contradictAudit(on, publishedAs(version), how);
    noted.set(on, version);
  };
  return {
    heard(name) {
      const device = fleet.devices.get(name);
      const refused = device === undefined ? [] : refusedBy(device, fleet);
      if (refused.length === 0) waiting.delete(name);
      else waiting.set(name, { at: clock.now(), refused });
    },
    async note() {
      let left = MOST_AT_ONCE;
      for (const [name, { at, refused }] of waiting) {
        if (clock.now() - at < SETTLED_AFTER_MS) continue;
        const news = refused.filter(({ on, version }) => noted.get(on) !== version);
        if (news.length > 0 && left <= 0) return;
        left -= news.length;
        try {
          for (const one of news) await write(one);
        } catch (error) {
          const sentence = 'a refused configuration cannot be written to the audit';
          return complain('audit', { why: String(error) }, sentence);
        }
        if (waiting.get(name)?.at === at) waiting.delete(name);
      }
    },
  };
}

function refusedBy(device: FleetDevice, fleet: Fleet): Refused[] {
  const report = readReport(device.texts);
  if (report === null || report.errors.length === 0) return [];
  const { tenant } = nameOf(device.name);
  const groups = (readState(device.texts)?.groups ?? []).slice(0, MOST_GROUPS);
  const documents = [
    { on: device.name, from: 'device', text: device.texts.desired },
    ...groups.map((group) => ({
      on: `${tenant}/group/${group}`,
      from: `group:${group}`,
      text: fleet.groupDesired(tenant, group),
    })),
  ];
  return documents.flatMap(({ on, from, text }) => {
    const body = readDesired(text);
    const version = versionOf(body);
    const what = body === null ? null : refusalOf(report, from, body);
    return version === null || what === null ? [] : [{ on, version, how: `${device.name} refused ${what}` }];
  });
}
