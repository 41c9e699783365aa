import { execFile } from 'node:child_process';
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { whatIsMissing } from '../../../scripts/image/tools.ts';

const run = promisify(execFile);
export const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
export const BUILD = join(ROOT, 'scripts/build-image.mjs');
export const missing = whatIsMissing({ root: 'given', compression: 'xz' });
export const EPOCH = 1_790_000_000;
export const env = {
  ...process.env,
  SOURCE_DATE_EPOCH: String(EPOCH),
  PATH: `${process.env['PATH']}:/usr/sbin:/sbin`,
};
export const NAME = /^dragoman-.*-trixie-arm64\.img$/;

/** Builds an image of this root in `out`. @returns the result of the program */
export const buildImage = (root: string, out: string, ...words: string[]) =>
  run(process.execPath, [BUILD, '--root', root, '--out', out, ...words], { env });

export const imageIn = (out: string): string =>
  join(out, readdirSync(out).find((name) => NAME.test(name)) ?? '');
