/** The versions of the agent that an apt repository lists. The devices verify the list's signature. */
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { reasonOf, systemCode, systemReason } from '../../adapters/system-error.ts';
import { compareVersions } from '../../core/update/package-versions.ts';
import { Failure } from '../../program/problem.ts';

const SUITE = 'dists/stable';
const INDEX = 'InRelease';
/** Lists that the signed index names, each with its SHA-256. */
const LISTED = /^ ([0-9a-f]{64}) +\d+ (main\/binary-[a-z0-9-]+\/Packages)$/gm;
const WITHIN_MS = 10_000;
const MOST_BYTES = 33_554_432;

/** The list cannot be read. The message completes a sentence. */
export class Unreadable extends Error {
  /** The server has no index. False for a missing list, because some servers offer their lists only compressed. */
  readonly isMissing: boolean;
  constructor(message: string, isMissing = false) {
    super(message);
    this.isMissing = isMissing;
  }
}

/** @returns versions in the folder of a repository, oldest first. @throws Failure */
export async function versionsInFolder(folder: string): Promise<string[]> {
  try {
    return await versionsOf((name) => readFile(join(folder, SUITE, name)));
  } catch (error) {
    throw new Failure(
      `releases.path: the index in ${folder} cannot be read (${systemReason(error)}): make it with scripts/release`,
    );
  }
}

/**
 * @param manifestUrl address of a signed index, which `manifestUrlSchema` accepts
 * @returns versions in the repository, oldest first. @throws Unreadable
 */
export async function versionsAt(manifestUrl: string): Promise<string[]> {
  const base = manifestUrl.slice(0, -INDEX.length);
  return versionsOf((name) =>
    base.startsWith('file:') ? readLocal(`${base}${name}`) : download(`${base}${name}`),
  );
}

async function versionsOf(read: (name: string) => Promise<Buffer>): Promise<string[]> {
  const signed = (await read(INDEX)).toString();
  const versions = new Set<string>();
  for (const [, sum, name = ''] of signed.matchAll(LISTED)) {
    const list = await read(name);
    // The signed index has another checksum: devices would refuse this list.
    if (createHash('sha256').update(list).digest('hex') !== sum) continue;
    for (const version of versionsIn(list.toString())) versions.add(version);
  }
  return [...versions].sort(compareVersions);
}

async function readLocal(url: string): Promise<Buffer> {
  try {
    return await readFile(fileURLToPath(url));
  } catch (error) {
    throw new Unreadable(systemReason(error));
  }
}

async function download(url: string): Promise<Buffer> {
  try {
    const answer = await fetch(url, { signal: AbortSignal.timeout(WITHIN_MS) });
    if (!answer.ok)
      throw new Unreadable(
        `the server answers ${answer.status}`,
        answer.status === 404 && url.endsWith(INDEX),
      );
    const parts: Uint8Array[] = [];
    let bytes = 0;
    for await (const part of answer.body ?? []) {
      bytes += part.byteLength;
      if (bytes > MOST_BYTES) throw new Unreadable('it is too large');
      parts.push(part);
    }
    return Buffer.concat(parts);
  } catch (error) {
    if (error instanceof Unreadable) throw error;
    const isLate = error instanceof Error && error.name === 'TimeoutError';
    const code = systemCode(error instanceof Error ? error.cause : null);
    throw new Unreadable(
      isLate ? `no answer within ${WITHIN_MS / 1000} s` : code === null ? 'no answer' : reasonOf(code),
    );
  }
}

function versionsIn(list: string): string[] {
  return list.split(/\n{2,}/).flatMap((stanza) => {
    const field = (name: string): string | undefined => new RegExp(`^${name}: (.*)$`, 'm').exec(stanza)?.[1];
    const version = field('Version');
    return field('Package') === 'dragoman' && version !== undefined ? [version] : [];
  });
}
