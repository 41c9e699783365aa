import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdir, open, rename, rm } from 'node:fs/promises';
import { dirname, isAbsolute, join, resolve } from 'node:path';
import type { Clock } from '../ports/clock.ts';
import type { StateFile, StateFound } from '../ports/state-file.ts';
import { systemCode, systemReason } from './system-error.ts';

/** Largest state file (bytes); ours are far smaller. */
const MOST_BYTES = 4 * 1_048_576;

/**
 * The folder for persistent state: systemd's StateDirectory, otherwise the user's state folder (XDG); null when there is neither.
 */
export function stateDirectory(env: Readonly<Record<string, string | undefined>>): string | null {
  // systemd lists several, separated by colons.
  const [systemd = ''] = (env['STATE_DIRECTORY'] ?? '').split(':');
  if (isAbsolute(systemd)) return systemd;
  const { XDG_STATE_HOME: xdg = '', HOME: home = '' } = env;
  if (isAbsolute(xdg)) return join(xdg, 'dragoman');
  return isAbsolute(home) ? join(home, '.local', 'state', 'dragoman') : null;
}

/** Names the configuration file in the environment of a program that runs with it. */
const CONFIG_FILE = 'CONFIGURATION_FILE';

/** The environment of a program that runs with this configuration file. */
export const runningWith = (
  file: string,
  env: Readonly<Record<string, string | undefined>>,
): Readonly<Record<string, string | undefined>> => ({ ...env, [CONFIG_FILE]: resolve(file) });

/**
 * The folder of an agent's state. Outside of a service each configuration file has its own, so that two checkouts with the same
 * device do not share their state. Null: no state outlives the program.
 */
export function agentStateFolder(env: Readonly<Record<string, string | undefined>>): string | null {
  const folder = stateDirectory(env);
  const file = env[CONFIG_FILE];
  if (folder === null || file === undefined || isAbsolute(env['STATE_DIRECTORY'] ?? '')) return folder;
  return join(folder, createHash('sha256').update(file).digest('hex').slice(0, 12));
}

/** Timeout for a read (milliseconds): a slower disk counts as failing, and the agent starts without the file. */
const READ_WITHIN_MS = 2000;

/**
 * Limits disk access to two threads. A thread that reads from a dead disk never returns, and Node has only four, which also
 * resolve host names. With two, one file that hangs does not block the others.
 */
const inTurn = createSlots(2);

export interface OpenedStateFile extends StateFile {
  /** Resolves when the content is known, or at the timeout. */
  readonly opened: Promise<void>;
}

/** Opens the file at `path` and starts to read it; its directory is created at the first write. */
export function openStateFile(path: string, clock: Clock): OpenedStateFile {
  let held: StateFound | null = null;
  let isOverdue = false;
  let isOthers = false;
  let open = (): void => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  const cancelPatience = clock.at(clock.now() + READ_WITHIN_MS, () => {
    isOverdue = true;
    open();
  });
  const loaded = inTurn(() => readText(path)).then((result) => {
    held = result;
    cancelPatience();
    open();
    return result;
  });
  return {
    name: path,
    opened,
    read() {
      if (held !== null) return held;
      return { kind: 'awaited', isOverdue, whenFound: (callback) => void loaded.then(callback) };
    },
    async write(text) {
      // The unread file may hold something irreplaceable, such as the key of a renewed certificate.
      if (held === null) return { ok: false, message: `the file ${path} has not been read yet` };
      return inTurn(async () => {
        // If the rename fails, the new content replaces the file: the running state matters more than another version's.
        if (isOthers) await rename(path, `${path}.aside`).catch(() => {});
        isOthers = false;
        return replace(path, text);
      });
    },
    putAside() {
      isOthers = true;
    },
  };
}

/** @param path may be a pipe or a device: the read does not block on it */
async function readText(path: string): Promise<StateFound> {
  try {
    const file = await open(path, constants.O_RDONLY | constants.O_NONBLOCK);
    try {
      const stat = await file.stat();
      if (!stat.isFile()) return { kind: 'unreadable', why: 'it is not a file' };
      if (stat.size > MOST_BYTES) return { kind: 'unreadable', why: `it is too large: ${stat.size} bytes` };
      return { kind: 'text', text: await file.readFile('utf8') };
    } finally {
      await file.close();
    }
  } catch (error) {
    const isMissing = systemCode(error) === 'ENOENT';
    return isMissing ? { kind: 'none' } : { kind: 'unreadable', why: systemReason(error) };
  }
}

async function replace(path: string, text: string): Promise<Awaited<ReturnType<StateFile['write']>>> {
  // Always the same name, so that power cuts leave at most one draft.
  const draft = `${path}.tmp`;
  try {
    await mkdir(dirname(path), { recursive: true, mode: 0o700 });
    await writeDurably(draft, text);
    await rename(draft, path);
    await syncDirectory(dirname(path));
    return { ok: true };
  } catch (error) {
    await rm(draft, { force: true }).catch(() => {});
    return { ok: false, message: `the file ${path} cannot be written: ${systemReason(error)}` };
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'w', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}

/** Makes new names in a directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r');
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

/** Runs at most `most` tasks at a time; the others wait for their turn. */
export function createSlots(most: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let free = most;
  return async (work) => {
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => void waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
}
