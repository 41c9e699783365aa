/** Made-up machines: folders as those where the kernel describes a machine. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { KernelFolders } from '../../../src/ports/machine.ts';

export function createMachines() {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-machine-'));
  let machines = 0;
  /** @param files their texts, by their paths such as `proc/meminfo` */
  const machine = (files: Readonly<Record<string, string>>): KernelFolders => {
    const folder = join(root, String(machines++));
    for (const [name, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, name)), { recursive: true });
      writeFileSync(join(folder, name), text);
    }
    return { proc: join(folder, 'proc'), sys: join(folder, 'sys') };
  };
  return { root, machine, remove: () => rmSync(root, { recursive: true, force: true }) };
}
