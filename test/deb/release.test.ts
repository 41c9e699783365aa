import { mkdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import {
  BUILT_AT,
  filesOf,
  type Key,
  noRelease,
  openReleaseFixture,
  type ReleaseFixture,
} from './repository-fixture.ts';
import { unpack } from './unpack.ts';

const missing = noRelease();
const title = (name: string): string => (missing === null ? name : `${name}: skipped, ${missing}`);
const URL_OPTION = ['--url', 'https://updates.example/dragoman'];
const POOL = 'pool/main/d/dragoman';
const DAY_S = 86_400;

let fixture: ReleaseFixture;
beforeEach(() => {
  if (missing === null) fixture = openReleaseFixture();
});
afterEach(() => fixture?.close());

const at = (path: string): string => join(fixture.folder, path);
const read = (path: string): string => readFileSync(at(path), 'utf8');
const build = (...words: string[]) => fixture.must(['build', '--debs', 'debs', ...words]);
const sign = (key: Key, words: readonly string[] = [], time = BUILT_AT) =>
  fixture.must(['sign', '--key', key.secret, ...words], { env: { SOURCE_DATE_EPOCH: time } });
/** The text above the signature. */
const signedText = (path = 'repository/dists/stable/InRelease'): string =>
  read(path).replace(/-----BEGIN PGP SIGNATURE[\s\S]*/, '');
const field = (name: string): string => new RegExp(`^${name}: (.*)$`, 'm').exec(signedText())?.[1] ?? '';
/** Seconds since 1970 of a field of InRelease. */
const time = (name: string): number => Date.parse(field(name)) / 1000;

describe(title('scripts/release build'), needs(missing), () => {
  it('gives the same bytes when run elsewhere, and all but the signature after signing', () => {
    const key = fixture.key('first');
    const [one, other] = ['one', 'another place'];
    for (const [place, env, umask] of [
      [one, { TZ: 'UTC', LC_ALL: 'C.UTF-8' }, '022'],
      [other, { TZ: 'Asia/Tokyo', LC_ALL: 'C' }, '077'],
    ] as const) {
      // In another order, as a folder may list them.
      const names = ['dragoman', 'dragoman-backend', 'dragoman-node'];
      for (const name of place === one ? names : names.toReversed())
        fixture.deb(name, '1.0.0-1', {
          debs: place,
          architecture: name.endsWith('node') ? 'arm64' : 'all',
        });
      const words = ['--debs', place, '--keys', key.publics, ...URL_OPTION, '--version', '1.0.0-1'];
      fixture.must(['build', '--repository', `${place}/out`, ...words], { env, umask });
      fixture.must(['sign', '--key', key.secret, `${place}/out`], { env, umask });
    }
    const [a, b] = [filesOf(at(`${one}/out`)), filesOf(at(`${other}/out`))];
    expect(a.size).toBeGreaterThan(15);
    const suite = 'dists/stable/InRelease';
    expect(signedText(`${one}/out/${suite}`)).toBe(signedText(`${other}/out/${suite}`));
    for (const files of [a, b]) files.delete(suite);
    expect(b).toEqual(a);
  });

  it('lists packages for each architecture, with checksums, by hash, and without a date', () => {
    fixture.deb('dragoman', '1.0.0-1');
    for (const architecture of ['amd64', 'arm64']) fixture.deb('dragoman-node', '24.0.0-1', { architecture });
    build();
    const release = read('repository/dists/stable/Release');
    expect(release).toMatch(/^Architectures: amd64 arm64$/m);
    expect(release).toMatch(/^Acquire-By-Hash: yes$/m);
    expect(release).not.toMatch(/^(Date|Valid-Until):/m);
    const lists = [...release.matchAll(/^ ([0-9a-f]{64}) +(\d+) (\S+)$/gm)];
    expect(lists).toHaveLength(6);
    for (const [, hash, size, path = ''] of lists) {
      const list = `repository/dists/stable/${path}`;
      const byHash = `${list.replace(/[^/]+$/, '')}by-hash/SHA256/${hash}`;
      expect(readFileSync(at(byHash))).toEqual(readFileSync(at(list)));
      expect(String(statSync(at(list)).size)).toBe(size);
    }
    const arm = read('repository/dists/stable/main/binary-arm64/Packages');
    expect(arm.match(/^Package: .*|^Architecture: .*/gm)).toEqual([
      'Package: dragoman-node',
      'Architecture: arm64',
      'Package: dragoman',
      'Architecture: all',
    ]);
  });

  it('keeps older versions, and no more than --keep', () => {
    for (const version of ['1.9.0-1', '1.10.0-1', '1.11.0-1']) {
      fixture.deb('dragoman', version);
      build('--keep', '2');
      rmSync(at('debs'), { recursive: true });
    }
    const names = [...filesOf(at(`repository/${POOL}`)).keys()];
    expect(names).toEqual(['dragoman_1.10.0-1_all.deb', 'dragoman_1.11.0-1_all.deb']);
    expect(read('repository/dists/stable/main/binary-amd64/Packages')).not.toContain('1.9.0-1');
  });

  it('refuses a version that exists with other bytes, and changes nothing', () => {
    fixture.deb('dragoman', '1.0.0-1');
    build();
    const before = filesOf(at('repository'));
    fixture.deb('dragoman', '1.0.0-1', { text: 'other' });
    fixture.deb('dragoman-backend', '1.0.0-1');
    const { code, said } = fixture.release(['build', '--debs', 'debs']);
    expect(code).toBe(1);
    expect(said).toMatch(/^release: dragoman 1\.0\.0-1 \(all\) is already .* Raise the version\n$/);
    expect(filesOf(at('repository'))).toEqual(before);
  });

  it('keeps the lists of the last signed index until the next one is signed', () => {
    const key = fixture.key('first');
    const lists = () => [...filesOf(at('repository/dists/stable/main/binary-amd64/by-hash')).keys()];
    const publish = (version: string) => {
      fixture.deb('dragoman', version);
      build();
    };
    publish('1.0.0-1');
    sign(key);
    const first = lists();
    publish('1.1.0-1');
    publish('1.2.0-1');
    expect(lists()).toEqual(expect.arrayContaining(first));
    expect(lists()).toHaveLength(6);
    sign(key);
    publish('1.3.0-1');
    expect(first.filter((name) => lists().includes(name))).toEqual([]);
  });

  it.each([
    [['--keep', '0'], 'not a number of versions'],
    [['--debs', 'debs', '--arch', 'arm64'], 'leave out --arch'],
    [['--url', 'https://updates.example'], 'give the public keys'],
    [['--keys', 'x'], 'needs --url'],
    [['--keys', 'x', '--url', 'ftp://updates.example'], 'is not an address for apt'],
    [['--keys', 'x', '--url', 'https://a:b@updates.example'], 'leave out user name and password'],
    [['--keys', 'x', '--url', 'https://a.example/ stable'], 'is not an address for apt'],
    [['now'], 'takes only options'],
    [['--version', 'new'], 'is not a version'],
    [['--arch', 'mips'], 'there is no Node.js for "mips"'],
  ])('exits with 2 and one sentence when called with %j', (words, sentence) => {
    const { code, said } = fixture.release(['build', ...words]);
    expect([code, said.trim().split('\n').length, said]).toEqual([2, 1, expect.stringContaining(sentence)]);
  });

  it('names the package when a tool is missing', () => {
    mkdirSync(at('bin'));
    for (const tool of ['node', 'sh', 'dirname', 'readlink'])
      symlinkSync(tool === 'node' ? process.execPath : `/usr/bin/${tool}`, at(`bin/${tool}`));
    const { code, said } = fixture.release(['build', '--debs', 'debs'], { env: { PATH: at('bin') } });
    expect([code, said]).toEqual([1, 'release: apt-ftparchive is missing: install the package apt-utils\n']);
  });
});

describe(title('the package dragoman-archive-keyring'), needs(missing), () => {
  const version = ['--version', '1.0.0-1'];

  it('has the public keys in binary form and the source for apt', () => {
    const [old, next] = [fixture.key('old'), fixture.key('next')];
    fixture.deb('dragoman', '1.0.0-1');
    build('--keys', old.publics, '--keys', next.publics, ...URL_OPTION, ...version);
    const deb = at(`repository/${POOL}/dragoman-archive-keyring_1.0.0-1_all.deb`);
    unpack(deb, at('unpacked'));
    const keyring = '/usr/share/keyrings/dragoman-archive-keyring.gpg';
    expect(readFileSync(at(`unpacked/data${keyring}`)).subarray(0, 1)).toEqual(Buffer.from([0x98]));
    const source = read('unpacked/data/etc/apt/sources.list.d/dragoman.sources');
    expect(source.split('\n').slice(1)).toEqual([
      'Types: deb',
      'URIs: https://updates.example/dragoman',
      'Suites: stable',
      'Components: main',
      `Signed-By: ${keyring}`,
      '',
    ]);
    expect(read('unpacked/control/conffiles')).toBe('/etc/apt/sources.list.d/dragoman.sources\n');
    expect(read('unpacked/control/control')).not.toMatch(/^Depends/m);
  });

  it('is not made of a secret key', () => {
    const { code, said } = fixture.release([
      'build',
      '--keys',
      fixture.key('first').secret,
      ...URL_OPTION,
      ...version,
    ]);
    expect([code, said]).toEqual([1, expect.stringContaining('has a secret key')]);
  });

  it('is not made of a key that expires', () => {
    const { publics } = fixture.key('short', { expires: '1y' });
    const { code, said } = fixture.release(['build', '--keys', publics, ...URL_OPTION, ...version]);
    expect([code, said]).toEqual([1, expect.stringMatching(/expires, .* --quick-set-expire/)]);
  });

  it('is not made of something else', () => {
    fixture.deb('dragoman', '1.0.0-1');
    const words = ['build', '--keys', 'debs/dragoman_1.0.0-1_all.deb', ...URL_OPTION, ...version];
    const { code, said } = fixture.release(words);
    expect([code, said]).toEqual([1, `release: ${words[2]} has no public key: use "gpg --export"\n`]);
  });
});

describe(title('scripts/release sign'), needs(missing), () => {
  beforeEach(() => {
    if (missing !== null) return;
    fixture.deb('dragoman', '1.0.0-1');
    build();
  });

  it('adds the date, and the day after which apt refuses the repository', () => {
    const said = sign(fixture.key('first'));
    expect([time('Date'), time('Valid-Until')]).toEqual([1_700_000_000, 1_700_000_000 + 90 * DAY_S]);
    expect(said).toMatch(/^until +Mon, 12 Feb 2024 /m);
  });

  it('extends the time without other changes when it signs again', () => {
    const key = fixture.key('first');
    sign(key);
    const before = filesOf(at('repository'));
    const text = signedText();
    sign(key, ['--days', '30'], '1800000000');
    expect([time('Date'), time('Valid-Until')]).toEqual([1_800_000_000, 1_800_000_000 + 30 * DAY_S]);
    const bare = (one: string): string => one.replace(/^(Date|Valid-Until): .*$/gm, '');
    expect(bare(signedText())).toBe(bare(text));
    const after = filesOf(at('repository'));
    for (const files of [before, after]) files.delete('dists/stable/InRelease');
    expect(after).toEqual(before);
  });

  it('signs with two keys during a change of keys, and names both', () => {
    const [old, next] = [fixture.key('old'), fixture.key('next')];
    const said = sign(old, ['--key', next.secret]);
    expect(said.match(/^by key +(\S+)$/gm)?.map((line) => line.replace(/.* /, ''))).toEqual([
      old.fingerprint,
      next.fingerprint,
    ]);
  });

  it('signs a file alone on a machine that has only this script and gpg', () => {
    const key = fixture.key('first');
    mkdirSync(at('stick'));
    mkdirSync(at('bin'));
    const tools =
      'awk cat chmod cp cut date dirname env gpg gpg-agent gpgconf grep head mktemp mv rm sed sh sha256sum tail tty';
    for (const tool of tools.split(' ')) symlinkSync(`/usr/bin/${tool}`, at(`bin/${tool}`));
    writeCopy('repository/dists/stable/Release', 'stick/Release');
    const said = fixture.must(['sign', '--key', key.secret, 'stick/Release'], { env: { PATH: at('bin') } });
    const checksum = /^of Release (\S+)$/m.exec(said)?.[1];
    expect(build()).toContain(`of Release ${checksum}`);
    expect(signedText('stick/InRelease')).toContain('Acquire-By-Hash: yes');
    rmSync(at('bin/gpg'));
    expect(
      fixture.release(['sign', '--key', key.secret, 'stick/Release'], { env: { PATH: at('bin') } }),
    ).toEqual({
      code: 1,
      said: 'release: gpg is missing: install the package gpg\n',
    });
  });

  it('leaves the signed file as it was when the key cannot sign', () => {
    const key = fixture.key('first');
    sign(key);
    const before = read('repository/dists/stable/InRelease');
    const { code, said } = fixture.release(['sign', '--key', key.publics]);
    expect([code, said]).toEqual([1, expect.stringContaining('has no secret key')]);
    expect(fixture.release(['sign', '--key', 'debs']).code).toBe(1);
    expect(fixture.release(['sign', '--user', 'somebody']).code).toBe(1);
    expect(read('repository/dists/stable/InRelease')).toBe(before);
  });

  it.each([
    [[], 'give the secret key'],
    [['--days', '0', '--key', 'x'], 'not a number of days'],
    [['--key'], '--key needs a value'],
    [['--key', 'x', '--user', 'y'], 'exclude each other'],
    [['--forever'], 'there is no option --forever'],
    [['--key', 'x', 'a', 'b'], 'one folder or file'],
  ])('exits with 2 and one sentence when called with %j', (words, sentence) => {
    const { code, said } = fixture.release(['sign', ...words]);
    expect([code, said.trim().split('\n').length, said]).toEqual([2, 1, expect.stringContaining(sentence)]);
  });

  it('says what to do when nothing has been built there', () => {
    expect(fixture.release(['sign', '--key', 'x', 'elsewhere'])).toEqual({
      code: 1,
      said: expect.stringContaining('run "scripts/release build" first'),
    });
  });
});

function writeCopy(from: string, to: string): void {
  mkdirSync(join(at(to), '..'), { recursive: true });
  symlinkSync(at(from), at(to));
}
