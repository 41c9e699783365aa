import {
  closeSync,
  cpSync,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readFileSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import type { Command } from 'commander';
import { systemReason } from '../adapters/system-error.ts';
import { StoreDown, StoreRefused } from '../ports/store.ts';
import { EXIT, Failure } from '../program/problem.ts';
import { examples, type Shell } from '../program/program.ts';
import type { BackendConfig } from '../protocol/backend-config.ts';
import { savedFilesSchema } from '../protocol/backup.ts';
import { parseJson } from '../protocol/json.ts';
import { textLine } from '../protocol/plain-text.ts';
import { CONFIG_OPTION, openConfig } from './open-config.ts';
import { dump, load } from './store/copy.ts';
import { openKeptEngine } from './store/open-store.ts';
import type { SqlEngine } from './store/sql-engine.ts';

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
      '\nWithout --config it uses the configuration of the backup. The store may be of' +
        '\nanother kind than the saved one. Files that exist are never replaced.',
    )
    .addHelpText(...examples('dragoman-backend restore --config backend.json --from /mnt/backup/2026-11-27'))
    .action((options: RestoreOptions) => restore(shell, options));
}

async function backup(shell: Shell, options: BackupOptions): Promise<void> {
  const { config, secrets } = openConfig(shell, options.config, null);
  const to = resolve(options.to);
  const files = [...filesOf(config), ...[options.config, options.broker].flatMap((path) => path ?? [])];
  const missing = files.filter((path) => !existsSync(path));
  if (missing.length > 0)
    throw new Failure(`these files cannot be saved: ${missing.join(', ')} do not exist`);
  await withEngine(config, secrets.storePassword, async (engine) => {
    makeFolder(to);
    const list = files.map((path, index) => ({ path: resolve(path), copy: String(index) }));
    for (const { path, copy } of list)
      cpSync(path, join(to, copy), { recursive: true, preserveTimestamps: true });
    await writeFile(join(to, FILE_LIST), (write) => write(JSON.stringify(list)));
    const rows = await writeFile(join(to, STORE_FILE), (write) => dump(engine, write));
    shell.print(textLine(`saved ${rows} rows of the store and ${list.length} files in ${to}`));
  });
}

async function restore(shell: Shell, options: RestoreOptions): Promise<void> {
  const from = resolve(options.from);
  const files = savedFilesSchema.safeParse(parseJson(readText(join(from, FILE_LIST))));
  if (!files.success) throw new Failure(`${join(from, FILE_LIST)} is damaged: take another backup`);
  const lines = readText(join(from, STORE_FILE)).split('\n');
  const missing = files.data.filter(({ path }) => !existsSync(path));
  for (const { path, copy } of missing) {
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    cpSync(join(from, copy), path, { recursive: true, preserveTimestamps: true });
  }
  const { config, secrets } = openConfig(shell, options.config, null);
  await withEngine(config, secrets.storePassword, async (engine) => {
    const rows = await load(engine, lines);
    const kept = files.data.length - missing.length;
    const there = kept === 0 ? '' : `; ${kept} files were there and stay as they are`;
    shell.print(textLine(`restored ${rows} rows of the store and ${missing.length} files${there}`));
  });
}

/** Files with keys and passwords. Credentials of systemd are named without a folder: their sources are not known here. */
function filesOf({ mqtt, service, signingKeyFile, store, webhook }: BackendConfig): string[] {
  const named = [
    ...[mqtt.passwordFile, mqtt.caFile, mqtt.certFile, mqtt.keyFile],
    ...[service.apiKeyFile, service.jwtFile, service.caFile, signingKeyFile, store.passwordFile],
    webhook?.secretFile ?? null,
  ];
  return named.flatMap((path) => (path !== null && (path.includes('/') || existsSync(path)) ? path : []));
}

function makeFolder(path: string): void {
  try {
    mkdirSync(dirname(path), { recursive: true });
    mkdirSync(path, { mode: 0o700 });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const why = code === 'EEXIST' ? 'exists: name a new folder' : `cannot be made (${code})`;
    throw new Failure(`${path} ${why}`);
  }
}

/** Writes lines, and returns when they are on the disk. */
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
