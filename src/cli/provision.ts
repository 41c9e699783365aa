import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createSystemClock } from '../adapters/clock.ts';
import { BOOT_FOLDERS, isFolder } from '../adapters/provisioning/boot-folder.ts';
import { lock } from '../adapters/provisioning/lock.ts';
import { type ProvisioningEnd, provision } from '../adapters/provisioning/provision.ts';
import { report } from '../adapters/provisioning/write-result.ts';
import { systemCode } from '../adapters/system-error.ts';
import { PROVISIONING_FILE, type ProvisioningOutcome } from '../core/provisioning/outcome.ts';
import type { Write } from '../core/provisioning/places.ts';
import { outcomeSentence, problemLine } from '../core/provisioning/status-text.ts';
import { EXIT, type ExitCode, Failure } from '../program/problem.ts';
import { examples, type Shell, type Verb } from '../program/program.ts';
import { jsonLine } from '../protocol/plain-text.ts';
import { wrapText } from './text.ts';

interface Options {
  readonly boot?: string;
  readonly root: string;
  readonly dryRun?: true;
  readonly json?: true;
}

export const provisionVerb: Verb = {
  register(program, shell) {
    program
      .command('provision')
      .description(`set up this device by ${PROVISIONING_FILE} on its boot partition: all of it, or nothing`)
      .option('--boot <folder>', 'where the boot partition is mounted (default: /boot/firmware, else /boot)')
      .option('--root <folder>', 'the system that is set up', '/')
      .option('--dry-run', 'say what would be written, and write nothing')
      .option('--json', 'print one line: {"outcome", "problems", "notes", ..., "written"}')
      .addHelpText(
        ...examples('dragoman provision --dry-run', 'sudo dragoman provision --boot /boot/firmware'),
      )
      .action((options: Options) => runProvision(options, shell));
  },
};

const EXIT_CODES: Readonly<Record<ProvisioningOutcome, ExitCode>> = {
  ...{ applied: EXIT.done, unchanged: EXIT.done, no_file: EXIT.done },
  ...{ file_unreadable: EXIT.usage, file_invalid: EXIT.usage, key_unreadable: EXIT.usage },
  ...{ secrets_missing: EXIT.usage },
  ...{ wifi_unsupported: EXIT.usage, disk_full: EXIT.failed, write_failed: EXIT.failed },
};

function runProvision({ boot: named, root: given, dryRun, json }: Options, shell: Shell): void {
  const root = resolve(given);
  if (!isFolder(root)) throw new Failure(`${root} is no folder: give the root of a system`, EXIT.usage);
  const boot = named === undefined ? findBoot(root) : resolve(named);
  if (!isFolder(boot))
    throw new Failure(`${boot} is no folder: give the one where the boot partition is mounted`, EXIT.usage);
  const isDry = dryRun === true;
  const isRoot = process.getuid?.() === 0;
  if (root === '/' && !isRoot && !isDry)
    throw new Failure('this writes below /etc and needs root: try "sudo dragoman provision", or --dry-run');
  // Folders and what is told are for all to read, whoever calls this; secrets have rights of their own.
  process.umask(0o022);
  const work = (): [ProvisioningEnd, string[]] => {
    const ended = provision({ boot, root, isDry, isRoot, wall: createSystemClock().wall() });
    return [ended, isDry ? [] : report(ended.result, boot, root)];
  };
  const [ended, untold] = isDry ? work() : alone(root, isRoot, work);
  shell.finish(EXIT_CODES[ended.result.outcome]);
  if (json) {
    const written = ended.writes.map(({ path }) => path);
    return shell.print(jsonLine({ ...ended.result, written }));
  }
  for (const line of linesOf(ended, boot, isDry)) shell.print(wrapText(line, '  '));
  for (const line of untold) shell.complain(`dragoman: ${line}\n`);
}

/**
 * Where nothing can be written in /run, nobody knows whether another one runs: that is seldom, and a kiosk that is not set up at
 * all for it would not even have a status on its card.
 * @throws Failure where another one runs, or who calls may not
 */
function alone<T>(root: string, isRoot: boolean, work: () => T): T {
  let unlock: ReturnType<typeof lock> = () => {};
  try {
    unlock = lock(root);
  } catch (error) {
    const code = systemCode(error) ?? 'unknown reason';
    if (!isRoot) throw new Failure(`${join(root, 'run')} cannot be written (${code}): call this as root`);
  }
  if (unlock === null) throw new Failure('another "dragoman provision" runs: wait for its end');
  try {
    return work();
  } finally {
    unlock();
  }
}

/** The one that has the file; else the first that is there. */
function findBoot(root: string): string {
  const folders = BOOT_FOLDERS.map((folder) => join(root, folder)).filter(isFolder);
  const holding = folders.find((folder) =>
    statSync(join(folder, PROVISIONING_FILE), { throwIfNoEntry: false }),
  );
  return holding ?? folders[0] ?? join(root, 'boot');
}

function linesOf({ result, writes }: ProvisioningEnd, boot: string, isDry: boolean): string[] {
  const { outcome, problems, notes } = result;
  const sentence =
    outcome === 'no_file'
      ? `There is no ${PROVISIONING_FILE} in ${boot}.`
      : isDry && outcome === 'applied'
        ? `${PROVISIONING_FILE} can be applied; with --dry-run nothing was written.`
        : isDry && outcome === 'secrets_missing'
          ? `${PROVISIONING_FILE} can be applied but for secrets that were taken out of it; with --dry-run nothing was written.`
          : outcomeSentence(outcome);
  return [
    `${outcome}: ${sentence}`,
    ...problems.map((problem) => `- ${problemLine(problem)}`),
    ...writes.map((write) => `  ${isDry ? 'would write' : 'written'} ${describe(write)}`),
    ...notes.map((note) => `  ${note}`),
  ];
}

function describe(write: Write): string {
  if (write.kind === 'link') return `${write.path} -> ${write.target}`;
  return `${write.path} (${write.owner}, ${write.mode.toString(8)})`;
}
