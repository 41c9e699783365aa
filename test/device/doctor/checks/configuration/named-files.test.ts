import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { isOpenToAll } from '../../../../../src/device/doctor/checks/configuration/named-files.ts';
import { createMachines } from '../../machine-folders.ts';

const { root, remove } = createMachines();
afterAll(remove);

describe('the file of the configuration', () => {
  it('may be one that everyone may change', () => {
    const file = join(root, 'open.json');
    writeFileSync(file, '{}');
    chmodSync(file, 0o666);
    expect(isOpenToAll(file)).toBe(true);
    chmodSync(file, 0o644);
    expect(isOpenToAll(file)).toBe(false);
    expect(isOpenToAll(join(root, 'none'))).toBe(false);
  });
});
