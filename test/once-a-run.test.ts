import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { onceARun } from './once-a-run.ts';

describe('a folder that several test files need', () => {
  const root = mkdtempSync(join(tmpdir(), 'dragoman-once-'));

  it('is made once for all users, and is complete when they get it', async () => {
    let times = 0;
    const make = async (folder: string): Promise<void> => {
      times += 1;
      await new Promise((resolve) => setTimeout(resolve, 20));
      writeFileSync(join(folder, 'whole'), `${times}`);
    };
    const wanted = await Promise.all([1, 2, 3].map(() => onceARun('thing', make, root)));
    expect(new Set(wanted)).toEqual(new Set([join(root, 'thing')]));
    expect(wanted.map((folder) => readFileSync(join(folder, 'whole'), 'utf8'))).toEqual(['1', '1', '1']);
  });

  it('fails for all users when it cannot be made', async () => {
    const make = (): never => {
      throw new Error('no compiler');
    };
    await expect(onceARun('broken', make, root)).rejects.toThrow('no compiler');
    await expect(onceARun('broken', make, root)).rejects.toThrow('broken could not be made');
    expect(readdirSync(join(root, 'broken'))).toEqual([]);
    rmSync(root, { recursive: true });
  });
});
