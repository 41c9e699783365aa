import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { readDisk } from '../../../../../src/device/doctor/checks/disk/disk-facts.ts';
import { needs } from '../../../../needs.ts';
import { createMachines } from '../../machine-folders.ts';

const { root, remove } = createMachines();
afterAll(remove);

describe('the facts of a disk', () => {
  it('include free space and access', () => {
    const purpose = { purpose: 'things', isNeeded: true };
    expect(readDisk({ folder: root, ...purpose })).toMatchObject({ access: 'writable', ...purpose });
    expect(readDisk({ folder: root, ...purpose }).freeBytes).toBeGreaterThan(0);
    expect(readDisk({ folder: join(root, 'none'), ...purpose })).toMatchObject({ access: 'missing' });
    writeFileSync(join(root, 'file'), '');
    expect(readDisk({ folder: join(root, 'file'), ...purpose })).toMatchObject({ access: 'missing' });
  });

  it(
    'include a folder without write permission (skipped for root)',
    needs(process.getuid?.() === 0 && 'root may do everything'),
    () => {
      const folder = join(root, 'closed');
      mkdirSync(folder, { mode: 0o555 });
      expect(readDisk({ folder, purpose: 'things', isNeeded: true })).toMatchObject({ access: 'forbidden' });
    },
  );
});
