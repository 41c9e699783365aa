import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isLasting } from '../../src/installer/survives-reboot.ts';
import { createSystem } from './system-folder.ts';

const [EXT4, TMPFS] = [0xef53, 0x01021994];
const mount = (at: string, type: string, options = 'rw') =>
  `36 35 0:31 / ${at} rw,noatime shared:1 - ${type} none ${options}`;
const overlay = (at: string, upper: string) =>
  mount(at, 'overlay', `rw,lowerdir=/,upperdir=${upper},workdir=/w`);
const kinds = (known: Record<string, number>) => (folder: string) => known[folder] ?? null;
const NONE = kinds({});

describe('files below /etc', () => {
  it.each([
    ['on a card', [mount('/', 'ext4')], NONE, true],
    ['on a card that is mounted separately', [mount('/', 'tmpfs'), mount('/etc', 'ext4')], NONE, true],
    ['in memory', [mount('/', 'ext4'), mount('/etc', 'tmpfs')], NONE, false],
    [
      'over a root in memory',
      [overlay('/', '/mnt/memory/upper')],
      kinds({ '/run/dragoman-image/memory/upper': TMPFS }),
      false,
    ],
    [
      'over the image, on its partition',
      [overlay('/', '/mnt/memory/upper'), overlay('/etc', '/mnt/data/etc')],
      kinds({ '/run/dragoman-image/data/etc': EXT4 }),
      true,
    ],
    [
      'over the image, in memory',
      [overlay('/', '/mnt/memory/upper'), overlay('/etc', '/mnt/data/etc')],
      kinds({ '/run/dragoman-image/data/etc': TMPFS }),
      false,
    ],
    ['in an overlay that cannot be found', [overlay('/', '/gone/upper')], NONE, false],
    ['in a read-only overlay', [mount('/', 'overlay', 'ro,lowerdir=/')], NONE, false],
    ['hidden by a later mount', [mount('/etc', 'tmpfs'), mount('/etc', 'ext4')], NONE, true],
    ['beside others', [mount('/', 'ext4'), mount('/etcetera', 'tmpfs'), mount('/run', 'tmpfs')], NONE, true],
    ['with no known mounts', ['', 'x'], NONE, true],
  ])('%s', (_, mounts, kindOf, expected) => {
    expect(isLasting(mounts.join('\n'), kindOf)).toBe(expected);
  });
});

it('reports a read-only card even without dragoman.json', () => {
  const system = createSystem();
  mkdirSync(join(system.root, 'run/dragoman-image'), { recursive: true });
  writeFileSync(join(system.root, 'run/dragoman-image/problems'), 'It can only be read.\n');
  expect(system.run().result.outcome).toBe('no_file');
  expect(system.read('dragoman-status.txt')).toContain('- The card: It can only be read.\r\n');
  system.remove();
});
