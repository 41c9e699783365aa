import { describe, expect, it } from 'vitest';
import { readOptions } from '../../../scripts/bench/bench-options.ts';

describe('the options of the benchmark', () => {
  it('name the commit to compare with', () => {
    expect(readOptions(['--against', 'v1.2.3'])).toMatchObject({ against: 'v1.2.3' });
    expect(readOptions([])).toMatchObject({ against: null });
  });

  it('keep other commits out of the page', () => {
    expect(readOptions(['--against', 'v1.2.3', '--write'])).toMatchObject({
      code: 2,
      text: expect.stringContaining('--write is for this commit alone'),
    });
  });

  it('compare no more agents than the table has room for', () => {
    expect(readOptions(['--against', 'v1.2.3', '--with-addons'])).toMatchObject({
      code: 2,
      text: expect.stringContaining('--with-addons'),
    });
  });
});
