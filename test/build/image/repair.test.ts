/** Tests the check of the data partition at each boot: runs the functions of the image on a file. */
import { execFileSync, spawnSync } from 'node:child_process';
import {
  closeSync,
  mkdtempSync,
  openSync,
  readSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { needs } from '../../needs.ts';

const SCRIPT = fileURLToPath(new URL('../../../scripts/image/system/mount-root', import.meta.url));
const env = { ...process.env, PATH: `${process.env['PATH']}:/usr/sbin:/sbin` };
const hasTools = ['mke2fs', 'e2fsck', 'debugfs'].every(
  (tool) => spawnSync(tool, ['-V'], { env }).status === 0,
);
const BLOCK = 4096;
/** Offset of the first copy of the superblock, and of the flag that the journal must be replayed. */
const COPY_AT = 32_768 * BLOCK;
const INCOMPATIBLE_AT = 0x60;
const NEEDS_RECOVERY = 4;

let folder: string;
let disk: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-repair-'));
  disk = join(folder, 'disk');
});
afterEach(() => rmSync(folder, { recursive: true }));

function make(): void {
  writeFileSync(disk, '');
  truncateSync(disk, 256 * 2 ** 20);
  // Without checksums, so that the test can change a byte.
  execFileSync('mke2fs', ['-q', '-F', '-t', 'ext4', '-b', String(BLOCK), '-O', '^metadata_csum', disk], {
    env,
  });
  writeFileSync(join(folder, 'kept'), 'what was set\n');
  execFileSync('debugfs', ['-w', '-R', `write ${join(folder, 'kept')} kept`, disk], { env, stdio: 'ignore' });
}

function overwrite(at: number, bytes: Uint8Array): void {
  const file = openSync(disk, 'r+');
  writeSync(file, bytes, 0, bytes.length, at);
  closeSync(file);
}

/** Sets the journal flag in the copy, as after the partition has grown while it was mounted. */
function markCopy(): void {
  const file = openSync(disk, 'r+');
  const flags = Buffer.alloc(4);
  readSync(file, flags, 0, 4, COPY_AT + INCOMPATIBLE_AT);
  flags.writeUInt32LE(flags.readUInt32LE() | NEEDS_RECOVERY);
  writeSync(file, flags, 0, 4, COPY_AT + INCOMPATIBLE_AT);
  closeSync(file);
}

function check(): { readonly code: number | null; readonly said: string } {
  const script = `RUN="$1"; data="../$2"
say() { echo "$*"; }
problem() { echo "$*"; }
eval "$(sed -nE '/^(kind_of_data|check_file_system|repair|make_file_system)\\(\\)/,/(^|; )\\}$/p' "$3")"
check_file_system`;
  const { status, stdout, stderr } = spawnSync('sh', ['-uc', script, 'sh', folder, disk, SCRIPT], {
    encoding: 'utf8',
    env,
  });
  return { code: status, said: stdout + stderr };
}
const kept = (): string => spawnSync('debugfs', ['-R', 'cat kept', disk], { encoding: 'utf8', env }).stdout;

describe('the data partition', needs(!hasTools && 'needs tools for disk images'), () => {
  it('is unchanged when it has no errors', () => {
    make();
    expect([check(), kept()]).toEqual([{ code: 0, said: '' }, 'what was set\n']);
  });

  it.each([
    ['of an unmounted file system', () => {}],
    ['of a file system that has grown, with the journal flag in the copy', markCopy],
  ])('is repaired and keeps its data when its beginning was destroyed, %s', (_, prepare) => {
    make();
    prepare();
    overwrite(0, Buffer.alloc(BLOCK));
    expect([check(), kept()]).toEqual([{ code: 0, said: '' }, 'what was set\n']);
    expect(spawnSync('e2fsck', ['-fn', disk], { env }).status).toBe(0);
  });

  it('is made again when nothing of it is left', () => {
    writeFileSync(disk, '');
    truncateSync(disk, 64 * 2 ** 20);
    expect(check()).toEqual({ code: 0, said: 'making the file system of the data partition\n' });
    expect(spawnSync('e2fsck', ['-fn', disk], { env }).status).toBe(0);
  });

  it('is not touched when it contains something else', () => {
    writeFileSync(disk, '');
    truncateSync(disk, 64 * 2 ** 20);
    execFileSync('mke2fs', ['-q', '-F', '-t', 'ext2', disk], { env });
    expect(check()).toEqual({ code: 1, said: expect.stringContaining('is not that of a kiosk') });
  });
});
