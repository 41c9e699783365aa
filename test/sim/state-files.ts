/** The state files of the device, on a disk that is slow and may be full or hang. */
import type { StateFile } from '../../src/ports/state-file.ts';
import type { Dice } from './dice.ts';
import type { ProcessClock, SimClock } from './sim-clock.ts';

export type StateFileName = 'commands' | 'desired' | 'budget';

export interface StateDisk {
  isFull: boolean;
  /** Writes do not complete for now. */
  hangs: boolean;
  /** When it was last full or hung. */
  readonly troubledAt: number;
  /** The stored text. */
  text(name: StateFileName): string | null;
  open(name: StateFileName, process: ProcessClock): StateFile;
}

const WRITE_MS = [2, 40] as const;
const LOOK_MS = 500;

export function createStateDisk(clock: SimClock, dice: Dice): StateDisk {
  const stored = new Map<StateFileName, string>();
  let troubledAt = Number.NEGATIVE_INFINITY;
  const disk: StateDisk = {
    isFull: false,
    hangs: false,
    get troubledAt() {
      return disk.isFull || disk.hangs ? clock.now() : troubledAt;
    },
    text: (name) => stored.get(name) ?? null,
    open: (name, process) => ({
      name,
      read() {
        const text = stored.get(name);
        return text === undefined ? { kind: 'none' } : { kind: 'text', text };
      },
      write: (text) =>
        new Promise((resolve) => {
          if (!process.alive) return;
          const end = (result: Awaited<ReturnType<StateFile['write']>>): void => {
            if (!process.alive) return;
            clock.settle();
            resolve(result);
          };
          const write = (): void => {
            if (disk.hangs) {
              troubledAt = clock.now();
              clock.at(clock.now() + LOOK_MS, write);
            } else if (disk.isFull) {
              troubledAt = clock.now();
              end({ ok: false, message: 'no space left on the disk' });
            } else {
              // After a kill the file may be written or not.
              if (process.alive || dice.chance(0.5)) stored.set(name, text);
              end({ ok: true });
            }
          };
          clock.at(clock.now() + dice.between(...WRITE_MS), write);
        }),
    }),
  };
  return disk;
}
