import { randomBytes } from 'node:crypto';
import { readdir } from 'node:fs/promises';
import { STATUS_FILE } from '../adapters/update/order-files.ts';
import { leaveOrder, readStatus, UPDATER_MEMORY } from '../adapters/update/updates.ts';
import { plainVersion } from '../core/update/package-versions.ts';
import { EXIT, Failure } from '../program/problem.ts';
import { examples, type Shell, type Verb } from '../program/program.ts';
import { wrapText } from '../program/text.ts';
import { jsonLine } from '../protocol/common/plain-text.ts';
import { type UpdateOrder, type UpdateStatus, updateOrderSchema } from '../protocol/common/update.ts';

interface Options {
  readonly json?: true;
  readonly order?: string;
  readonly from?: string;
  readonly rollback?: true;
}

export interface VersionPlaces {
  /** The agent's state folder. */
  readonly state: string;
  /** The updater's folder in memory. */
  readonly memory: string;
  readonly versions: string;
}

const PLACES: VersionPlaces = {
  state: '/var/lib/dragoman',
  memory: UPDATER_MEMORY,
  versions: '/var/lib/dragoman-update/versions',
};
const MANIFEST = 'file:///mnt/dists/stable/InRelease';

export const versionsVerb = createVersionsVerb(PLACES);

export function createVersionsVerb(places: VersionPlaces): Verb {
  return {
    register(program, shell) {
      program
        .command('versions')
        .description('show the versions of the agent on this device, and what the last update did')
        .option('--order <version>', 'order a version, as an operator does over MQTT (as root)')
        .option(
          '--from <address>',
          `signed list of its repository, such as ${MANIFEST}; left out: the device's own sources`,
        )
        .option('--rollback', 'return to the version before the last update (as root)')
        .option('--json', 'print one line: {"current", "installed", "previous", "unpacked", "update"}')
        .addHelpText(
          ...examples('dragoman versions', `sudo dragoman versions --order 1.3.0 --from ${MANIFEST}`),
        )
        .action((options: Options) => versions(options, shell, places));
    },
  };
}

async function versions(
  options: Options,
  shell: Shell,
  { state, memory, versions }: VersionPlaces,
): Promise<void> {
  const order = orderOf(options);
  const status = await readStatus(memory);
  if (status === null)
    throw new Failure(
      `the updater of this device is not running (${memory}/${STATUS_FILE} is missing): see "systemctl status dragoman-update", or install the package dragoman`,
    );
  if (order !== null) {
    const problem = await leaveOrder(state, order);
    if (problem !== null) throw new Failure(`${problem}. Run it as root`);
    return shell.print(
      'ordered: "dragoman versions" and "journalctl -u dragoman-update" show its progress\n',
    );
  }
  const unpacked = (await readdir(versions).catch(() => []))
    .filter((name) => /^\d/.test(name))
    .map(plainVersion);
  const { current, installed, previous, state: step, from, to, reason, progress } = status;
  const update = { state: step, from, to, reason, progress };
  if (options.json)
    return shell.print(jsonLine({ current, installed, previous, unpacked: unpacked.sort(), update }));
  for (const version of new Set([current, installed, ...unpacked.sort()]))
    shell.print(`${version.padEnd(12)} ${remarks(version, status)}\n`);
  shell.print(lastUpdate(status));
}

function remarks(version: string, { current, installed, previous }: UpdateStatus): string {
  const notes = [
    ...(version === current ? ['runs'] : []),
    ...(version === installed ? ['the installed package'] : []),
    ...(version === previous ? ['a roll-back returns to it'] : []),
  ];
  return notes.length === 0 ? 'unpacked' : notes.join(', ');
}

function lastUpdate({ state, from, to, reason }: UpdateStatus): string {
  if (state === 'idle') return '\nNo update has been ordered yet.\n';
  const why = reason === null ? '' : `: ${reason}`;
  return `\n${wrapText(`Last update, from ${from} to ${to}: ${state.replace('_', ' ')}${why}.`, '  ')}`;
}

function orderOf({ order: version, from, rollback }: Options): UpdateOrder | null {
  const id = randomBytes(9).toString('base64url');
  if (rollback && version === undefined) return { do: 'rollback', id };
  if (rollback) throw new Failure('give --order or --rollback, not both', EXIT.usage);
  if (version === undefined) return null;
  const order = updateOrderSchema.safeParse({
    do: 'update',
    id,
    version,
    manifest_url: from ?? null,
    not_before: null,
  });
  if (order.success) return order.data;
  const [issue] = order.error.issues;
  throw new Failure(`${issue?.path[0] === 'version' ? '--order' : '--from'}: ${issue?.message}`, EXIT.usage);
}
