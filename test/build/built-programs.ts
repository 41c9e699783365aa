import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { placeBundles } from '../bundles.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const PROGRAMS = {
  dragoman: 'dragoman',
  backend: 'dragoman-backend',
  emulator: 'dragoman-emulator',
} as const;
export type Bundle = keyof typeof PROGRAMS;
export const BUNDLES = Object.keys(PROGRAMS) as Bundle[];

/** Runs a bundle of this folder until it ends. */
export function runBundle(folder: string, bundle: Bundle, ...words: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [join(folder, `${bundle}.mjs`), ...words], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: process.env['PATH'] },
  });
  return { status, stdout, stderr };
}

/** Makes a folder outside of the project, where a bundle finds no packages. */
function inFolder(): () => string {
  let folder = '';
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-build-'));
    await placeBundles(folder);
  });
  afterAll(() => rmSync(folder, { recursive: true }));
  return () => folder;
}

/** Tests that these bundles start. */
export function describeStarts(bundles: readonly Bundle[]): void {
  describe.each(bundles)('the program %s', (bundle) => {
    const folder = inFolder();

    it('prints its version', () => {
      const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
      expect(runBundle(folder(), bundle, '--version').stdout.trim()).toBe(version);
    });
  });
}

/** Tests the messages of these bundles for people who run them by hand. */
export function describePrograms(bundles: readonly Bundle[]): void {
  describe.each(bundles)('the program %s', (bundle) => {
    const folder = inFolder();
    const run = (...words: string[]) => runBundle(folder(), bundle, ...words);

    it('prints help for itself and its verbs', () => {
      const { status, stdout, stderr } = run('--help');
      expect({ status, stderr }).toEqual({ status: 0, stderr: '' });
      expect(stdout).toContain(`Usage: ${PROGRAMS[bundle]}`);
      const verb = run('run', '--help');
      expect(verb.status).toBe(0);
      expect(verb.stdout).toContain(`Usage: ${PROGRAMS[bundle]} run`);
    });

    it('explains a usage error in one sentence and exits with 2', () => {
      const { status, stdout, stderr } = run('run', '--no-such-option');
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(new RegExp(`^${PROGRAMS[bundle]}: [^\\n]+ --help"\\.?\\n$`));
    });

    it('prints what to install, before anything else, when Node is too old', () => {
      const old = join(folder(), 'old-node.cjs');
      const pretend = "Object.defineProperty(process.versions, 'node', { value: '18.20.8' });";
      writeFileSync(old, pretend);
      const { status, stdout, stderr } = spawnSync(
        process.execPath,
        ['-r', old, join(folder(), `${bundle}.mjs`), 'run'],
        {
          encoding: 'utf8',
        },
      );
      expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
      expect(stderr).toMatch(
        new RegExp(
          `^${PROGRAMS[bundle]}: this needs Node.js 20.12 or newer, and [^\\n]+ 18.20.8. Install [^\\n]+\\n$`,
        ),
      );
    });
  });
}
