import { type Outcome, problem } from '../../report/finding.ts';
import { UNIT, type UnitProperties } from '../service/unit-properties.ts';

/** The properties that decide which files a service sees. */
export const SANDBOX_PROPERTIES = [
  'LoadState',
  'ExecStart',
  'User',
  'Group',
  'ProtectHome',
  'ProtectSystem',
  'PrivateTmp',
  'InaccessiblePaths',
  'BindPaths',
  'BindReadOnlyPaths',
  'ReadWritePaths',
  'StateDirectory',
  'RuntimeDirectory',
] as const;

const HOMES = ['/home', '/root', '/run/user'];
const TEMPORARY = ['/tmp', '/var/tmp'];
const KERNEL = ['/dev', '/proc', '/sys'];
/** Paths that ProtectSystem makes read-only. */
const SYSTEM: Readonly<Record<string, readonly string[]>> = {
  yes: ['/usr', '/boot', '/efi'],
  full: ['/usr', '/boot', '/efi', '/etc'],
  strict: ['/'],
};

/** A file that the agent needs. */
export interface NeededFile {
  readonly key: string;
  /** The file's full path, and the target of its symbolic links, if different. */
  readonly paths: readonly string[];
  readonly use: 'read' | 'write';
  /** Whether the user of the unit may use it; null: not tried. */
  readonly isAllowed: boolean | null;
}

/** Whether the unit starts the agent with this configuration. @param files its full path, and the target of its links */
export function startsWith(unit: UnitProperties, files: readonly string[]): boolean {
  const words = (unit['ExecStart'] ?? '').split(/\s+/);
  return words.some((word, at) => {
    const named = word === '--config' ? words[at + 1] : word.replace(/^--config=/, '');
    return (word === '--config' || word.startsWith('--config=')) && files.includes(named ?? '');
  });
}

/** Problems with files that the agent cannot use because of its unit's sandbox or user. */
export function judgeSandbox(unit: UnitProperties, files: readonly NeededFile[]): Outcome[] {
  return files.flatMap((file): Outcome[] => {
    const { key, paths, use, isAllowed } = file;
    const [path = ''] = paths;
    // A file to write need not exist.
    const about = use === 'read' ? `${key}: ${path} is there, but` : `${key}: ${path} is named, but`;
    for (const one of paths) {
      const hidden = hiddenBy(one, unit);
      if (hidden !== null)
        return [
          problem(
            `${about} the agent cannot see it: its unit has ${hidden}`,
            use === 'read' ? MOVE : NAME_ANOTHER,
          ),
        ];
    }
    if (use === 'write' && paths.some((one) => isReadOnly(one, unit)))
      return [
        problem(
          `${about} the agent cannot write it: its unit has ProtectSystem=${unit['ProtectSystem']}`,
          'Let the agent write below /var/lib/dragoman, or name the folder as ReadWritePaths= in the unit ("systemctl edit dragoman").',
        ),
      ];
    if (isAllowed !== false) return [];
    const user = unit['User'] ?? '';
    return [
      problem(
        `${about} the user ${user} of ${UNIT} may not ${use} it`,
        `Let that user read it: chgrp ${unit['Group'] || user} ${path} && chmod g+r ${path}; the folders above it must be open to that user, too.`,
      ),
    ];
  });
}

const MOVE = 'Move the file to /etc/dragoman, owned by the user of the agent, and change the configuration.';
/** ReadWritePaths= does not open what ProtectHome= hides. */
const NAME_ANOTHER = 'Name a file below /var/lib/dragoman in the configuration.';

/** The setting that hides a path; null: none does. */
function hiddenBy(path: string, unit: UnitProperties): string | null {
  const shown = [...pathsOf(unit['BindPaths']), ...pathsOf(unit['BindReadOnlyPaths'])];
  if (isBelow(path, shown)) return null;
  const home = unit['ProtectHome'] ?? 'no';
  if ((home === 'yes' || home === 'tmpfs') && isBelow(path, HOMES)) return `ProtectHome=${home}`;
  const temporary = unit['PrivateTmp'] ?? 'no';
  if (temporary !== 'no' && isBelow(path, TEMPORARY)) return `PrivateTmp=${temporary}`;
  const inaccessible = pathsOf(unit['InaccessiblePaths']);
  return isBelow(path, inaccessible) ? 'InaccessiblePaths' : null;
}

function isReadOnly(path: string, unit: UnitProperties): boolean {
  const protectedPaths = SYSTEM[unit['ProtectSystem'] ?? 'no'] ?? [];
  const own = [
    ...names(unit['StateDirectory']).map((name) => `/var/lib/${name}`),
    ...names(unit['RuntimeDirectory']).map((name) => `/run/${name}`),
  ];
  const temporary = (unit['PrivateTmp'] ?? 'no') === 'no' ? [] : TEMPORARY;
  const writable = [...pathsOf(unit['ReadWritePaths']), ...pathsOf(unit['BindPaths']), ...own, ...temporary];
  return isBelow(path, protectedPaths) && !isBelow(path, [...writable, ...KERNEL]);
}

/** Paths of a unit setting, without the prefixes for "if it exists" and "below the root"; for a bind, its target. */
function pathsOf(value: string | undefined): string[] {
  return names(value).map((word) => {
    const [source = '', target] = word.replace(/^[-+]+/, '').split(':');
    return target?.startsWith('/') === true ? target : source;
  });
}

function names(value: string | undefined): string[] {
  return (value ?? '').split(/\s+/).filter((word) => word !== '');
}

function isBelow(path: string, folders: readonly string[]): boolean {
  return folders.some((folder) => folder === '/' || path === folder || path.startsWith(`${folder}/`));
}
