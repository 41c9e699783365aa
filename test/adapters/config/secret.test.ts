import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readSecret } from '../../../src/adapters/config/secret.ts';

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
    expect(readSecret(put('password', content), {})).toEqual({ ok: true, secret });
  });

  it('is not taken from a file that everyone can read', () => {
    const result = readSecret(put('password', 'swordfish', 0o644), {});
    expect(result).toEqual({ ok: false, message: expect.stringContaining('chmod o-rwx') });
    expect(JSON.stringify(result)).not.toContain('swordfish');
    expect(readSecret(put('password', 'swordfish', 0o640), {}).ok).toBe(true);
  });

  it('with a bare name comes from the credentials directory first', () => {
    put('mqtt-password', 'credential', 0o400);
    const env = { CREDENTIALS_DIRECTORY: folder };
    expect(readSecret('mqtt-password', env)).toEqual({ ok: true, secret: 'credential' });
    expect(readSecret('other', env)).toEqual({ ok: false, message: 'the secret file other does not exist' });
    expect(readSecret('mqtt-password', {}).ok).toBe(false);
  });

  it('with a folder in its name never comes from the credentials directory', () => {
    mkdirSync(join(folder, 'sub'));
    put('sub/password', 'credential');
    expect(readSecret('sub/password', { CREDENTIALS_DIRECTORY: folder }).ok).toBe(false);
  });

  it.each([
    ['an empty file', () => put('empty', '\n'), 'is empty'],
    ['a huge file', () => put('huge', 'x'.repeat(70_000)), 'too large'],
    ['a folder', () => folder, 'can not be read (EISDIR)'],
  ])('is not %s', (_what, make, message) => {
    expect(readSecret(make(), {})).toEqual({ ok: false, message: expect.stringContaining(message) });
  });
});
