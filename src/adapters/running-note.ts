import { chmod, mkdir, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { RunningNote } from '../protocol/running-note.ts';
import { stateDirectory } from './state-file.ts';
import { systemCode } from './system-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const NAME = /^agent-(\d+)\.(?:json|socket)$/;

export function noteName(pid: number): string {
  return `agent-${pid}.json`;
}

/** The socket beside the note, where a program asks for a diagnosis. */
export function doorName(pid: number): string {
  return `agent-${pid}.socket`;
}

/** The folder of the notes: in memory if the environment names such a folder. */
export function noteFolder(env: Environment): string | null {
  const [systemd = ''] = (env['RUNTIME_DIRECTORY'] ?? '').split(':');
  if (isAbsolute(systemd)) return systemd;
  const { XDG_RUNTIME_DIR: xdg = '' } = env;
  return isAbsolute(xdg) ? join(xdg, 'dragoman') : stateDirectory(env);
}

/** The note of this process. A failure to write it has no other effect. */
export interface NoteFile {
  /** Resolves when the note has been written for the first time; never while the disk hangs. */
  readonly written: Promise<void>;
  /** Writes the note if it has changed. */
  write(note: Omit<RunningNote, 'pid'>): void;
  remove(): Promise<void>;
}

export function openNote(env: Environment, pid: number = process.pid): NoteFile {
  const folder = noteFolder(env);
  if (folder === null) return { written: new Promise(() => {}), write() {}, remove: async () => {} };
  const path = join(folder, noteName(pid));
  let last = '';
  let work = removeDead(folder);
  let tellWritten = (): void => {};
  const written = new Promise<void>((resolve) => {
    tellWritten = resolve;
  });
  return {
    written,
    write(note) {
      const text = JSON.stringify({ pid, ...note });
      if (text === last) return;
      last = text;
      work = work
        .then(() => replace(folder, path, text))
        .then(tellWritten)
        .catch(() => {
          // Retried at the next call.
          last = '';
        });
    },
    remove() {
      last = '';
      work = work.then(() => rm(path, { force: true })).catch(() => {});
      return work;
    },
  };
}

async function replace(folder: string, path: string, text: string): Promise<void> {
  await mkdir(folder, { recursive: true, mode: 0o700 });
  const draft = `${path}.tmp`;
  await writeFile(draft, text);
  // Every user may read the state, whatever the umask of the service is.
  await chmod(draft, 0o644);
  await rename(draft, path);
}

/** Removes the files that killed agents have left. */
async function removeDead(folder: string): Promise<void> {
  const names = await readdir(folder).catch(() => []);
  for (const name of names) {
    const pid = Number(NAME.exec(name)?.[1] ?? Number.NaN);
    if (Number.isInteger(pid) && !isAlive(pid)) await rm(join(folder, name), { force: true }).catch(() => {});
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return systemCode(error) !== 'ESRCH';
  }
}
