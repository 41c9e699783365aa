import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { MACHINE_FOLDERS, type MachineFolders } from '../../../../adapters/audio/cards/card.ts';
import { hasKernelSound, readCards } from '../../../../adapters/audio/cards/kernel-cards.ts';
import type { SoundAccess } from '../../../../ports/machine.ts';

/** This user's access to the kernel's sound cards. */
export function readSoundAccess(
  folders: MachineFolders = MACHINE_FOLDERS,
  groupFile = '/etc/group',
): SoundAccess {
  return {
    hasSound: hasKernelSound(folders),
    user: userName(),
    isInAudio: isInAudio(groupFile),
    cards: readCards(folders).map(({ id, index, isAllowed }) => ({ id, index, isAllowed })),
  };
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return `number ${process.getuid?.() ?? 'unknown'}`;
  }
}

/** Whether this process is in the group "audio"; a service may be through SupplementaryGroups. */
function isInAudio(groupFile: string): boolean {
  try {
    const line = /^audio:[^:]*:(\d+):/m.exec(readFileSync(groupFile, 'utf8'));
    return line !== null && (process.getgroups?.() ?? []).includes(Number(line[1]));
  } catch {
    return false;
  }
}
