/** Finds the file of a time zone under the name that the system has for it. */
import { type Dirent, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

/** Old names that are zones of their own before ICU 75, and the zones that the time zone database has merged them with. */
const MERGED: Readonly<Record<string, string>> = {
  CET: 'Europe/Brussels',
  CST6CDT: 'America/Chicago',
  EET: 'Europe/Athens',
  EST: 'America/Panama',
  EST5EDT: 'America/New_York',
  HST: 'Pacific/Honolulu',
  MET: 'Europe/Brussels',
  MST: 'America/Phoenix',
  MST7MDT: 'America/Denver',
  PST8PDT: 'America/Los_Angeles',
  WET: 'Europe/Lisbon',
};
/** Folders of the same zones in another form, and files that are not zones. */
const NO_ZONES = /^(?:posix|right|Factory|localtime|posixrules|leap.*|.*\.(?:tab|zi|list))$/;

/**
 * Debian keeps old names such as `US/Eastern` in the package tzdata-legacy, which few systems have. ICU knows them all, and
 * which of them mean the same zone.
 * @param folder of the time zone database
 * @returns null when the system has no data of this zone
 */
export function findZone(name: string, folder: string): string | null {
  if (isFile(join(folder, name))) return name;
  const canonical = canonicalName(name);
  if (canonical === null) return null;
  const wanted = MERGED[canonical] ?? canonical;
  if (isFile(join(folder, wanted))) return wanted;
  const same = canonicalName(wanted);
  return zonesIn(folder, '').find((zone) => canonicalName(zone) === same) ?? null;
}

/** ICU's canonical name of a zone: the same for all its aliases. Null: ICU does not know the zone. */
function canonicalName(name: string): string | null {
  try {
    return new Intl.DateTimeFormat('en', { timeZone: name }).resolvedOptions().timeZone;
  } catch {
    return null;
  }
}

function zonesIn(folder: string, prefix: string): string[] {
  let entries: Dirent[];
  try {
    entries = readdirSync(join(folder, prefix), { withFileTypes: true });
  } catch {
    return [];
  }
  return entries
    .filter(({ name }) => !NO_ZONES.test(name))
    .sort((a, b) => (a.name < b.name ? -1 : 1))
    .flatMap((entry) =>
      entry.isDirectory() ? zonesIn(folder, `${prefix}${entry.name}/`) : [prefix + entry.name],
    );
}

function isFile(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false })?.isFile() ?? false;
}
