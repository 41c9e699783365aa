import { describe, expect, it } from 'vitest';
import { type DiskFacts, judgeDisk } from '../../../../../src/device/doctor/checks/disk/disk-rules.ts';

const GB = 1e9;
const MB = 1e6;

describe('a disk', () => {
  const disk = (more: Partial<DiskFacts>) =>
    judgeDisk({
      folder: '/var/lib/dragoman',
      purpose: 'things',
      isNeeded: false,
      freeBytes: 4 * GB,
      freeFiles: 0.9,
      access: 'writable' as const,
      ...more,
    });
  it.each<[string, Partial<DiskFacts>, string]>([
    ['half empty', {}, 'ok'],
    ['nearly full', { freeBytes: 100 * MB }, 'warning'],
    ['full', { freeBytes: 5 * MB }, 'problem'],
    ['full of small files', { freeFiles: 0.01 }, 'warning'],
    ['read-only', { access: 'read-only' }, 'warning'],
    ['read-only and needed', { access: 'read-only', isNeeded: true }, 'problem'],
    ['forbidden', { access: 'forbidden' }, 'warning'],
    ['a forbidden recording', { access: 'forbidden', isNeeded: true }, 'problem'],
    ['not there and needed', { access: 'missing', isNeeded: true }, 'problem'],
  ])('that is %s is judged', (_, facts, verdict) => {
    expect(disk(facts).verdict).toBe(verdict);
  });

  it('never advises to give a folder away when it is forbidden', () => {
    for (const isNeeded of [true, false])
      for (const folder of ['/root', '/home', '/']) {
        const { fix } = disk({ access: 'forbidden', isNeeded, folder });
        expect(fix).toMatch(/agent's user.*\/var\/lib\/dragoman/);
        expect(fix).not.toContain('chown');
      }
  });
});
