import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';

const SCRIPT = fileURLToPath(new URL('../../scripts/install', import.meta.url));
const isDebian = spawnSync('dpkg', ['--version']).status === 0;
const folder = mkdtempSync(join(tmpdir(), 'dragoman-install-'));
afterAll(() => rmSync(folder, { recursive: true }));

const install = (...words: string[]) => spawnSync(SCRIPT, ['--dry-run', ...words], { encoding: 'utf8' });

describe('scripts/install', () => {
  it.each([
    [['--purge'], 2, '--purge belongs to --uninstall'],
    [['--nonsense'], 2, 'there is no option --nonsense'],
    [['none.deb'], 1, 'there is no package none.deb'],
    [['--uninstall', SCRIPT], 2, '--uninstall takes no packages'],
  ])('refuses %j with a reason', needs(!isDebian && 'needs apt'), (words, code, reason) => {
    const { status, stdout, stderr } = install(...words);
    expect({ status, stdout, stderr }).toEqual({
      status: code,
      stdout: '',
      stderr: expect.stringContaining(reason),
    });
  });

  it(
    'refuses packages of others, packages for another machine, and files that are not packages',
    needs(!isDebian && 'needs apt'),
    () => {
      const file = join(folder, 'none.deb');
      writeFileSync(file, 'nothing');
      expect(install(file)).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('is not a Debian package'),
      });
      expect(install(make('busybox', 'all'))).toMatchObject({
        status: 1,
        stderr: expect.stringContaining("is busybox, which is none of Dragoman's packages"),
      });
      expect(install(make('dragoman-node', 's390x'))).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('is for s390x'),
      });
    },
  );

  it(
    'leaves out packages for another machine when others are for this one',
    needs(!isDebian && 'needs apt'),
    () => {
      const [fits, foreign] = [make('dragoman-backend', 'all'), make('dragoman-node', 's390x')];
      const { stdout } = install(fits, foreign);
      expect(stdout).toContain(`left out: ${foreign} is for s390x`);
    },
  );

  it(
    'refuses two versions of a package, because each run would install the other one',
    needs(!isDebian && 'needs apt'),
    () => {
      const [first, second] = [make('dragoman', 'all'), make('dragoman', 'all', '2-1')];
      const { status, stderr } = install(first, second);
      expect({ status, stderr }).toEqual({
        status: 1,
        stderr: expect.stringContaining(`${second} is a second package of dragoman`),
      });
    },
  );
});

/** Makes an empty package. */
function make(name: string, architecture: string, version = '1-1'): string {
  const place = join(folder, `${name}-${version}`);
  const control = `Package: ${name}\nVersion: ${version}\nArchitecture: ${architecture}\nMaintainer: nobody\nDescription: none\n`;
  spawnSync('mkdir', ['-p', join(place, 'DEBIAN')]);
  writeFileSync(join(place, 'DEBIAN/control'), control);
  expect(spawnSync('dpkg-deb', ['--build', place, `${place}.deb`]).status).toBe(0);
  return `${place}.deb`;
}
