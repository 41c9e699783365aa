import { readTicks } from './sound.ts';
import type { Violations } from './violations.ts';

/** Pieces of speech are numbered through, each room from a number of its own: what one hears is never said in the other. */
export const TICKS_PER_ROOM = 2 ** 22;

/** Reads the pieces of speech of one room, numbered from its first. */
export interface TickReader {
  read(sound: Int16Array, onTick: (tick: number) => void): { echoes: number };
  ticksOf(pcm: Uint8Array): number[];
}

/** @param firstTick of the room */
export function createTickReader(firstTick: number, violations: Violations): TickReader {
  const read: TickReader['read'] = (sound, onTick) =>
    readTicks(sound, (number) => {
      const tick = number - firstTick;
      if (tick >= 0 && tick < TICKS_PER_ROOM) onTick(tick);
      else violations.add('crossed', 'speech of one lane was heard in another');
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
