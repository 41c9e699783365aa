import { closeSync, constants, fstatSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseJson } from '../../protocol/json.ts';
import { type RunningNote, runningNoteSchema } from '../../protocol/running-note.ts';
import { readIfReadable } from '../if-readable.ts';
import { noteFolder, noteName } from '../running-note.ts';

type Environment = Readonly<Record<string, string | undefined>>;

const MOST_BYTES = 131_072;
/** The runtime directory of the service. */
const SERVICE_FOLDER = '/run/dragoman';

/** The environment of a running agent; empty if this user may not read it. */
export function readAgentEnvironment(proc: string, pid: number): Environment {
  const text = readIfReadable(join(proc, String(pid), 'environ')) ?? '';
  const pairs = text.split('\0').flatMap((word): [string, string][] => {
    const at = word.indexOf('=');
    return at > 0 ? [[word.slice(0, at), word.slice(at + 1)]] : [];
  });
  return Object.fromEntries(pairs);
}

/** What the agent says of itself; null if it left no note, or this user may not read it. @param env of this program */
export function readAgentNote(proc: string, pid: number, env: Environment): RunningNote | null {
  const folders = [noteFolder(readAgentEnvironment(proc, pid)), noteFolder(env), SERVICE_FOLDER];
  for (const folder of new Set(folders.filter((one) => one !== null))) {
    const note = runningNoteSchema.safeParse(parseJson(readText(join(folder, noteName(pid))) ?? '')).data;
    if (note?.pid === pid) return note;
  }
  return null;
}

/** The folder belongs to another user, who must not be able to redirect or block this read. */
function readText(path: string): string | null {
  let file: number;
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  } catch {
    return null;
  }
  try {
    const found = fstatSync(file);
    return found.isFile() && found.size <= MOST_BYTES ? readFileSync(file, 'utf8') : null;
  } catch {
    return null;
  } finally {
    closeSync(file);
  }
}
