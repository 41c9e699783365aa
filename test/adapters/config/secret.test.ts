import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readKey, readPassword, readSecret } from '../../../src/adapters/config/secret.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-secret-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function put(name: string, content: string, mode = 0o600): string {
  const file = join(folder, name);
  writeFileSync(file, content);
  chmodSync(file, mode);
  return file;
}

describe('a secret', () => {
  it.each([
    ['swordfish\n', 'swordfish'],
    ['swordfish\r\n', 'swordfish'],
    ['two\nlines\n\n', 'two\nlines\n'],
    [' blanks count ', ' blanks count '],
  ])('%j is read without the newline at its end', (content, secret) => {
    expect(readSecret(put('password', content), {})).toMatchObject({ ok: true, secret });
  });

  it('is refused in a file that everyone can read', () => {
    const result = readSecret(put('password', 'swordfish', 0o644), {});
    expect(result).toEqual({ ok: false, message: expect.stringContaining('chmod o-rwx') });
    expect(JSON.stringify(result)).not.toContain('swordfish');
    expect(readSecret(put('password', 'swordfish', 0o640), {}).ok).toBe(true);
  });

  it('comes from the credentials directory first when its name has no folder', () => {
    put('mqtt-password', 'credential', 0o400);
    const env = { CREDENTIALS_DIRECTORY: folder };
    expect(readSecret('mqtt-password', env)).toEqual({ ok: true, secret: 'credential' });
    expect(readSecret('other', env)).toEqual({ ok: false, message: 'the secret file other does not exist' });
    expect(readSecret('mqtt-password', {}).ok).toBe(false);
  });

  it('never comes from the credentials directory when its name has a folder', () => {
    mkdirSync(join(folder, 'sub'));
    put('sub/password', 'credential');
    expect(readSecret('sub/password', { CREDENTIALS_DIRECTORY: folder }).ok).toBe(false);
  });

  it.each([
    ['an empty file', () => put('empty', '\n'), 'is empty'],
    ['a huge file', () => put('huge', 'x'.repeat(70_000)), 'larger than 64 kB'],
    ['a folder', () => folder, 'cannot be read: it is a folder'],
  ])('is not %s', (_what, make, message) => {
    expect(readSecret(make(), {})).toEqual({ ok: false, message: expect.stringContaining(message) });
  });

  it('is not read from a device or a pipe', () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', ['-m', '600', pipe]);
    for (const file of ['/dev/zero', pipe]) {
      expect(readSecret(file, {})).toEqual({
        ok: false,
        message: expect.stringContaining('it is not a regular file'),
      });
    }
  });
});

describe('a password and a key', () => {
  it.each([
    ['two lines', 'sword\nfish'],
    ['a NUL', 'sword\0fish'],
    ['a tab', 'sword\tfish'],
    ['a newline too many', 'swordfish\n\n'],
  ])('are refused with %s; the message names the file and not its content', (_what, content) => {
    const file = put('password', content);
    for (const read of [readPassword, readKey]) {
      const result = read(file, {});
      expect(result).toEqual({ ok: false, message: expect.stringContaining(file) });
      expect(JSON.stringify(result)).not.toContain('fish');
    }
  });

  it('differ: only a password may hold blanks and any letter', () => {
    const file = put('password', 'Schwert fisch äöü\n');
    expect(readPassword(file, {})).toEqual({ ok: true, secret: 'Schwert fisch äöü' });
    expect(readKey(file, {}).ok).toBe(false);
    expect(readKey(put('key', 'sk-1234_x.y\n'), {})).toEqual({ ok: true, secret: 'sk-1234_x.y' });
  });
});
