import { randomBytes } from 'node:crypto';
import { constants, lstatSync, rmSync, watch } from 'node:fs';
import { open, rename, rm, stat } from 'node:fs/promises';
import { isAbsolute, join } from 'node:path';
import type { Clock } from '../../ports/clock.ts';
import { OUTPUT_RATE_HZ } from '../../ports/stream.ts';
import { BYTES_PER_SAMPLE } from '../../sound/pcm.ts';
import { readBounded } from '../bounded-file.ts';
import { systemCode } from '../system-error.ts';

/**
 * Sound that another program on this machine asks the agent to play, because the agent occupies the loudspeaker. It is a file in
 * the agent's runtime directory, raw PCM at the rate of its loudspeakers. The agent removes the file when it accepts the sound.
 */
const FILE = 'announcement.pcm';
export const LONGEST_ANNOUNCEMENT_S = 60;
const MOST_BYTES = LONGEST_ANNOUNCEMENT_S * OUTPUT_RATE_HZ * BYTES_PER_SAMPLE;

/** Timeout for the agent to accept the file (milliseconds); a running agent needs only a few. */
const TAKEN_WITHIN_MS = 3000;
const LOOK_EVERY_MS = 50;

/** @returns whether an agent has accepted the sound; never rejects */
export async function handOver(directory: string, pcm: Uint8Array, clock: Clock): Promise<boolean> {
  const path = join(directory, FILE);
  // The directory belongs to another user, who must not be able to redirect this write.
  const draft = join(directory, `.${FILE}.${randomBytes(9).toString('hex')}`);
  try {
    const flags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;
    const file = await open(draft, flags, 0o644);
    try {
      await file.chmod(0o644);
      await file.writeFile(pcm.subarray(0, MOST_BYTES));
    } finally {
      await file.close();
    }
    await rename(draft, path);
  } catch {
    await rm(draft, { force: true }).catch(() => {});
    return false;
  }
  const until = clock.now() + TAKEN_WITHIN_MS;
  while (clock.now() < until) {
    if (await isGone(path)) return true;
    await new Promise<void>((resolve) => void clock.at(clock.now() + LOOK_EVERY_MS, resolve));
  }
  const wasTaken = await isGone(path);
  await rm(path, { force: true }).catch(() => {});
  return wasTaken;
}

async function isGone(path: string): Promise<boolean> {
  try {
    await stat(path);
    return false;
  } catch (error) {
    return systemCode(error) === 'ENOENT';
  }
}

/**
 * Accepts announcements from now on.
 * @param canSpeak whether sound would be heard now; otherwise the file stays, and the other program plays it elsewhere
 * @returns a function that stops watching; without a runtime directory nothing is watched
 */
export function watchAnnouncements(
  env: Readonly<Record<string, string | undefined>>,
  canSpeak: () => boolean,
  heard: (pcm: Uint8Array) => void,
): () => void {
  const [directory = ''] = (env['RUNTIME_DIRECTORY'] ?? '').split(':');
  if (!isAbsolute(directory)) return () => {};
  const take = (): void => {
    if (!canSpeak()) return;
    const pcm = takeFile(join(directory, FILE));
    if (pcm !== null && pcm.byteLength > 0) heard(pcm);
  };
  try {
    const watcher = watch(directory, { persistent: false }, (_event, name) => {
      if (name === null || name === FILE) take();
    });
    watcher.on('error', () => watcher.close());
    return () => watcher.close();
  } catch {
    // The system has no file watches left: the other program notices that the file stays.
    return () => {};
  }
}

/** Reads and removes the file; null when it is absent, too large or not a regular file. */
function takeFile(path: string): Uint8Array | null {
  if (lstatSync(path, { throwIfNoEntry: false }) === undefined) return null;
  const pcm = readBounded(path, MOST_BYTES);
  remove(path);
  return pcm?.subarray(0, pcm.byteLength - (pcm.byteLength % BYTES_PER_SAMPLE)) ?? null;
}

/** Removes the path, even when it is not a file. */
function remove(path: string): void {
  try {
    rmSync(path, { force: true, recursive: true });
  } catch {
    // Not ours to remove: the other program notices that the file stays.
  }
}
