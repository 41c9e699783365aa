/** The owners of the files, as user and group numbers of the target system. */

import type { Owners } from './apply.ts';
import type { Write } from './core/places.ts';
import { presentText } from './facts.ts';

export type OwnersResult = { readonly ok: true; readonly owners: Owners } | { readonly ok: false };

const AGENT = 'dragoman';

/** Not ok: the agent's user, who must read some of the files, does not exist. */
export function findOwners(writes: readonly Write[], root: string, isRoot: boolean): OwnersResult {
  // Without root, the owner of the files cannot be changed.
  if (!isRoot) return { ok: true, owners: null };
  const rootOwner = { uid: 0, gid: 0 };
  const agent = agentOf(presentText(root, '/etc/passwd') ?? '');
  const isNeeded = writes.some((write) => write.kind === 'file' && write.owner === 'dragoman');
  if (agent === null && isNeeded) return { ok: false };
  return { ok: true, owners: { root: rootOwner, dragoman: agent ?? rootOwner } };
}

function agentOf(passwd: string): { uid: number; gid: number } | null {
  const line = passwd.split('\n').find((one) => one.startsWith(`${AGENT}:`));
  const [, , uid = '', gid = ''] = line?.split(':') ?? [];
  return /^\d+$/.test(uid) && /^\d+$/.test(gid) ? { uid: Number(uid), gid: Number(gid) } : null;
}
