import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { needs } from '../needs.ts';
import {
  filesOf,
  type KeyOptions,
  noRelease,
  openReleaseFixture,
  type ReleaseFixture,
} from './repository-fixture.ts';

const missing = noRelease();
const title = (name: string): string => (missing === null ? name : `${name}: skipped, ${missing}`);
const URL_OPTION = ['--url', 'https://updates.example/dragoman'];

let fixture: ReleaseFixture;
beforeEach(() => {
  if (missing === null) fixture = openReleaseFixture();
});
afterEach(() => fixture?.close());

const at = (path: string): string => join(fixture.folder, path);
const read = (path: string): string => readFileSync(at(path), 'utf8');
const build = (...words: string[]) => fixture.must(['build', '--debs', 'debs', ...words]);

/** Since February 2026 the apt of Debian 13 accepts no SHA-1, and since 2024 no RSA below 2048 bits. */
const REFUSED: readonly (readonly [string, KeyOptions, string])[] = [
  ['sha1', { kind: 'rsa2048', how: ['--cert-digest-algo', 'SHA1'] }, 'its own signature uses SHA-1'],
  ['short', { kind: 'rsa1024' }, 'has 1024 bits'],
  ['expired', { expires: '1d', how: ['--faked-system-time', '20200101T000000'] }, 'expired on 2020-01-02'],
];

describe(title('a key that Debian 13 refuses'), needs(missing), () => {
  beforeEach(() => {
    fixture.deb('dragoman', '1.0.0-1');
    build();
  });

  it.each(REFUSED)('signs nothing: %s', (name, options, reason) => {
    const key = fixture.key(name, options);
    for (const words of [
      ['--key', key.secret],
      ['--user', key.fingerprint],
    ]) {
      const { code, said } = fixture.release(['sign', ...words], { env: { GNUPGHOME: key.home } });
      expect([code, said]).toEqual([
        1,
        expect.stringContaining(`${key.fingerprint} is refused by Debian 13`),
      ]);
      expect(said).toContain(reason);
      expect(said.trim().split('\n')).toHaveLength(1);
    }
    expect([...filesOf(at('repository')).keys()].filter((file) => file.includes('InRelease'))).toEqual([]);
  });

  it.each(REFUSED)('is not brought to devices: %s', (name, options, reason) => {
    const { publics } = fixture.key(name, options);
    const words = ['build', '--debs', 'debs', '--keys', publics, ...URL_OPTION, '--version', '1.0.0-1'];
    const { code, said } = fixture.release(words);
    expect([code, said]).toEqual([1, expect.stringContaining(reason)]);
    const { code: checked, said: saidOfCheck } = fixture.release(['check', publics]);
    expect([checked, saidOfCheck]).toEqual([1, expect.stringContaining(reason)]);
  });

  it('is signed with after it has been renewed', () => {
    const key = fixture.key('sha1', { kind: 'rsa2048', how: ['--cert-digest-algo', 'SHA1'] });
    key.gpg('--cert-digest-algo', 'SHA512', '--quick-set-expire', key.fingerprint, 'never');
    fixture.must(['sign', '--user', key.fingerprint], { env: { GNUPGHOME: key.home } });
    expect(read('repository/dists/stable/InRelease')).toContain('BEGIN PGP SIGNATURE');
  });

  it('is also a subkey that signs for a good key', () => {
    const key = fixture.key('mixed');
    key.gpg('--quick-add-key', key.fingerprint, 'rsa1024', 'sign', 'never');
    const { code, said } = fixture.release(['sign', '--user', key.fingerprint], {
      env: { GNUPGHOME: key.home },
    });
    expect([code, said]).toEqual([1, expect.stringContaining('has 1024 bits')]);
  });

  it('is not guessed when several keys have the name', () => {
    const key = fixture.key('one');
    key.gpg('--quick-generate-key', 'Archive other <other@example.invalid>', 'ed25519', 'sign', 'never');
    const { code, said } = fixture.release(['sign', '--user', 'Archive'], { env: { GNUPGHOME: key.home } });
    expect([code, said]).toEqual([
      1,
      expect.stringContaining('2 keys match "Archive": give the fingerprint'),
    ]);
  });

  it('is refused with the reason of sqv, where that is installed', () => {
    const key = fixture.key('first');
    mkdirSync(at('bin'));
    const script = '#!/bin/sh\necho "$@" >> said-to-sqv\necho "Policy rejected"\nexit 1\n';
    writeFileSync(at('bin/sqv'), script, { mode: 0o755 });
    const env = { GNUPGHOME: key.home, PATH: `${at('bin')}:${process.env['PATH']}` };
    const { code, said } = fixture.release(['sign', '--user', key.fingerprint], { env });
    expect([code, said]).toEqual([1, expect.stringMatching(/^release: sqv, .*: Policy rejected\n$/)]);
    expect(read('said-to-sqv')).toMatch(/^--signatures 1 --keyring /);
    expect([...filesOf(at('repository')).keys()].filter((file) => file.includes('InRelease'))).toEqual([]);
  });
});
