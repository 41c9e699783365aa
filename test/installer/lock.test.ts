import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { lock, whileStatusIsOurs } from '../../src/installer/lock.ts';

let root: string;
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'dragoman-lock-'));
});
afterEach(() => rmSync(root, { recursive: true }));

describe('provisioning', () => {
  const file = () => join(root, 'run/dragoman-provision.lock');

  it('runs one at a time', () => {
    const unlock = lock(root);
    expect(lock(root)).toBe(null);
    unlock?.();
    expect(existsSync(file())).toBe(false);
    lock(root)?.();
  });

  it('continues after a killed run, and respects one that is just starting', () => {
    mkdirSync(join(root, 'run'));
    const { pid } = spawnSync('true');
    writeFileSync(file(), String(pid));
    lock(root)?.();
    expect(existsSync(file())).toBe(false);
    writeFileSync(file(), '');
    expect(lock(root)).toBe(null);
  });

  it('reports when the lock cannot be written', () => {
    writeFileSync(join(root, 'run'), '');
    expect(() => lock(root)).toThrow(/EEXIST|ENOTDIR/);
  });
});

describe('the status file', () => {
  const file = () => join(root, 'status.lock');
  const isHeldWhileWriting = (): boolean => whileStatusIsOurs(root, () => existsSync(file()));

  it('is written by one process at a time, and unlocked afterwards', () => {
    expect(isHeldWhileWriting()).toBe(true);
    expect(existsSync(file())).toBe(false);
    expect(() =>
      whileStatusIsOurs(root, () => {
        throw new Error('full');
      }),
    ).toThrow('full');
    expect(existsSync(file())).toBe(false);
  });

  it('waits for another process', async ({ skip }) => {
    const released = join(root, 'released');
    const script = `const fs = require('fs'); const [file, released] = process.argv.slice(1);
      fs.writeFileSync(file, String(process.pid)); process.stdout.write('x');
      setTimeout(() => { fs.writeFileSync(released, ''); fs.rmSync(file); }, 300);`;
    const words = ['-e', script, file(), released];
    const other = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
    await once(other.stdout, 'data');
    // This process may notice the release late.
    const began = performance.now();
    const wasReleased = whileStatusIsOurs(root, () => existsSync(released));
    const waitedMs = performance.now() - began;
    await once(other, 'exit');
    // A longer lock is ignored: the other process was meant to hold it for 300 ms.
    skip(!wasReleased && waitedMs > 2900, 'the machine was too busy for the other process');
    expect(wasReleased).toBe(true);
  });

  it.each([
    ['forever', () => writeFileSync(file(), String(process.pid))],
    ['by a folder', () => mkdirSync(file())],
    ['by a pipe', () => spawnSync('mkfifo', [file()])],
  ])('is written even when it is locked %s', (_, hold) => {
    hold();
    expect(whileStatusIsOurs(root, () => 'written')).toBe('written');
    expect(existsSync(file())).toBe(true);
  });

  it('is written after a killed run, and without a folder for the lock', () => {
    writeFileSync(file(), String(spawnSync('true').pid));
    expect(isHeldWhileWriting()).toBe(true);
    expect(whileStatusIsOurs(join(root, 'none'), () => 'written')).toBe('written');
  });
});
