import type { BackendConfig } from '../../protocol/backend-config.ts';

/** The sender of a request, from the topic. */
export interface DeviceName {
  readonly tenant: string;
  readonly device: string;
}

/** @param name `tenant/device`, as the store names it */
export function nameOf(name: string): DeviceName {
  const [tenant = '', device = ''] = name.split('/');
  return { tenant, device };
}

type Devices = Pick<BackendConfig, 'allow' | 'groups' | 'devices'>;

/** Whether the device is one of the owner's. */
export function isAllowed({ allow }: Pick<Devices, 'allow'>, who: DeviceName): boolean {
  return allow.some((pattern) => matches(pattern, who));
}

/** Whether the owner's configuration names this device itself, not only by a pattern. */
export function isListed({ allow, groups, devices }: Devices, { tenant, device }: DeviceName): boolean {
  const name = `${tenant}/${device}`;
  return (
    Object.hasOwn(devices, name) ||
    allow.includes(name) ||
    groups.some(({ members }) => members.includes(name))
  );
}

/** The groups of a device, in their order. */
export function groupsOf(
  { groups }: Pick<BackendConfig, 'groups'>,
  who: DeviceName,
): BackendConfig['groups'] {
  return groups.filter(({ members }) => members.some((pattern) => matches(pattern, who)));
}

/** The device's site, for the bill; null: not configured. */
export function siteOf(policy: Pick<Devices, 'groups' | 'devices'>, who: DeviceName): string | null {
  const sites = exceptionsFor(policy, who).flatMap(({ site }) => site ?? []);
  return sites.at(-1) ?? null;
}

function matches(pattern: string, { tenant, device }: DeviceName): boolean {
  const [wantedTenant = '', wantedDevice = ''] = pattern.split('/');
  return fits(wantedTenant, tenant) && fits(wantedDevice, device);
}

/** Exceptions of the groups in their order, then those of the device. Later ones win. */
export function exceptionsFor({ groups, devices }: Pick<Devices, 'groups' | 'devices'>, who: DeviceName) {
  const name = `${who.tenant}/${who.device}`;
  const own = Object.hasOwn(devices, name) ? devices[name] : undefined;
  const shared = groupsOf({ groups }, who);
  return own === undefined ? shared : [...shared, own];
}

/** `*` matches any number of characters, including none. Each part is searched once, from the left. */
function fits(pattern: string, name: string): boolean {
  const [first = '', ...parts] = pattern.split('*');
  const last = parts.pop();
  if (last === undefined) return name === first;
  if (!name.startsWith(first)) return false;
  let at = first.length;
  for (const part of parts) {
    const partAt = name.indexOf(part, at);
    if (partAt === -1) return false;
    at = partAt + part.length;
  }
  return name.length - last.length >= at && name.endsWith(last);
}
