import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { createSystemClock } from '../adapters/clock.ts';
import { systemReason } from '../adapters/system-error.ts';
import { BOOT_FOLDERS, isFolder } from '../installer/boot-folder.ts';
import { PROVISIONING_FILE, type ProvisioningOutcome } from '../installer/core/outcome.ts';
import type { Write } from '../installer/core/places.ts';
import { outcomeSentence, problemLine } from '../installer/core/status-text.ts';
import { lock } from '../installer/lock.ts';
import { type ProvisioningEnd, provision } from '../installer/provision.ts';
import { report } from '../installer/write-result.ts';
import { EXIT, type ExitCode, Failure } from '../program/problem.ts';
import type { Shell } from '../program/program.ts';
import { wrapText } from '../program/text.ts';
import { jsonLine } from '../protocol/common/plain-text.ts';

export interface ProvisionOptions {
  readonly boot?: string;
  readonly root: string;
  readonly dryRun?: true;
  readonly json?: true;
}

const EXIT_CODES: Readonly<Record<ProvisioningOutcome, ExitCode>> = {
  applied: EXIT.done,
  unchanged: EXIT.done,
  no_file: EXIT.done,
  file_unreadable: EXIT.usage,
  file_invalid: EXIT.usage,
  key_unreadable: EXIT.usage,
  secrets_missing: EXIT.usage,
  wifi_unsupported: EXIT.usage,
  disk_full: EXIT.failed,
  write_failed: EXIT.failed,
};

export function performProvision(
  { boot: named, root: given, dryRun, json }: ProvisionOptions,
  shell: Shell,
): void {
  const root = resolve(given);
  if (!isFolder(root)) throw new Failure(`${root} is not a folder: give the root of a system`, EXIT.usage);
  const boot = named === undefined ? findBoot(root) : resolve(named);
  if (!isFolder(boot))
    throw new Failure(`${boot} is not a folder: give the mount point of the boot partition`, EXIT.usage);
  const isDry = dryRun === true;
  const isRoot = process.getuid?.() === 0;
  if (root === '/' && !isRoot && !isDry)
    throw new Failure('this writes below /etc and needs root: try "sudo dragoman provision", or --dry-run');
  // Folders and reports are readable by everyone, whatever the caller's umask; secrets have their own modes.
  process.umask(0o022);
  const work = (): [ProvisioningEnd, string[]] => {
    const ended = provision({ boot, root, isDry, isRoot, wall: createSystemClock().wall() });
    return [ended, isDry ? [] : report(ended.result, boot, root)];
  };
  const [ended, unreported] = isDry ? work() : alone(root, isRoot, work);
  shell.finish(EXIT_CODES[ended.result.outcome]);
  if (json) {
    const written = ended.writes.map(({ path }) => path);
    return shell.print(jsonLine({ ...ended.result, written }));
  }
  for (const line of linesOf(ended, boot, isDry)) shell.print(wrapText(line, '  '));
  for (const line of unreported) shell.complain(`dragoman: ${line}\n`);
}

/**
 * Runs `work` under a lock. If root cannot write to /run, the work runs without a lock: this is rare, and otherwise the kiosk
 * would have no setup and no status on its card.
 * @throws Failure if another run is active, or if the caller has no permission
 */
function alone<T>(root: string, isRoot: boolean, work: () => T): T {
  let unlock: ReturnType<typeof lock> = () => {};
  try {
    unlock = lock(root);
  } catch (error) {
    if (!isRoot)
      throw new Failure(`${join(root, 'run')} is not writable (${systemReason(error)}): run this as root`);
  }
  if (unlock === null) throw new Failure('another "dragoman provision" is running: wait until it ends');
  try {
    return work();
  } finally {
    unlock();
  }
}

/** The boot folder with the provisioning file; otherwise the first boot folder that exists. */
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
          ? `${PROVISIONING_FILE} can be applied, except for secrets that were removed from it; with --dry-run nothing was written.`
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
