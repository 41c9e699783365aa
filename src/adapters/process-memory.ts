import { join } from 'node:path';
import { listIfReadable, readIfReadable } from './if-readable.ts';

/** Maximum number of processes to count: more than the agent has, even with an operator's audio command. */
const MOST_PROCESSES = 64;

/**
 * Resident memory of a process and its descendants, bytes; of the process alone when the kernel does not list descendants. Shared
 * memory is counted once for each process.
 * @param own resident bytes of this process, which are known without the kernel's files
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

/** The kernel lists children per thread. */
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
