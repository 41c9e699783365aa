import {
  chmodSync,
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { systemCode, systemReason } from '../../adapters/system-error.ts';
import { StoreDown, StoreRefused } from '../../ports/store.ts';
import { EXIT, Failure } from '../../program/problem.ts';
import { examples, type Shell } from '../../program/program.ts';
import type { BackendConfig } from '../../protocol/backend-config.ts';
import { type BackupList, backupListSchema } from '../../protocol/backup.ts';
import { isObject, parseJson } from '../../protocol/common/json.ts';
import { textLine } from '../../protocol/common/plain-text.ts';
import { CONFIG_OPTION, openStoreConfig } from '../config/open-config.ts';
import { dump, load } from '../store/copy.ts';
import { openKeptEngine } from '../store/open-store.ts';
import type { SqlEngine } from '../store/sql-engine.ts';
import { giveTo, ownerOf } from './file-owner.ts';

const STORE_FILE = 'store.jsonl';
const FILE_LIST = 'files.json';

interface BackupOptions {
  config?: string;
  to: string;
  broker?: string;
}
interface RestoreOptions {
  config?: string;
  from: string;
}

/** `backup` and `restore`: store, keys, and the broker's folder with its authority. */
export function addBackupVerbs(program: Command, shell: Shell): void {
  program
    .command('backup')
    .description('copy store, keys, configuration and authority into a new folder, while the backend runs')
    .option(...CONFIG_OPTION)
    .requiredOption('--to <folder>', 'new folder; it holds secrets: keep it like the keys')
    .option('--broker <folder>', 'folder of "broker init", with the authority')
    .addHelpText(...examples('dragoman-backend backup --config backend.json --to /mnt/backup/2026-11-27'))
    .action((options: BackupOptions) => backup(shell, options));
  program
    .command('restore')
    .description('read a backup into an empty store, and put back files that are missing')
    .option(...CONFIG_OPTION)
    .requiredOption('--from <folder>', 'folder that "backup" has made')
    .addHelpText(
      'after',
      '\nWithout --config it uses the configuration of the backup. With --config the' +
        '\nstore may be of another kind than the saved one. Files that exist are never' +
        '\nreplaced. Run it as root, so that files get the owners that they had.',
    )
    .addHelpText(...examples('dragoman-backend restore --from /mnt/backup/2026-11-27'))
    .action((options: RestoreOptions) => restore(shell, options));
}

async function backup(shell: Shell, options: BackupOptions): Promise<void> {
  const { config, storePassword } = openStoreConfig(shell, options.config);
  const to = resolve(options.to);
  const files = [...namedFiles(config), ...[options.config, options.broker].flatMap((path) => path ?? [])];
  const missing = files.filter((path) => path.includes('/') && !existsSync(path));
  if (missing.length > 0)
    throw new Failure(`these files cannot be saved: ${missing.join(', ')} do not exist`);
  await withEngine(config, storePassword, async (engine) => {
    makeFolder(to);
    const existing = files.filter((path) => existsSync(path));
    const saved = existing.map((path, index) => ({
      path: resolve(path),
      copy: String(index),
      owner: ownerOf(path),
    }));
    for (const { path, copy } of saved) copyTree(path, join(to, copy));
    const list: BackupList = {
      config: options.config === undefined ? null : resolve(options.config),
      storeOwner: config.store.url === null ? ownerOf(config.store.path) : null,
      folders: foldersAbove([
        ...saved.map(({ path }) => path),
        ...(config.store.url === null ? [config.store.path] : []),
      ]),
      files: saved,
    };
    await writeFile(join(to, FILE_LIST), (write) => write(JSON.stringify(list)));
    const rows = await writeFile(join(to, STORE_FILE), (write) => dump(engine, write));
    const copied = `${count(rows, 'row')} of the store and ${count(saved.length, 'file')}`;
    shell.print(textLine(`saved ${copied} in ${to}`));
    for (const name of files.filter((path) => !existsSync(path)))
      shell.complain(
        textLine(`warning: ${name} is not saved, because it is not a file here. Keep a copy of its source.`),
      );
  });
}

async function restore(shell: Shell, options: RestoreOptions): Promise<void> {
  const from = resolve(options.from);
  const list = backupListSchema.safeParse(parseJson(readText(join(from, FILE_LIST))));
  if (!list.success) throw new Failure(`${join(from, FILE_LIST)} is damaged: take another backup`);
  const { files, folders, storeOwner } = list.data;
  const lines = readText(join(from, STORE_FILE)).split('\n');
  const missing = files.filter(({ path }) => !existsSync(path));
  const foreign: string[] = [];
  const give = (owner: string | null, path: string): void => {
    if (owner !== null && !giveTo(owner, path)) foreign.push(`${path} (${owner})`);
  };
  /** A folder that is in the backup gets its saved mode and owner. Any other is private, because it holds secrets or the store. */
  const makeFolders = (path: string, owner: string | null): void => {
    for (const folder of above(path).filter((name) => !existsSync(name))) {
      const saved = folders.find((one) => one.path === folder);
      mkdirSync(folder, { mode: 0o700 });
      if (saved !== undefined) chmodSync(folder, saved.mode);
      give(saved?.owner ?? owner, folder);
    }
  };
  for (const { path, copy, owner } of missing) {
    makeFolders(path, owner);
    copyTree(join(from, copy), path);
    give(owner, path);
  }
  const { config, storePassword } = openStoreConfig(shell, options.config ?? list.data.config ?? undefined);
  const { path: storePath, url } = config.store;
  if (url === null) makeFolders(storePath, storeOwner);
  await withEngine(config, storePassword, async (engine) => {
    const rows = await load(engine, lines);
    const kept = files.length - missing.length;
    const there = kept === 0 ? '' : `; kept ${count(kept, 'file')} that already existed`;
    const where = url === null ? ` in ${storePath}` : '';
    const read = `${count(rows, 'row')} of the store${where} and ${count(missing.length, 'file')}`;
    shell.print(textLine(`restored ${read}${there}`));
  });
  if (url === null) give(storeOwner, storePath);
  if (foreign.length > 0)
    shell.complain(
      textLine(
        `warning: give these files to their users, which this machine does not know: ${foreign.join(', ')}`,
      ),
    );
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? '' : 's'}`;
}

/** Copies a file or a folder with all modes: newer versions of Node.js create world-readable folders. */
function copyTree(from: string, to: string): void {
  cpSync(from, to, { recursive: true, preserveTimestamps: true });
  const copyModes = (name: string): void => {
    const source = statSync(join(from, name));
    if (!source.isDirectory()) return;
    chmodSync(join(to, name), source.mode & 0o777);
    for (const inner of readdirSync(join(from, name))) copyModes(join(name, inner));
  };
  copyModes('');
}

/** The files with keys and passwords: every key that ends in `File` names one. */
function namedFiles(config: object): string[] {
  const named = Object.entries(config).flatMap(([key, value]: [string, unknown]) => {
    if (isObject(value)) return namedFiles(value);
    return key.endsWith('File') && typeof value === 'string' ? [value] : [];
  });
  return [...new Set(named)];
}

/** The parent folders of a file, outermost first. */
function above(path: string): string[] {
  const folder = dirname(path);
  return folder === path ? [] : [...above(folder), folder];
}

function foldersAbove(paths: readonly string[]): BackupList['folders'] {
  const folders = new Set(paths.flatMap(above).filter((folder) => existsSync(folder)));
  return [...folders].map((path) => ({ path, mode: statSync(path).mode & 0o777, owner: ownerOf(path) }));
}

function makeFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const why =
      systemCode(error) === 'EEXIST'
        ? 'exists: name a new folder'
        : `cannot be made: ${systemReason(error)}; name another folder`;
    throw new Failure(`${path} ${why}`);
  }
}

/** Writes lines to a new file, and returns when they are on the disk. */
async function writeFile<T>(
  path: string,
  fill: (write: (line: string) => void) => T | Promise<T>,
): Promise<T> {
  const file = openSync(path, 'wx', 0o600);
  try {
    const result = await fill((line) => void writeSync(file, `${line}\n`));
    fsyncSync(file);
    return result;
  } finally {
    closeSync(file);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    throw new Failure(
      `${path} cannot be read (${systemReason(error)}): name a folder that "backup" has made`,
      EXIT.usage,
    );
  }
}

async function withEngine(
  { store }: BackendConfig,
  password: (() => string) | undefined,
  use: (engine: SqlEngine) => Promise<void>,
): Promise<void> {
  const engine = openKeptEngine(store, password);
  try {
    await use(engine);
  } catch (error) {
    if (error instanceof StoreDown || error instanceof StoreRefused) throw new Failure(error.message);
    throw error;
  } finally {
    await engine.close();
  }
}
