import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { residentTree } from '../../src/adapters/process-memory.ts';
import { makeFolder } from './audio/wav-files.ts';

const KIB = 1024;

/** A made-up /proc: each process with its resident KiB and the children of its threads. */
function proc(processes: Readonly<Record<number, { kib: number; threads: readonly string[] }>>): string {
  const folder = makeFolder();
  for (const [pid, { kib, threads }] of Object.entries(processes)) {
    threads.forEach((children, index) => {
      const thread = join(folder, pid, 'task', String(Number(pid) + index));
      mkdirSync(thread, { recursive: true });
      writeFileSync(join(thread, 'children'), children);
    });
    writeFileSync(join(folder, pid, 'status'), `Name:\tx\nVmRSS:\t   ${kib} kB\nThreads:\t1\n`);
  }
  return folder;
}

describe('memory of a process and its children', () => {
  it('counts each process once, the children of every thread and their children too', () => {
    const folder = proc({
      10: { kib: 999, threads: ['11 12 ', '13 '] },
      11: { kib: 6, threads: [''] },
      12: { kib: 7, threads: ['14 '] },
      13: { kib: 8, threads: ['14 10 '] },
      14: { kib: 9, threads: [''] },
      15: { kib: 1000, threads: [''] },
    });
    expect(residentTree(() => 100 * KIB, folder, 10)).toBe((100 + 6 + 7 + 8 + 9) * KIB);
  });

  it('is that of the process alone when the kernel lists no children, or a child has exited', () => {
    expect(residentTree(() => 5 * KIB, join(makeFolder(), 'none'), 10)).toBe(5 * KIB);
    const gone = proc({ 10: { kib: 1, threads: ['11 '] } });
    expect(residentTree(() => 5 * KIB, gone, 10)).toBe(5 * KIB);
  });

  it('can be measured on this machine', async () => {
    const own = () => 0;
    const child = spawn(process.execPath, ['-e', 'console.log(1); setInterval(() => {}, 1000)']);
    try {
      await new Promise((resolve) => child.stdout.once('data', resolve));
      expect(residentTree(own)).toBeGreaterThan(20_000 * KIB);
    } finally {
      child.kill('SIGKILL');
    }
  });
});
