import { describe, expect, it } from 'vitest';
import { createBatchedWriter } from '../../src/device/state-files/batched-writer.ts';
import { createVirtualClock } from '../virtual-clock.ts';
import { createMemoryFile } from './memory-file.ts';

function writing() {
  const clock = createVirtualClock();
  const disk = createMemoryFile();
  const told: (string | null)[] = [];
  const saved: boolean[] = [];
  const writer = createBatchedWriter(
    disk.file,
    clock,
    () => 'content',
    (problem) => told.push(problem),
  );
  disk.hang();
  writer.changedThen((isSaved) => saved.push(isSaved));
  return { clock, disk, told, saved };
}

describe('a write', () => {
  it('is late when the disk takes 2 s', async () => {
    const { clock, told, saved } = writing();
    await clock.elapse(1999);
    expect([told, saved]).toEqual([[], []]);
    await clock.elapse(1);
    expect([told, saved]).toEqual([[expect.stringContaining('the disk takes too long')], [false]]);
  });

  it.each([300, 5000])(
    'is not late when the program itself is busy for %i ms between the ten steps of a write',
    async (busyMs) => {
      const { clock, disk, told, saved } = writing();
      for (let step = 0; step < 10; step++) {
        clock.stall(busyMs);
        await clock.elapse(0);
      }
      disk.letGo();
      await clock.elapse(0);
      expect([told, saved]).toEqual([[], [true]]);
    },
  );
});
