/** The repository by apt. apt, dpkg-deb and chown are functions here; the real ones meet attackers in test/nspawn. */
import { createHash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createAptRepository } from '../../../src/adapters/update/apt.ts';
import type { ProgramOptions, ProgramResult } from '../../../src/adapters/update/run-program.ts';

/** What the network delivers as the package. */
let archive = 'package';
let answers: Record<string, Partial<ProgramResult>> = {};
const ran: string[] = [];
vi.mock('../../../src/adapters/update/run-program.ts', () => ({
  runProgram: async (program: string, words: readonly string[], options: ProgramOptions) => {
    ran.push([program, ...words].join(' '));
    if (words.includes('download')) writeFileSync(join(options.cwd ?? '', 'x.deb'), archive);
    const [verb = ''] = words.filter((word) => /^[a-z]{2,}$/.test(word));
    return { code: 0, stdout: '', stderr: '', ...answers[`${program} ${verb}`] };
  },
}));

const SIGNED = createHash('sha256').update('package').digest('hex');
const STANZA = `Package: dragoman\nVersion: 1.3.0-1\nInstalled-Size: 4000\nSize: 7\nSHA256: ${SIGNED}\n`;

let folder: string;
const at = (name: string): string => join(folder, name);
const repository = () =>
  createAptRepository({ root: folder, sources: [at('first'), at('second')], keyring: at('keyring.gpg') });
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-apt-'));
  for (const name of ['second', 'keyring.gpg']) writeFileSync(at(name), '');
  archive = 'package';
  answers = { 'apt-cache show': { stdout: STANZA } };
  ran.length = 0;
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('the list of the repository', () => {
  const configuration = (): string => readFileSync(at('apt/apt.conf'), 'utf8');

  it('is read from the sources of the device, the first that is there, and one failure is a failure', async () => {
    await repository().refresh(null);
    expect(ran).toEqual(['apt-get -q -o APT::Update::Error-Mode=any update']);
    expect(configuration()).toContain(`Dir::Etc::sourcelist "${at('second')}";`);
    writeFileSync(at('first'), '');
    await repository().refresh(null);
    expect(configuration()).toContain(`Dir::Etc::sourcelist "${at('first')}";`);
  });

  it('is read from the address of the order, signed by the key of the device', async () => {
    await repository().refresh('https://releases.example/debian/dists/stable/InRelease');
    expect(configuration()).toContain(`Dir::Etc::sourcelist "${at('apt/ordered.sources')}";`);
    expect(readFileSync(at('apt/ordered.sources'), 'utf8').split('\n')).toEqual([
      'Types: deb',
      'URIs: https://releases.example/debian/',
      'Suites: stable',
      'Components: main',
      `Signed-By: ${at('keyring.gpg')}`,
      '',
    ]);
    await repository().refresh(null);
    expect(configuration()).toContain(`Dir::Etc::sourcelist "${at('second')}";`);
  });

  it('is not asked for without sources or keys, and apt says why it failed', async () => {
    answers = { 'apt-get update': { code: 100, stderr: 'E: Could not resolve host' } };
    await expect(repository().refresh(null)).rejects.toMatchObject({
      message: 'the repository cannot be reached',
      mayPass: true,
    });
    ran.length = 0;
    rmSync(at('keyring.gpg'));
    await expect(repository().refresh(null)).rejects.toThrow('this device has no keys of the repository');
    rmSync(at('second'));
    await expect(repository().refresh(null)).rejects.toThrow('this device has no list of sources');
    expect(ran).toEqual([]);
  });
});

describe('an offer', () => {
  const find = async (given: Partial<ProgramResult>) => {
    answers = { 'apt-cache show': given };
    return repository().find('dragoman', '1.3.0-1');
  };
  it('has the sizes of the list', async () => {
    const offer = { name: 'dragoman', version: '1.3.0-1', bytes: 7 };
    expect(await find({ stdout: STANZA })).toEqual({ ...offer, unpackedBytes: 4_096_000 });
    expect(await find({ stdout: STANZA.replace(/Installed-Size.*\n/, '') })).toEqual({
      ...offer,
      unpackedBytes: 28,
    });
  });
  it.each([
    ['apt-cache finds nothing', { code: 100, stdout: STANZA }],
    ['it is another version', { stdout: STANZA.replace('1.3.0-1', '1.3.0-2') }],
    ['it has no size', { stdout: STANZA.replace('Size: 7\n', '') }],
    ['the answer is empty', { stdout: '' }],
  ])('is null when %s', async (_, given) => {
    expect(await find(given)).toBeNull();
  });
});

describe('a package', () => {
  const OFFER = { name: 'dragoman', version: '1.3.0-1', bytes: 7, unpackedBytes: 1 };
  const fetch = async (downloaded: () => Promise<void> = async () => {}) =>
    repository().fetch(OFFER, 'versions/x', downloaded);
  const left = (): string[] =>
    (existsSync(at('apt')) ? readdirSync(at('apt')) : []).filter((one) => one === 'download');

  it('is downloaded by another user, checked, reported, and then unpacked', async () => {
    let before = 0;
    await fetch(async () => {
      before = ran.length;
    });
    const cwd = at('apt/download');
    expect(ran).toEqual([
      `chown _apt ${cwd}`,
      'apt-get -q download dragoman=1.3.0-1',
      `chown -R root ${cwd}`,
      'apt-cache show dragoman=1.3.0-1',
      `dpkg-deb -x ${cwd}/x.deb ${at('versions/x')}`,
    ]);
    expect([before, left()]).toEqual([4, []]);
  });

  it.each([
    ['has other bytes of the same length', 'pACKAGE'],
    ['is longer', 'package!'],
    ['is empty', ''],
  ])('that %s is not unpacked', async (_, given) => {
    archive = given;
    await expect(fetch()).rejects.toMatchObject({
      message: 'the downloaded package differs from the signed list of the repository',
      mayPass: true,
    });
    expect([ran.some((line) => line.startsWith('dpkg-deb')), left()]).toEqual([false, []]);
  });

  it('that cannot be unpacked leaves no download behind', async () => {
    answers = { ...answers, 'dpkg-deb ': { code: 2, stderr: 'No space left on device' } };
    await expect(fetch()).rejects.toThrow('the disk is full');
    expect(left()).toEqual([]);
  });
});
