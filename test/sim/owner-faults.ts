/** What an owner does, and a disk, since the third generation of worlds. */
import { type Fault, lasting } from './fault-targets.ts';

const DISK_MS = [1000, 10_000, 120_000] as const;

export const OWNER_FAULTS: Readonly<Record<string, Fault>> = {
  documents: ({ owner }) => owner?.publish() as undefined,
  commands: ({ owner }) => owner?.command() as undefined,
  file_reread: ({ owner }) => owner?.rereadFile() as undefined,
  disk_troubled: ({ owner, dice }) => {
    const disk = owner?.disk ?? { isFull: false, hangs: false };
    const trouble = dice.chance(0.5) ? 'isFull' : 'hangs';
    return lasting(
      dice.pick(DISK_MS),
      () => {
        disk[trouble] = true;
      },
      () => {
        disk[trouble] = false;
      },
    );
  },
};
