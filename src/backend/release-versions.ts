/** Which versions of the agent the folder of a repository for apt offers. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { systemReason } from '../adapters/system-error.ts';
import { compareVersions } from '../core/update/versions.ts';
import { Failure } from '../program/problem.ts';

const SUITE = 'dists/stable';
const COMPONENT = 'main';

/** Versions of the package in the lists that the signed index names, oldest first. @throws Failure */
export function releaseVersions(folder: string): string[] {
  try {
    const signed = readFileSync(join(folder, SUITE, 'InRelease'), 'utf8');
    const lists = readdirSync(join(folder, SUITE, COMPONENT))
      .filter((name) => name.startsWith('binary-'))
      .map((name) => readFileSync(join(folder, SUITE, COMPONENT, name, 'Packages')));
    // A list that is not signed yet cannot be used by devices.
    const valid = lists.filter((list) => signed.includes(createHash('sha256').update(list).digest('hex')));
    return [...new Set(valid.flatMap((list) => versionsIn(list.toString())))].sort(compareVersions);
  } catch (error) {
    throw new Failure(
      `releases.path: the index in ${folder} cannot be read (${systemReason(error)}): make it with scripts/release`,
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
