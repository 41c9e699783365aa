import { readdir, readlink } from 'node:fs/promises';
import { basename, join } from 'node:path';

export const INPUT_FOLDER = '/dev/input';

/** Folders with names that survive a reboot, best first. */
const STABLE = ['by-id', 'by-path'] as const;

/** The input devices of this machine, each by its most stable path. */
export async function listInputDevices(folder: string = INPUT_FOLDER): Promise<readonly string[]> {
  const paths = new Map<string, string>();
  for (const kind of STABLE) {
    for (const name of await namesIn(join(folder, kind))) {
      const path = join(folder, kind, name);
      const event = await targetOf(path);
      if (event !== null && !paths.has(event)) paths.set(event, path);
    }
  }
  const events = (await namesIn(folder)).filter((name) => /^event\d+$/.test(name));
  return events.map((name) => paths.get(name) ?? join(folder, name));
}

async function namesIn(folder: string): Promise<readonly string[]> {
  try {
    return (await readdir(folder)).sort();
  } catch {
    return [];
  }
}

async function targetOf(link: string): Promise<string | null> {
  try {
    return basename(await readlink(link));
  } catch {
    return null;
  }
}
