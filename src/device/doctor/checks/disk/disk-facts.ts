import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { totalmem } from 'node:os';
import { join } from 'node:path';
import { listIfReadable, readIfReadable } from '../../../../adapters/if-readable.ts';
import { systemCode } from '../../../../adapters/system-error.ts';
import type { KernelFolders, RunProgram } from '../../../../ports/machine.ts';
import type { DiskFacts, MemoryFacts, PowerFacts } from './disk-rules.ts';

/** The state of a folder's disk, as this user sees it. */
export function readDisk({
  folder,
  purpose,
  isNeeded,
}: Pick<DiskFacts, 'folder' | 'purpose' | 'isNeeded'>): DiskFacts {
  const facts = { folder, purpose, isNeeded, freeBytes: 0, freeFiles: 1 };
  try {
    if (!statSync(folder).isDirectory()) return { ...facts, access: 'missing' };
    const { bavail, bsize, ffree, files } = statfsSync(folder);
    return {
      ...facts,
      freeBytes: bavail * bsize,
      freeFiles: files > 0 ? ffree / files : 1,
      access: accessTo(folder),
    };
  } catch (error) {
    return { ...facts, access: systemCode(error) === 'EACCES' ? 'forbidden' : 'missing' };
  }
}

function accessTo(folder: string): DiskFacts['access'] {
  try {
    accessSync(folder, constants.W_OK);
    return 'writable';
  } catch (error) {
    return systemCode(error) === 'EROFS' ? 'read-only' : 'forbidden';
  }
}

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

export async function readPower({ sys }: KernelFolders, run: RunProgram): Promise<PowerFacts> {
  return { throttled: await readThrottled(sys, run), alarm: readAlarm(sys) };
}

async function readThrottled(sys: string, run: RunProgram): Promise<number | null> {
  const places = ['devices/platform/soc/soc:firmware', 'devices/platform/soc@107c000000/soc:firmware'];
  for (const place of places) {
    const text = readIfReadable(join(sys, place, 'get_throttled'))?.trim();
    if (text !== undefined && /^[0-9a-f]+$/i.test(text)) return Number.parseInt(text, 16);
  }
  const answer = await run('vcgencmd', ['get_throttled']);
  const bits = answer.ok ? /throttled=0x([0-9a-f]+)/i.exec(answer.text)?.[1] : undefined;
  return bits === undefined ? null : Number.parseInt(bits, 16);
}

function readAlarm(sys: string): boolean | null {
  const folder = join(sys, 'class', 'hwmon');
  for (const name of listIfReadable(folder)) {
    if (readIfReadable(join(folder, name, 'name'))?.trim() !== 'rpi_volt') continue;
    const alarm = readIfReadable(join(folder, name, 'in0_lcrit_alarm'))?.trim();
    if (alarm !== undefined) return alarm === '1';
  }
  return null;
}
