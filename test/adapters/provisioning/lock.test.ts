import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lock } from '../../../src/adapters/provisioning/lock.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dragoman-lock-'));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('provisioning', () => {
  const file = () => join(root, 'run/dragoman-provision.lock');

  it('is done by one at a time', () => {
    const unlock = lock(root);
    expect(lock(root)).toBe(null);
    unlock?.();
    expect(existsSync(file())).toBe(false);
    lock(root)?.();
  });

  it('goes on after one that was killed, and waits for one that begins', () => {
    mkdirSync(join(root, 'run'));
    const { pid } = spawnSync('true');
    writeFileSync(file(), String(pid));
    lock(root)?.();
    expect(existsSync(file())).toBe(false);
    writeFileSync(file(), '');
    expect(lock(root)).toBe(null);
  });

  it('says where it cannot be locked', () => {
    writeFileSync(join(root, 'run'), '');
    expect(() => lock(root)).toThrow(/EEXIST|ENOTDIR/);
  });
});
