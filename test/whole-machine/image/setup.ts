import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { whatIsMissing } from '../../../scripts/image/tools.ts';
import { KINDS } from '../machine.ts';
import { whatOwnerLacks } from '../owner.ts';

const run = promisify(execFile);
const ROOT = fileURLToPath(new URL('../../../', import.meta.url));

/** The image, or the reason why it cannot be made here. */
export type Flashable =
  | { readonly missing: null; readonly image: string; readonly bundles: string }
  | { readonly missing: string };

declare module 'vitest' {
  interface ProvidedContext {
    flashable: Flashable;
  }
}

/** Makes the image like an owner; DRAGOMAN_IMAGE names a finished one. */
export default async function setup(project: TestProject): Promise<() => void> {
  const missing = lacking();
  if (missing !== null) {
    project.provide('flashable', { missing });
    return () => {};
  }
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-flashable-'));
  const forget = () => rmSync(folder, { recursive: true, force: true });
  try {
    const bundles = join(folder, 'dist');
    execFileSync(process.execPath, ['scripts/build.mjs', '--quiet', '--out', bundles], { cwd: ROOT });
    const image = process.env['DRAGOMAN_IMAGE'] ?? (await makeImage(folder));
    project.provide('flashable', { missing: null, image, bundles });
  } catch (error) {
    forget();
    throw error;
  }
  return forget;
}

async function makeImage(folder: string): Promise<string> {
  const [debs, out] = [join(folder, 'debs'), join(folder, 'image')];
  mkdirSync(debs);
  await run('scripts/build-deb', ['--no-node', '--out', debs], { cwd: ROOT });
  await run('scripts/build-image', ['--debs', debs, '--compress', 'none', '--out', out], { cwd: ROOT });
  return join(out, readdirSync(out).find((name) => name.endsWith('.img')) ?? '');
}

function lacking(): string | null {
  for (const [program, option, packageName] of [
    [KINDS.arm64.program, '--version', 'qemu-system-arm'],
    ['socat', '-V', 'socat'],
    ['ssh', '-V', 'openssh-client'],
  ] as const) {
    if (spawnSync(program, [option]).status !== 0) return `no ${program} (${packageName})`;
  }
  const given = process.env['DRAGOMAN_IMAGE'] === undefined ? null : 'given';
  return whatIsMissing({ root: given, compression: 'none' }) ?? whatOwnerLacks();
}
