import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { BOOT_FOLDERS, reportFolder } from '../../src/installer/boot-folder.ts';

let root: string;
let places: string[];
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dragoman-places-'));
  places = BOOT_FOLDERS.map((place) => join(root, place));
  mkdirSync(join(root, 'boot/firmware'), { recursive: true });
  mkdirSync(join(root, 'evil'));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('the folder of the boot report', () => {
  it('is the folder of the settings, if that is a mount point of boot partitions', () => {
    expect(reportFolder(join(root, 'boot/dragoman.json'), places)).toBe(join(root, 'boot'));
    expect(reportFolder(join(root, 'boot/firmware/dragoman.json'), places)).toBe(join(root, 'boot/firmware'));
    expect(reportFolder(null, places)).toBe(join(root, 'boot/firmware'));
  });

  it.each([
    'evil/dragoman.json',
    'boot/../evil/dragoman.json',
    'boot/firmware/../../evil/x',
    'etc/shadow',
    '',
  ])('is never any other folder: %s', (file) => {
    expect(reportFolder(file === '' ? '' : `${root}/${file}`, places)).toBe(join(root, 'boot/firmware'));
  });

  it('is null without such a mount point', () => {
    rmSync(join(root, 'boot'), { recursive: true });
    expect(reportFolder(join(root, 'evil/dragoman.json'), places)).toBeNull();
    expect(reportFolder(join(root, 'boot/dragoman.json'), places)).toBeNull();
  });
});
