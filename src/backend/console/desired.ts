/** The desired configuration of devices and groups. */
import { randomUUID } from 'node:crypto';
import type { Signer } from '../../adapters/signing/signer.ts';
import { type DesiredBody, differences, nextVersion } from '../../fleet/desired-edit.ts';
import type { Bus } from '../../ports/bus.ts';
import type { Clock } from '../../ports/clock.ts';
import type { ConsoleStore } from '../../ports/console-store.ts';
import { desiredSchema } from '../../protocol/config.ts';
import { LONGEST_DESIRED } from '../../protocol/config-reported.ts';
import type { ConfigChange, GroupConfig } from '../../protocol/console-config.ts';
import type { DeviceConfig } from '../../protocol/console-device.ts';
import { markerTopic } from '../../protocol/mqtt/topics.ts';
import { nameOf } from '../config/owned-devices.ts';
import { clean, cleanSentence, cleanTime, cleanValue } from '../fleet/clean.ts';
import type { Fleet } from '../fleet/fleet.ts';
import { type FleetDevice, readDesired, readReport, versionOf } from '../fleet/fleet-device.ts';
import type { DeviceNews } from '../fleet/fleet-topics.ts';
import { desiredText } from '../jobs/command-message.ts';
import { check } from './call.ts';
import type { LookForDesired, PublishDesired } from './desired-look.ts';
import { Refusal } from './refusal.ts';

export function deviceConfig(device: FleetDevice, fleet: Fleet): DeviceConfig {
  const desired = readDesired(device.texts.desired);
  const report = readReport(device.texts);
  const [tenant = ''] = device.name.split('/');
  return {
    desired: shown(desired),
    groups: device.row.groups.map((group) => ({
      group,
      desired: shown(readDesired(fleet.groupDesired(tenant, group))),
    })),
    reported:
      report === null
        ? null
        : {
            at: cleanTime(typeof report['ts'] === 'string' ? report['ts'] : null),
            versions: report.version,
            effective: cleanValue(report.effective),
            errors: report.errors.slice(0, 100).map(({ from, key, message }) => ({
              from: clean(from, 80),
              key: clean(key),
              message: cleanSentence(message),
            })),
          },
    differences:
      report === null
        ? []
        : differences(desired ?? {}, report.effective).map(({ key, desired: wanted, effective }) => ({
            key: clean(key),
            desired: cleanValue(wanted),
            effective: cleanValue(effective),
          })),
  };
}

/** The document without the fields that only concern the message. */
function shown(body: DesiredBody | null): DesiredBody | null {
  if (body === null) return null;
  const { ts: _ts, device: _device, iat: _iat, ...rest } = body;
  return cleanValue(rest) as DesiredBody;
}

export function groupConfig(fleet: Fleet, tenant: string, group: string): GroupConfig {
  const desired = readDesired(fleet.groupDesired(tenant, group));
  const members = membersOf(fleet, tenant, group);
  const version = versionOf(desired);
  const applied = members.filter((device) => readReport(device.texts)?.version[`group:${group}`] === version);
  return {
    desired: shown(desired),
    devices: members.length,
    applied: version === null ? 0 : applied.length,
  };
}

function membersOf(fleet: Fleet, tenant: string, group: string): FleetDevice[] {
  return [...fleet.devices.values()].filter(
    ({ name, row }) => name.startsWith(`${tenant}/`) && row.groups.includes(group),
  );
}

export interface DesiredParts {
  readonly fleet: Fleet;
  readonly bus: () => Pick<Bus, 'connected'>;
  readonly prefix: string;
  readonly signer: Signer | null;
  readonly clock: Clock;
  readonly look: LookForDesired;
  readonly publish: PublishDesired;
  readonly store: Pick<ConsoleStore, 'claimConfig' | 'releaseConfig'>;
}

/** Lease on a target (ms): longer than reading and publishing take. After a crash the target cannot be changed for this long. */
const CLAIMED_FOR_MS = 60_000;

/** The text that records a publication in the audit. */
export const publishedAs = (version: number): string => `published as version ${version}`;

export const UNSIGNED_WARNING =
  'This backend has no owner key (signingKeyFile): devices with owner keys refuse the document, because it is not signed.';

/** A checked document, ready to be published. */
export interface DesiredChange {
  readonly target: ConfigChange['target'];
  /** As parsed by the schema; null: the document is deleted. */
  readonly document: DesiredBody | null;
  readonly version: number;
  /** @throws Refusal if the broker does not acknowledge it */
  publish(): Promise<void>;
  /** Releases the target for the next change. */
  end(): Promise<void>;
}

/** Checks a change. The caller must `end` the result. Rejects with a Refusal. */
export function createDesiredChanges(parts: DesiredParts): (change: ConfigChange) => Promise<DesiredChange> {
  return async (change) => {
    const { target, basedOn } = change;
    const { fleet, prefix, signer, clock, look, publish, store } = parts;
    const document = change.document === null ? null : check(desiredSchema, change.document);
    const isGroup = 'group' in target;
    const base = isGroup ? `${prefix}/${target.tenant}/group/${target.group}` : `${prefix}/${target.device}`;
    const device = isGroup ? undefined : fleet.devices.get(target.device);
    if (!isGroup && device === undefined)
      throw new Refusal(404, 'not_found', `there is no device "${target.device}"`);
    const present = (): string | null =>
      isGroup ? fleet.groupDesired(target.tenant, target.group) : (device?.texts.desired ?? null);
    if (!parts.bus().connected)
      throw new Refusal(503, 'broker_away', 'the broker cannot be reached now: try again later');
    const holder = randomUUID();
    if (!(await store.claimConfig(base, holder, CLAIMED_FOR_MS))) throw changedMeanwhile();
    // If this fails, the claim expires.
    const end = (): Promise<void> => store.releaseConfig(base, holder).catch(() => {});
    try {
      const heard = present();
      const kept = await look(`${base}/config/desired`, markerTopic(prefix, tenantOf(target)));
      if (present() === heard && kept !== heard) fleet.hear(newsOf(target, kept ?? ''));
      if ((versionOf(readDesired(kept)) ?? 0) !== basedOn) throw changedMeanwhile();
    } catch (error) {
      await end();
      throw error;
    }
    const before = present();
    const from = isGroup ? `group:${target.group}` : 'device';
    const reporters = isGroup
      ? membersOf(fleet, target.tenant, target.group)
      : device === undefined
        ? []
        : [device];
    const reported = reporters.map(({ texts }) => readReport(texts)?.version[from] ?? 0);
    const version = nextVersion(basedOn, reported);
    return {
      target,
      document,
      version,
      async publish() {
        const text =
          document === null ? '' : await desiredText({ version, ...document }, base, signer, clock.wall());
        if (text.length > LONGEST_DESIRED)
          throw new Refusal(400, 'invalid', `the document must have at most ${LONGEST_DESIRED} characters`);
        await publish(`${base}/config/desired`, text);
        // The broker may deliver the document only after its acknowledgement.
        if (present() === before) fleet.hear(newsOf(target, text));
      },
      end,
    };
  };
}

const changedMeanwhile = (): Refusal =>
  new Refusal(409, 'changed', 'another person has changed this configuration meanwhile: load it again');

const tenantOf = (target: ConfigChange['target']): string =>
  'group' in target ? target.tenant : nameOf(target.device).tenant;

const newsOf = (target: ConfigChange['target'], payload: string): DeviceNews =>
  'group' in target
    ? { kind: 'group_desired', name: `${target.tenant}/${target.group}`, payload }
    : { kind: 'desired', name: target.device, payload, isRetained: false };
