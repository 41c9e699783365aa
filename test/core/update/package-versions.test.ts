import { describe, expect, it } from 'vitest';
import { compareVersions, packageVersion, plainVersion } from '../../../src/core/update/package-versions.ts';

/** Each older than the next; checked once with "dpkg --compare-versions". */
const IN_ORDER = [
  '0.9.0-1',
  '1.0~rc1-1',
  '1.0-1',
  '1.0.0~beta-1',
  '1.0.0-1',
  '1.0.0-2',
  '1.0.0-10',
  '1.0.0+git20261101.abcdef12-1',
  '1.0.0+git20261127.12345678-1',
  '1.0.1-1',
  '1.0.9-1',
  '1.0.10-1',
  '1.0.10a-1',
  '1.2-1',
  '2-1',
];

describe('compareVersions', () => {
  it('orders versions as dpkg does', () => {
    for (const [older, a] of IN_ORDER.entries())
      for (const [newer, b] of IN_ORDER.entries())
        expect([a, b, Math.sign(compareVersions(a, b))]).toEqual([a, b, Math.sign(older - newer)]);
  });

  it('ignores leading zeros and a missing revision of 0', () => {
    expect(compareVersions('1.02-1', '1.2-1')).toBe(0);
    expect(compareVersions('1.2-0', '1.2')).toBe(0);
  });
});

it('takes a version without a revision for the first revision', () => {
  expect(packageVersion('1.3.0')).toBe('1.3.0-1');
  expect(packageVersion('1.3.0-2')).toBe('1.3.0-2');
  expect(plainVersion('1.3.0-1')).toBe('1.3.0');
  expect(plainVersion('1.3.0-2')).toBe('1.3.0-2');
});
