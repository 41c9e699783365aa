import { join } from 'node:path';
import { readBounded } from '../../../adapters/bounded-file.ts';
import { readIfReadable } from '../../../adapters/if-readable.ts';
import { noteFolder, noteName } from '../../../adapters/running-note.ts';
import { parseJson } from '../../../protocol/common/json.ts';
import { type RunningNote, runningNoteSchema } from '../../../protocol/running-note.ts';

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

/** Where an agent may have left its note. @param env of this program */
export function noteFolders(proc: string, pid: number, env: Environment): string[] {
  const folders = [noteFolder(readAgentEnvironment(proc, pid)), noteFolder(env), SERVICE_FOLDER];
  return [...new Set(folders.filter((one) => one !== null))];
}

/** What the agent reports about itself; null if it left no note, or this user may not read it. @param env of this program */
export function readAgentNote(proc: string, pid: number, env: Environment): RunningNote | null {
  for (const folder of noteFolders(proc, pid, env)) {
    const text = readBounded(join(folder, noteName(pid)), MOST_BYTES)?.toString('utf8') ?? '';
    const note = runningNoteSchema.safeParse(parseJson(text)).data;
    if (note?.pid === pid) return note;
  }
  return null;
}
