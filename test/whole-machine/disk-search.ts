/** Searches the whole disk of a machine for texts, including deleted files. */
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Fixture } from './kiosk.ts';

/** @returns the number of occurrences of each text */
export async function searchDisk({ machine, disk }: Fixture, texts: readonly string[]): Promise<number[]> {
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-disk-'));
  try {
    await machine.monitor('stop');
    const raw = join(folder, 'disk.raw');
    execFileSync('qemu-img', ['convert', '-U', '-O', 'raw', disk, raw]);
    await machine.monitor('cont');
    return texts.map((text) => {
      writeFileSync(join(folder, 'text'), text);
      const { stdout } = spawnSync('grep', ['-a', '-o', '-F', '-f', join(folder, 'text'), raw], {
        maxBuffer: 2 ** 26,
        env: { LC_ALL: 'C' },
      });
      return stdout.toString().split('\n').length - 1;
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}
