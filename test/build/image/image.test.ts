import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import {
  chmodSync,
  closeSync,
  createReadStream,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { screenPackage } from '../../../scripts/deb/screen-package.ts';
import { EXAMPLE, README } from '../../../scripts/image/boot-partition.ts';
import { programs, StoppedError } from '../../../scripts/image/child-programs.ts';
import { rootWords } from '../../../scripts/image/debian-root.ts';
import { makeImage } from '../../../scripts/image/image.ts';
import { type Options, readOptions, UsageError } from '../../../scripts/image/image-options.ts';
import { whatIsMissing } from '../../../scripts/image/tools.ts';
import type { Steps } from '../../../scripts/steps.ts';
import { readDocument } from '../../../src/installer/document.ts';
import { isAlive } from '../../adapters/audio/child/fake-programs.ts';
import { needs } from '../../needs.ts';
import { FIRMWARE, makeFakeRoot } from './fake-root.ts';
import { BUILD, buildImage, EPOCH, env, imageIn, missing, ROOT } from './made-image.ts';

const MIB = 2 ** 20;
const SECTOR = 512;
/** Length of the beginning of the boot partition that contains all its files (bytes). */
const BOOT_USED = 16 * MIB;

let folder = '';
let image = '';
let said = '';
/** The first sector, with the partition table. */
let table: Buffer;
let parts: { type: number; start: number; size: number }[] = [];

const debian = () => join(folder, 'debian');
const bytesOf = (file: string, from: number, length: number): Buffer => {
  const bytes = Buffer.alloc(length);
  const descriptor = openSync(file, 'r');
  try {
    readSync(descriptor, bytes, 0, length, from);
    return bytes;
  } finally {
    closeSync(descriptor);
  }
};
const mtools = (...words: string[]) => execFileSync(words[0] ?? '', words.slice(1), { env }).toString();
const onBoot = () => `${image}@@${parts[0]?.start}`;
/** A partition in the notation of e2fsprogs, which avoids a copy of half a gigabyte. */
const partition = (number: number) => `${image}?offset=${parts[number - 1]?.start}`;
/** The answer of debugfs to a question about a partition, such as the content of a file. */
const ask = (number: number, question: string) =>
  execFileSync('debugfs', ['-R', question, partition(number)], {
    env,
    stdio: ['ignore', 'pipe', 'ignore'],
  }).toString();

beforeAll(async () => {
  if (missing !== null) return;
  folder = mkdtempSync(join(tmpdir(), 'dragoman-image-test-'));
  makeFakeRoot(debian());
  const { stdout } = await buildImage(debian(), join(folder, 'out'), '--compress', 'none');
  said = stdout;
  image = imageIn(join(folder, 'out'));
  table = bytesOf(image, 0, SECTOR);
  parts = [446, 462, 478, 494].flatMap((at) => {
    const [type, start, size] = [table[at + 4] ?? 0, table.readUInt32LE(at + 8), table.readUInt32LE(at + 12)];
    return type === 0 ? [] : [{ type, start: start * SECTOR, size: size * SECTOR }];
  });
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('an image of a tiny root', needs(missing), () => {
  it('has three partitions without gaps, each at a multiple of 4 MiB', () => {
    expect(table.readUInt16LE(510)).toBe(0xaa55);
    expect(parts.map(({ type }) => type)).toEqual([0x0c, 0x83, 0x83]);
    let end = 4 * MIB;
    for (const { start, size } of parts) {
      expect(start).toBe(end);
      expect(start % (4 * MIB)).toBe(0);
      end = start + size;
    }
    expect(statSync(image).size).toBe(end);
  });

  it('starts from a FAT with firmware, device trees, kernel, initrd and a README', () => {
    const names = mtools('mdir', '-b', '-i', onBoot(), '::').trim().split('\n');
    expect(names.map((name) => name.replace('::/', '')).sort()).toEqual(
      [
        ...FIRMWARE,
        'bcm2711-rpi-4-b.dtb',
        'bcm2837-rpi-3-b.dtb',
        'vmlinuz',
        'initrd.img',
        'config.txt',
        'cmdline.txt',
        'README.txt',
        'dragoman.json.example',
        'LICENCE.broadcom',
      ].sort(),
    );
    expect(mtools('mtype', '-i', onBoot(), '::vmlinuz')).toBe('kernel 6.12.1-arm64');
    expect(mtools('mtype', '-i', onBoot(), '::config.txt')).toContain(
      'kernel=vmlinuz\ninitramfs initrd.img\n',
    );
  });

  it('finds its partitions by the signature in the table, independent of the name of the card', () => {
    const signature = table.readUInt32LE(440).toString(16).padStart(8, '0');
    const words = mtools('mtype', '-i', onBoot(), '::cmdline.txt').trim().split(' ');
    expect(words).toEqual(
      expect.arrayContaining([
        `root=PARTUUID=${signature}-02`,
        'ro',
        'boot=dragoman',
        'cgroup_enable=memory',
      ]),
    );
    expect(words).not.toContain('rw');
    expect(ask(2, 'cat /etc/fstab')).toMatch(
      new RegExp(`^PARTUUID=${signature}-01 /boot/firmware vfat `, 'm'),
    );
  });

  it('adds the mount script to the initrd', () => {
    const initrd = join(folder, 'initrd');
    mtools('mcopy', '-o', '-i', onBoot(), '::initrd.img', initrd);
    const bytes = readFileSync(initrd);
    expect(bytes.subarray(0, 17).toString()).toBe('initrd of Debian.');
    const begin = bytes.indexOf('070701');
    expect(begin % 4).toBe(0);
    // Fields of the format "newc" have eight hexadecimal digits each.
    const field = (index: number) =>
      Number.parseInt(bytes.toString('latin1', begin + 6 + 8 * index, begin + 14 + 8 * index), 16);
    const [fileSize, nameSize] = [field(6), field(11)];
    expect(bytes.toString('latin1', begin + 110, begin + 110 + nameSize)).toBe('scripts/dragoman\0');
    const at = begin + Math.ceil((110 + nameSize) / 4) * 4;
    expect(bytes.toString('utf8', at, at + fileSize)).toBe(
      readFileSync(join(ROOT, 'scripts/image/system/initramfs-mount'), 'utf8'),
    );
    expect(bytes.toString('latin1')).toMatch(/TRAILER!!!\0*$/);
  });

  it('has a root without keys, logs and boot files, and with the units of a kiosk', () => {
    expect(ask(2, 'ls /boot')).not.toMatch(/vmlinuz|initrd/);
    expect(ask(2, 'ls /etc/ssh')).not.toContain('ssh_host');
    expect(ask(2, 'ls /var/log')).not.toContain('dpkg.log');
    expect(ask(2, 'cat /etc/machine-id')).toBe('');
    expect(ask(2, 'cat /etc/systemd/journald.conf.d/memory.conf')).toContain('Storage=volatile');
    expect(ask(2, 'cat /etc/systemd/system.conf.d/watchdog.conf')).toContain('RuntimeWatchdogSec=14');
    expect(ask(2, 'cat /etc/systemd/resolved.conf.d/multicast-dns.conf')).toContain('MulticastDNS=resolve');
    expect(ask(2, 'cat /etc/ssh/sshd_config.d/kiosk.conf')).toContain('PasswordAuthentication no');
    expect(ask(2, 'stat /usr/lib/dragoman-image/mount-root')).toMatch(/Mode:\s+0755/);
    expect(ask(2, 'stats')).not.toContain('has_journal');
    expect(ask(3, 'stats')).toContain('has_journal');
  });

  it('matches its checksum, and prints each step in 80 columns', async () => {
    const hash = createHash('sha256');
    for await (const part of createReadStream(image)) hash.update(part as Buffer);
    // The format of sha256sum; the long test runs sha256sum itself.
    expect(readFileSync(`${image}.sha256`, 'utf8')).toBe(`${hash.digest('hex')}  ${basename(image)}\n`);
    const [preface = '', steps = ''] = said.split('\n\n');
    expect(preface).toMatch(/^This takes about .*\n(?:.*\n)*Log: .*build-image\.log$/);
    const lines = steps.trimEnd().split('\n');
    expect(lines.at(-1)).toBe(image);
    for (const line of lines.slice(0, -1)) expect(line).toMatch(/^(?=.{79}$).* \d+\.\d s$/);
    // The build has changed inode times and checksums itself.
    expect(execFileSync('e2fsck', ['-fn', partition(2)], { env }).toString()).toContain('dragoman-root: ');
  });

  /** The long test makes the whole image twice, and compares all bytes. */
  it('has the same boot and root partitions when it is built again', async () => {
    const draft = join(folder, 'again');
    mkdirSync(draft);
    const { version } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8')) as { version: string };
    const options: Options = {
      out: draft,
      suite: 'trixie',
      debs: null,
      keyring: null,
      root: debian(),
      version,
      epoch: EPOCH,
      hasScreen: false,
      hasPrivateNode: false,
      compression: 'none',
      isFresh: false,
    };
    const steps: Steps = {
      tell() {},
      step: async (name, work) =>
        name === 'Image' ? Promise.reject(new StoppedError()) : void (await work()),
    };
    const run = programs(
      () => {},
      () => {},
      { PATH: env.PATH },
    );
    const job = { options, sources: ROOT, draft, run, steps };
    await expect(makeImage(job)).rejects.toThrow(StoppedError);
    const [boot, root] = [parts[0], parts[1]].map((part) => part ?? { start: 0, size: 0 });
    const used = bytesOf(image, boot?.start ?? 0, BOOT_USED);
    expect(used.includes('kernel=vmlinuz')).toBe(true);
    expect(used.equals(bytesOf(join(draft, 'partitions/boot.img'), 0, BOOT_USED))).toBe(true);
    const size = statSync(join(draft, 'partitions/root.img')).size;
    expect(size).toBe(root?.size);
    expect(
      bytesOf(image, root?.start ?? 0, size).equals(readFileSync(join(draft, 'partitions/root.img'))),
    ).toBe(true);
  });
});

it('includes a valid example of dragoman.json, and a README in 80 columns', () => {
  expect(readDocument(EXAMPLE)).toMatchObject({ ok: true });
  for (const line of README.split('\n')) expect(line.length).toBeLessThan(80);
});

describe('build-image', needs(missing), () => {
  const fails = async (...words: string[]) =>
    buildImage(debian(), join(folder, 'none'), ...words).then(
      () => ({ code: 0, stderr: '' }),
      ({ code, stderr }: { code: number; stderr: string }) => ({ code, stderr }),
    );

  it('explains a usage error in one sentence', async () => {
    const { code, stderr } = await fails('--suite', 'bookworm');
    expect(code).toBe(2);
    expect(stderr).toMatch(/^build-image: .*there is no image of "bookworm".*\n$/);
  });

  it.each([
    [['--compress', 'rar'], '"rar" must be one of xz, zstd, none'],
    [['--outt', 'x'], '--outt'],
    [['--root', 'x', '--keyring', 'x'], 'nothing is installed in the folder of --root'],
  ])('explains the usage error %j', (words, sentence) => {
    const read = () => readOptions(words, ROOT);
    expect(read).toThrow(UsageError);
    expect(read).toThrow(sentence);
  });

  it('installs what the package dragoman-screen needs when the image has a screen', () => {
    expect(readOptions(['--screen'], ROOT)).toMatchObject({ hasScreen: true });
    expect(readOptions([], ROOT)).toMatchObject({ hasScreen: false });
    const included = (hasScreen: boolean): string[] =>
      (rootWords(hasScreen, []).find((word) => word.startsWith('--include=')) ?? '').slice(10).split(',');
    const source = {
      root: ROOT,
      bundles: '',
      phrases: '',
      version: '1.0.0',
      changedAt: 0,
      help: () => [],
    };
    const { depends, recommends = '' } = screenPackage(source);
    const needed = `${depends}, ${recommends}`.split(', ').filter((name) => !name.startsWith('dragoman'));
    expect(included(true)).toEqual(expect.arrayContaining(needed));
    expect(included(false)).not.toContain('chromium');
    // The two Debians are kept side by side.
    expect(rootWords(true, [])).toContainEqual(expect.stringMatching(/path-exclude=.*NotoSerifCJK/));
  });

  it('names each missing program and its package', () => {
    expect(whatIsMissing({ root: 'given', compression: 'zstd' }, [])).toBe(
      'mke2fs, mformat, mcopy, tar, zstd are missing: apt install e2fsprogs mtools tar zstd',
    );
  });

  it(
    'fails at once when programs for another processor cannot run',
    needs(process.getuid?.() !== 0 && 'needs root'),
    () => {
      const tools = join(folder, 'all-tools');
      mkdirSync(tools);
      const give = (name: string, code: number) =>
        writeFileSync(join(tools, name), `#!/bin/sh\nexit ${code}\n`, { mode: 0o755 });
      for (const name of ['mke2fs', 'mformat', 'mcopy', 'tar', 'mmdebstrap', 'dpkg-deb']) give(name, 0);
      give('arch-test', 1);
      const ask = () => whatIsMissing({ root: null, compression: 'none' }, [tools, '/bin']);
      expect(ask()).toMatch(/^programs for arm64 cannot run here: .*update-binfmts --enable qemu-aarch64/);
      give('arch-test', 0);
      expect(ask()).toBeNull();
    },
  );

  it('refuses a root with two kernels', async () => {
    const two = join(folder, 'two');
    makeFakeRoot(two, ['6.12.1-arm64', '6.12.2-arm64']);
    const { code, stderr } = await fails('--root', two);
    expect(code).toBe(1);
    expect(stderr).toContain('there must be one kernel');
  });

  it('ends with all its child programs and leaves no files when interrupted by Ctrl-C', async () => {
    const [tools, temporary, out] = ['tools', 'temporary', 'stopped'].map((name) => join(folder, name));
    for (const one of [tools, temporary, out]) mkdirSync(one ?? '');
    writeFileSync(join(tools ?? '', 'mke2fs'), `#!/bin/sh\necho $$ >${folder}/pid\nexec sleep 300\n`);
    chmodSync(join(tools ?? '', 'mke2fs'), 0o755);
    const child = spawn(process.execPath, [BUILD, '--root', debian(), '--out', out ?? ''], {
      env: { ...env, PATH: `${tools}:${env.PATH}`, TMPDIR: temporary },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const gone = once(child, 'exit');
    child.stdout.resume();
    const started = (): string => {
      const file = join(folder, 'pid');
      return existsSync(file) ? readFileSync(file, 'utf8').trim() : '';
    };
    await expect.poll(started).not.toBe('');
    child.kill('SIGINT');
    const [code] = await gone;
    expect(code).toBe(130);
    expect(readdirSync(temporary ?? '')).toEqual([]);
    expect(readdirSync(out ?? '')).toEqual(['build-image.log']);
    await expect.poll(() => isAlive(Number(started()))).toBe(false);
  });
});
