import { join } from 'node:path';
import { listIfReadable, readIfReadable } from './if-readable.ts';

/** Deeper than any tree of ours: a helper of an operator's audio command. */
const MOST_PROCESSES = 64;

/**
 * Resident memory of a process and all that it has started, bytes; of the process alone where the kernel does not tell who that
 * is. What several of them share is counted for each.
 * @param own resident bytes of this very process, which are known without the kernel's files
 */
export function residentTree(own: () => number, proc = '/proc', pid = process.pid): number {
  const known = new Set([pid]);
  for (const parent of known) {
    if (known.size >= MOST_PROCESSES) break;
    for (const child of childrenOf(join(proc, String(parent)))) known.add(child);
  }
  known.delete(pid);
  let bytes = own();
  for (const child of known) bytes += residentOf(join(proc, String(child)));
  return bytes;
}

/** Each thread has its own. */
function childrenOf(folder: string): number[] {
  return listIfReadable(join(folder, 'task')).flatMap((thread) =>
    (readIfReadable(join(folder, 'task', thread, 'children')) ?? '')
      .split(' ')
      .map(Number)
      .filter((pid) => Number.isInteger(pid) && pid > 0),
  );
}

function residentOf(folder: string): number {
  const kib = /^VmRSS:\s+(\d+) kB$/m.exec(readIfReadable(join(folder, 'status')) ?? '')?.[1];
  return kib === undefined ? 0 : Number(kib) * 1024;
}
