import { totalmem } from 'node:os';
import { join } from 'node:path';
import { readIfReadable } from '../../../../adapters/if-readable.ts';
import type { KernelFolders } from '../../../../ports/machine.ts';
import type { MemoryFacts } from './memory-rules.ts';

export function readMemory({ proc, sys }: KernelFolders): MemoryFacts {
  const text = readIfReadable(join(proc, 'meminfo')) ?? '';
  const field = (name: string): number | null => {
    const kib = new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(text)?.[1];
    return kib === undefined ? null : Number(kib) * 1024;
  };
  const total = field('MemTotal') ?? totalmem();
  const limit = Number(readIfReadable(join(sys, 'fs', 'cgroup', 'memory.max'))?.trim() ?? Number.NaN);
  const controllers = readIfReadable(join(sys, 'fs', 'cgroup', 'cgroup.controllers'));
  return {
    total,
    available: field('MemAvailable') ?? total,
    limit: Number.isFinite(limit) && limit > 0 && limit < total ? limit : null,
    canLimit: controllers === null ? null : controllers.split(/\s+/).includes('memory'),
  };
}
