import { readTicks } from './sound.ts';
import type { Violations } from './violations.ts';

/** Numbers of ticks per room: each room has its own range, so that speech in the wrong lane is noticed. */
export const TICKS_PER_ROOM = 2 ** 22;

/** Reads the pieces of speech of one room, numbered from 0. */
export interface TickReader {
  read(sound: Int16Array, onTick: (tick: number) => void): { echoes: number };
  ticksOf(pcm: Uint8Array): number[];
}

/** @param firstTick number of the room's first tick */
export function createTickReader(firstTick: number, violations: Violations): TickReader {
  const read: TickReader['read'] = (sound, onTick) =>
    readTicks(sound, (number) => {
      const tick = number - firstTick;
      if (tick >= 0 && tick < TICKS_PER_ROOM) onTick(tick);
      else violations.add('crossed', 'speech of one lane reached another lane');
    });
  return {
    read,
    ticksOf(pcm) {
      const ticks: number[] = [];
      read(new Int16Array(pcm.buffer, pcm.byteOffset, pcm.byteLength >> 1), (tick) => ticks.push(tick));
      return ticks;
    },
  };
}
