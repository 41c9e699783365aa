import { accessSync, constants, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { systemCode } from '../../../../adapters/system-error.ts';
import type { MachineParts } from '../../../../ports/machine.ts';
import type { Config } from '../../../../protocol/config.ts';
import type { DiskFacts } from './disk-rules.ts';

type Place = Pick<DiskFacts, 'folder' | 'purpose' | 'isNeeded'>;

/** The folders that the agent writes to. */
export function placesOf({ env }: MachineParts, config: Config | null): Place[] {
  const state = env['STATE_DIRECTORY']?.split(':')[0];
  const recordings = (config?.lanes ?? []).flatMap(({ id, playback }) =>
    playback.driver === 'file'
      ? [{ folder: dirname(resolve(playback.path)), purpose: `the recording of lane ${id}`, isNeeded: true }]
      : [],
  );
  const own = { folder: state ?? resolve('.'), purpose: "the agent's own files", isNeeded: false };
  return state === undefined && recordings.length > 0 ? recordings : [own, ...recordings];
}

/** The state of a folder's disk, as this user sees it. */
export function readDisk({ folder, purpose, isNeeded }: Place): DiskFacts {
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
