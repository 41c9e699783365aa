import { mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { programs } from '../../../scripts/image/child-programs.ts';
import { makeImage } from '../../../scripts/image/image.ts';
import { readOptions } from '../../../scripts/image/image-options.ts';
import { keptSteps } from '../../../scripts/image/kept-steps.ts';
import { ownPackages } from '../../../scripts/image/own-packages.ts';
import type { Steps } from '../../../scripts/steps.ts';
import { ROOT } from './made-image.ts';
import { writeSmallPackage } from './small-package.ts';

let folder = '';
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-own-packages-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

describe('the packages in the image', () => {
  const makes = (...words: string[]): Promise<void> => {
    const options = readOptions(words, ROOT);
    if (options === null) throw new Error('no options');
    const steps: Steps = { tell() {}, step: async (_name, work) => void (await work()) };
    const ignore = (): void => {};
    return makeImage({ options, sources: ROOT, draft: folder, run: programs(ignore, ignore, {}), steps });
  };

  it('asks for the package dragoman-screen when it is missing', async () => {
    const debs = join(folder, 'debs-without-screen');
    mkdirSync(debs);
    writeFileSync(join(debs, 'dragoman_1.0.0-1_all.deb'), '');
    await expect(makes('--screen', '--debs', debs)).rejects.toThrow(
      /there must be one file like dragoman-screen_/,
    );
  });

  it('takes the keyring beside the packages of the folder', async () => {
    const [draft, debs] = [join(folder, 'debs-draft'), join(folder, 'debs-with-backend')];
    for (const one of [draft, debs]) mkdirSync(one);
    const keyring = join(folder, 'dragoman-archive-keyring_1.0.0-1_all.deb');
    writeSmallPackage(keyring, 'dragoman-archive-keyring');
    for (const name of ['dragoman_1.0.0-1_all.deb', 'dragoman-backend_1.0.0-1_all.deb'])
      writeFileSync(join(debs, name), name);
    const options = readOptions(['--debs', debs, '--keyring', keyring], ROOT);
    if (options === null) throw new Error('no options');
    const [steps, ignore] = [
      { tell() {}, step: () => Promise.reject(new Error('nothing is made')) },
      () => {},
    ];
    const job = { options, sources: ROOT, draft, run: programs(ignore, ignore, {}), steps };
    const digests = await ownPackages(job, keptSteps(steps, false));
    expect(readdirSync(join(draft, 'debs')).sort()).toEqual([basename(keyring), 'dragoman_1.0.0-1_all.deb']);
    expect(new Set(digests).size).toBe(2);
  });

  it('refuses another file in place of the keyring, before it makes anything', async () => {
    const other = join(folder, 'other.deb');
    writeSmallPackage(other, 'dragoman');
    for (const file of [other, join(folder, 'missing.deb'), folder])
      await expect(makes('--keyring', file)).rejects.toThrow(
        `--keyring: ${file} is not the package dragoman-archive-keyring; "scripts/release build --keys" makes it`,
      );
  });
});
