import { describe, expect, it } from 'vitest';
import { createModelDisk } from './model-disk.ts';
import { QUICK_CASES, testPowerCuts } from './power-cuts.ts';

describe('a power cut at any operation, with any legal loss of what was not synced', () =>
  testPowerCuts(QUICK_CASES));

describe('the model of the disk', () => {
  it('may lose a name without its content, a content without its name, and both', async () => {
    const disk = createModelDisk();
    await disk.write('a', 'text');
    const found = await Promise.all(disk.remains().map((one) => one.read('a')));
    expect(new Set(found)).toEqual(new Set(['', 'te', 'text', null]));
  });

  it('keeps what was synced', async () => {
    const disk = createModelDisk();
    await disk.write('a', 'old');
    await disk.sync('a');
    await disk.sync('');
    await disk.write('b', 'new');
    await disk.sync('b');
    await disk.rename('b', 'a');
    const found = await Promise.all(disk.remains().map((one) => one.read('a')));
    expect(new Set(found)).toEqual(new Set(['new', 'old']));
  });
});
