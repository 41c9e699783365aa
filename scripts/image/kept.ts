import { createHash } from 'node:crypto';
import {
  closeSync,
  createReadStream,
  existsSync,
  fsyncSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isRunning } from './child-programs.ts';

/** An expensive result that an earlier run may have left: a folder of files in the cache. */
export interface Wanted {
  /** The cache has one entry of each kind. */
  readonly kind: string;
  /** Everything that the files are made from. */
  readonly madeFrom: readonly (string | number | boolean)[];
  /** Longest age (ms); left out: any. */
  readonly longestMs?: number;
}

export interface Kept {
  readonly folder: string;
  readonly madeAt: Date;
  /** Checksum of the content. */
  readonly digest: string;
}

/** One line for each file, as sha256sum writes them. */
const SUMS = 'SHA256SUMS';

export function cacheFolder(): string {
  const base = process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache');
  return process.env['DRAGOMAN_CACHE'] ?? join(base, 'dragoman');
}

/** Whether there is an entry, valid or not. */
export const isThere = ({ kind, madeFrom }: Wanted, cache = cacheFolder()): boolean =>
  existsSync(join(cache, nameOf(kind, madeFrom)));

/** Finds an entry, and verifies its checksums: the disk may have damaged it since it was written. */
export async function findKept(
  { kind, madeFrom, longestMs = Number.POSITIVE_INFINITY }: Wanted,
  cache = cacheFolder(),
): Promise<Kept | 'missing' | 'damaged'> {
  const folder = join(cache, nameOf(kind, madeFrom));
  if (!existsSync(folder)) return 'missing';
  const sums = join(folder, SUMS);
  if (!existsSync(sums)) return 'damaged';
  const madeAt = statSync(sums).mtime;
  if (Date.now() - madeAt.getTime() >= longestMs) return 'missing';
  const text = readFileSync(sums, 'utf8');
  return text === '' || text !== (await sumsOf(folder)) ? 'damaged' : { folder, madeAt, digest: hash(text) };
}

/**
 * Makes an entry, in place of all others of its kind. Until it is complete and on the disk, it has another name.
 * @param make writes files into an empty folder
 */
export async function keep(
  { kind, madeFrom }: Wanted,
  make: (folder: string) => Promise<void>,
  cache = cacheFolder(),
): Promise<Kept> {
  const name = nameOf(kind, madeFrom);
  const draft = join(cache, `${name}.draft-${process.pid}`);
  // Clean up first, because drafts of a killed run may fill the disk.
  for (const other of othersOf(cache, kind)) if (isAbandoned(other)) remove(join(cache, other));
  mkdirSync(draft, { recursive: true });
  try {
    await make(draft);
    const text = await sumsOf(draft);
    writeFileSync(join(draft, SUMS), text);
    for (const file of readdirSync(draft)) sync(join(draft, file));
    sync(draft);
    const folder = join(cache, name);
    remove(folder);
    renameSync(draft, folder);
    sync(cache);
    for (const other of othersOf(cache, kind))
      if (other !== name && draftOwner(other) === null) remove(join(cache, other));
    return { folder, madeAt: statSync(join(folder, SUMS)).mtime, digest: hash(text) };
  } finally {
    remove(draft);
  }
}

export async function sha256(file: string): Promise<string> {
  const sum = createHash('sha256');
  for await (const part of createReadStream(file)) sum.update(part as Buffer);
  return sum.digest('hex');
}

/** Checksums of all files in a folder, except the list itself. */
async function sumsOf(folder: string): Promise<string> {
  const lines: string[] = [];
  const files = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isFile());
  for (const name of files.map((entry) => entry.name).sort())
    if (name !== SUMS) lines.push(`${await sha256(join(folder, name))}  ${name}\n`);
  return lines.join('');
}

const hash = (text: string): string => createHash('sha256').update(text).digest('hex');

const KEY_DIGITS = 16;
const nameOf = (kind: string, madeFrom: Wanted['madeFrom']): string =>
  `${kind}-${hash(JSON.stringify(madeFrom)).slice(0, KEY_DIGITS)}`;

/** Entries and drafts of a kind, and the files that earlier versions of this program left. */
function othersOf(cache: string, kind: string): string[] {
  const pattern = new RegExp(`^${kind}-[0-9a-f]{${KEY_DIGITS}}(\\..*)?$`);
  return existsSync(cache) ? readdirSync(cache).filter((name) => pattern.test(name)) : [];
}

/** Id of the process that makes a draft; null: not a draft. */
function draftOwner(name: string): number | null {
  const [, owner] = /\.draft-(\d+)$/.exec(name) ?? [];
  return owner === undefined ? null : Number(owner);
}

function isAbandoned(name: string): boolean {
  const owner = draftOwner(name);
  return owner === process.pid || (owner !== null && !isRunning(owner));
}

const remove = (path: string): void => rmSync(path, { recursive: true, force: true });

function sync(path: string): void {
  const file = openSync(path, 'r');
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}
