import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { readOptions, UsageError } from '../../scripts/deb/deb-options.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));

describe('build-deb', () => {
  it('explains a usage error', () => {
    const { status, stderr } = spawnSync('scripts/build-deb', ['--nonsense'], {
      cwd: ROOT,
      encoding: 'utf8',
    });
    expect({ status, stderr }).toEqual({
      status: 2,
      stderr: expect.stringMatching(/^build-deb: Unknown option '--nonsense'.*\n$/),
    });
  });

  it('names the missing program and its package before the build', () => {
    const words = ['scripts/build-deb.mjs', '--no-node', '--version', '1.0-1'];
    const { status, stderr } = spawnSync(process.execPath, words, {
      cwd: ROOT,
      encoding: 'utf8',
      env: { PATH: '/nowhere', SOURCE_DATE_EPOCH: '1700000000' },
    });
    expect({ status, stderr }).toEqual({
      status: 1,
      stderr: 'build-deb: dpkg-deb is missing: install the package dpkg\n',
    });
  });

  it.each([
    [['--arch', 'mips'], 'there is no Node.js for "mips" here'],
    [['--version', '1.0 rm'], '--version: "1.0 rm" is not a version'],
  ])('explains the usage error %j', (words, reason) => {
    const read = () => readOptions(words, ROOT);
    expect(read).toThrow(UsageError);
    expect(read).toThrow(reason);
  });
});
