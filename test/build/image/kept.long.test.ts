/** Kills the builder, and lets it go on. Stand-ins install "Debian" and packages; everything else is real. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { BOOT_BYTES } from '../../../scripts/image/file-systems.ts';
import { layOut } from '../../../scripts/image/partitions.ts';
import { needs } from '../../needs.ts';
import { makeFakeRoot } from './fake-root.ts';
import { BUILD, env, imageIn, missing } from './made-image.ts';
import { writeSmallPackage } from './small-package.ts';

/** The first call makes the Debian; the second one unpacks it, and installs the packages in it. */
const MMDEBSTRAP = `#!/bin/sh
set -eu
echo "$1" >>"$CALLS"
case "$1" in
--variant=minbase)
  for word; do case "$word" in *.tar) tar --create --file "$word" --directory "$FAKE_DEBIAN" . ;; esac; done ;;
--variant=custom)
  for word; do
    case "$word" in --setup-hook=*) setup="\${word#*=}" ;; --customize-hook=*) finish="\${word#*=}" ;; esac
    root="$word"
  done
  mkdir "$root"
  sh -c "$setup" sh "$root"
  "$finish" "$root" ;;
esac
`;
const CHROOT = `#!/bin/sh\nls "$1/var/tmp/debs" >"$1/etc/installed"\n`;
/** Stops at the file system that $HOLD names, half-written. */
const MKE2FS = `#!/bin/sh
for word; do last2="\${last1:-}" last1="$word"; [ "$word" != "\${HOLD:-none}" ] || held=yes; done
[ -n "\${held:-}" ] || exec /usr/sbin/mke2fs "$@"
echo half >"$last2"
echo $$ >"$HELD.draft"; mv "$HELD.draft" "$HELD"
exec sleep 300
`;
const FULL = ['--variant=minbase', '--variant=custom'];

const reason = missing ?? (process.getuid?.() === 0 ? null : 'not root');

describe(`a builder that was killed${reason === null ? '' : `: skipped, ${reason}`}`, needs(reason), () => {
  let folder = '';
  let words: string[] = [];
  const at = (...path: string[]): string => join(folder, ...path);

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'dragoman-continues-'));
    makeFakeRoot(at('debian'));
    for (const name of ['tools', 'temporary', 'debs']) mkdirSync(at(name));
    const tools = { mmdebstrap: MMDEBSTRAP, chroot: CHROOT, mke2fs: MKE2FS, 'arch-test': '#!/bin/sh\n' };
    for (const [name, text] of Object.entries(tools)) writeFileSync(at('tools', name), text, { mode: 0o755 });
    writeSmallPackage(at('debs/dragoman_1_all.deb'), 'dragoman');
    const keyring = at('dragoman-archive-keyring_1_all.deb');
    writeSmallPackage(keyring, 'dragoman-archive-keyring');
    words = [BUILD, '--debs', at('debs'), '--keyring', keyring, '--compress', 'none', '--out'];
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const start = (cache: string, out: string, hold = '') =>
    spawn(process.execPath, [...words, at(out)], {
      env: {
        ...env,
        PATH: `${at('tools')}:${env.PATH}`,
        TMPDIR: at('temporary'),
        DRAGOMAN_CACHE: at(cache),
        FAKE_DEBIAN: at('debian'),
        CALLS: at(`${cache}.calls`),
        HELD: at('held'),
        HOLD: hold,
      },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
  const build = async (cache: string, out: string): Promise<string> => {
    const child = start(cache, out);
    const said: string[] = [];
    child.stdout.setEncoding('utf8').on('data', (text: string) => void said.push(text));
    const [code] = await once(child, 'close');
    expect(code, said.join('')).toBe(0);
    return said.join('');
  };
  /** Kills it while it makes this file system. */
  const killAt = async (cache: string, label: string): Promise<void> => {
    const child = start(cache, 'killed', label);
    child.stdout.resume();
    await expect.poll(() => existsSync(at('held'))).toBe(true);
    child.kill('SIGKILL');
    await once(child, 'exit');
    process.kill(Number(readFileSync(at('held'), 'utf8')), 'SIGKILL');
    rmSync(at('held'));
  };
  const calls = (cache: string): string[] =>
    readFileSync(at(`${cache}.calls`), 'utf8')
      .trim()
      .split('\n');
  const digestIn = (out: string): string => readFileSync(`${imageIn(at(out))}.sha256`, 'utf8');

  it('goes on where it stopped, twice, and makes the same image', async () => {
    const said = await build('other', 'uninterrupted');
    expect([calls('other'), said]).toEqual([FULL, expect.not.stringContaining('Kept from')]);

    await killAt('cache', 'dragoman-root');
    expect(calls('cache')).toEqual(FULL);
    await killAt('cache', 'dragoman-data');
    const kept = await build('cache', 'last');
    expect(kept).toContain('Kept from earlier runs: Debian trixie, Partitions\n(--fresh makes all again)\n');
    // Neither the Debian nor the root was made again.
    expect(calls('cache')).toEqual(FULL);
    expect(digestIn('last')).toBe(digestIn('uninterrupted'));
    expect(readdirSync(at('killed'))).toEqual(['build-image.log']);

    // No gigabytes are left, neither in the temporary folder nor of other kinds in the cache.
    expect(readdirSync(at('temporary'))).toEqual([]);
    const kinds = readdirSync(at('cache')).map((name) => name.replace(/-[0-9a-f]{16}$/, ''));
    expect(kinds.sort()).toEqual(
      ['-partitions', '-root', ''].map((kind) => `image-trixie-arm64${kind}`).sort(),
    );
  });

  it('installs the keyring beside the packages', () => {
    const [, root] = layOut({ boot: BOOT_BYTES, root: 1, data: 1 });
    const image = `${imageIn(at('last'))}?offset=${root?.start}`;
    const words = ['-R', 'cat /etc/installed', image];
    const installed = execFileSync('debugfs', words, { env, stdio: ['ignore', 'pipe', 'ignore'] });
    expect(installed.toString()).toBe('dragoman-archive-keyring_1_all.deb\ndragoman_1_all.deb\n');
  });
});
