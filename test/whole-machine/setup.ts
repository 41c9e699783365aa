import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import type { TestProject } from 'vitest/node';
import { openRunFolder } from '../setup/run-folder.ts';
import { ARCHITECTURES, type Architecture, type Hardware, KINDS, switchOn } from './machine.ts';
import { whatOwnerLacks } from './owner.ts';
import { isAboutTime } from './slowness.ts';
import { makeTones } from './tones.ts';

const run = promisify(execFile);
/** Source of the machine's hardware, which a saved state must match. */
const MACHINE = fileURLToPath(new URL('machine.ts', import.meta.url));
export const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** Fixed size of the parcel (bytes): the machine knows it from before its state was saved. */
export const PARCEL_BYTES = 160 * 2 ** 20;
export const [VERSION, NEXT_VERSION] = ['1.0.0-1', '1.1.0-1'];
export const SOUND_S = 60;
export const NO_END_S = 1e9;
const OWN_ARCHITECTURE = process.arch === 'x64' ? 'amd64' : process.arch;

/** The parts of a machine, or the reason why there can be none here. */
export type Testbed =
  | {
      readonly suite: string;
      readonly missing: null;
      /** Time by `Date.now()` after which no scenario starts. */
      readonly endsAt: number;
      readonly bundles: string;
      readonly hardware: Omit<Hardware, 'ports'>;
    }
  | { readonly suite: string; readonly missing: string };

declare module 'vitest' {
  interface ProvidedContext {
    testbed: Testbed;
  }
}

/** Makes the image, its saved state after booting, and the parcel, once for a project. The project has the name of its Debian. */
export default async function setup(project: TestProject): Promise<() => void> {
  openRunFolder();
  const { suite, architecture } = whatIsAsked(project.name);
  const missing = whatIsMissing(architecture);
  if (missing !== null) {
    project.provide('testbed', { suite: project.name, missing });
    return () => {};
  }
  const folder = mkdtempSync(join(tmpdir(), 'dragoman-device-'));
  const forget = () => rmSync(folder, { recursive: true, force: true });
  try {
    const { stdout } = await run('scripts/device-image.sh', [suite, architecture], { cwd: ROOT });
    const image = stdout.trim();
    const bundles = join(folder, 'dist');
    execFileSync(process.execPath, ['scripts/build.mjs', '--quiet', '--out', bundles], { cwd: ROOT });
    const parcel = await pack(folder, architecture);
    const parts = { architecture, kernel: join(image, 'vmlinuz'), initrd: join(image, 'initrd'), parcel };
    const booted = await bootOnce(image, folder, parts).catch((error) => {
      if (isAboutTime(error)) return null;
      throw error;
    });
    if (booted === null) {
      project.provide('testbed', { suite: project.name, missing: 'this machine is too slow to boot it' });
      return forget;
    }
    const disk = join(folder, 'disk.qcow2');
    copyFileSync(booted, disk);
    project.provide('testbed', {
      suite: project.name,
      missing: null,
      endsAt: Date.now() + (Number(process.env['DRAGOMAN_DEVICE_TIME_S']) || NO_END_S) * 1000,
      bundles,
      hardware: { ...parts, disk },
    });
  } catch (error) {
    forget();
    throw error;
  }
  return forget;
}

/** "trixie", or "trixie-arm64". */
function whatIsAsked(name: string): { suite: string; architecture: Architecture } {
  const [suite = '', given = 'amd64'] = name.split('-');
  const architecture = ARCHITECTURES.find((one) => one === given);
  if (architecture === undefined) throw new Error(`there is no machine for ${name}`);
  return { suite, architecture };
}

export function whatIsMissing(architecture: Architecture): string | null {
  if (process.getuid?.() !== 0) return 'not root';
  for (const [program, option, packageName] of [
    [
      KINDS[architecture].program,
      '--version',
      architecture === 'arm64' ? 'qemu-system-arm' : 'qemu-system-x86',
    ],
    ['qemu-img', '--version', 'qemu-utils'],
    ['mmdebstrap', '--version', 'mmdebstrap'],
    ['socat', '-V', 'socat'],
  ] as const) {
    if (spawnSync(program, [option]).status !== 0) return `no ${program} (${packageName})`;
  }
  // Configuring its packages runs programs of that architecture.
  const runs = spawnSync('arch-test', [architecture]).status === 0;
  if (!runs && architecture !== OWN_ARCHITECTURE)
    return `programs of ${architecture} do not run here (qemu-user-static, arch-test, binfmt-support; then update-binfmts --enable)`;
  return whatOwnerLacks();
}

/**
 * Packs the files that an owner copies to the device, and a recording, into a tar that is used as a disk.
 * @param more adds further files to the folder
 */
export async function pack(
  folder: string,
  architecture: Architecture,
  more: (goods: string) => Promise<void> = async () => {},
): Promise<string> {
  const goods = join(folder, 'goods');
  mkdirSync(join(goods, 'next'), { recursive: true });
  const make = (version: string, out: string, ...more: string[]) =>
    run('scripts/build-deb', ['--version', version, '--out', out, ...more], { cwd: ROOT });
  await make(VERSION, goods, '--arch', architecture);
  await make(NEXT_VERSION, join(goods, 'next'), '--no-node');
  copyFileSync(join(ROOT, 'scripts/install'), join(goods, 'install'));
  const tones = makeTones(SOUND_S);
  writeFileSync(join(goods, 'tones.raw'), new Uint8Array(tones.buffer, tones.byteOffset, tones.byteLength));
  await more(goods);
  const parcel = join(folder, 'parcel.tar');
  execFileSync('tar', ['-cf', parcel, '-C', goods, '.']);
  truncateSync(parcel, PARCEL_BYTES);
  return parcel;
}

/** Makes the disk with the saved state "booted". It is kept beside the image for later runs with this QEMU. */
async function bootOnce(
  image: string,
  folder: string,
  parts: Omit<Hardware, 'ports' | 'disk'>,
): Promise<string> {
  const version = execFileSync(KINDS[parts.architecture].program, ['--version']).toString();
  const made = createHash('sha256')
    .update(version)
    .update(String(PARCEL_BYTES))
    .update(readFileSync(MACHINE));
  const kept = join(image, `booted-${made.digest('hex').slice(0, 8)}.qcow2`);
  if (existsSync(kept)) return kept;
  const draft = join(folder, 'booting.qcow2');
  execFileSync('qemu-img', [
    'create',
    '-q',
    '-f',
    'qcow2',
    '-b',
    join(image, 'root.img'),
    '-F',
    'raw',
    draft,
  ]);
  const machine = await switchOn({ ...parts, disk: draft, ports: {} });
  try {
    // Waits for the writes of the first boot.
    await machine.must(['sync']);
    await machine.save('booted');
  } finally {
    await machine.stop();
  }
  copyFileSync(draft, `${kept}.draft`);
  renameSync(`${kept}.draft`, kept);
  return kept;
}
