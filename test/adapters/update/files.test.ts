/** The files by which agent and updater speak to each other, and the files of an unpacked release. */
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  readlinkSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createUpdateFiles } from '../../../src/adapters/update/folder.ts';
import { createOrderFiles } from '../../../src/adapters/update/order-files.ts';
import { createReleases } from '../../../src/adapters/update/releases.ts';
import { createUpdates, leaveOrder, readStatus } from '../../../src/adapters/update/updates.ts';
import type { UpdateOrder, UpdateStatus } from '../../../src/protocol/common/update.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-update-'));
  for (const name of ['state', 'runtime', 'own']) mkdirSync(at(name));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));
const at = (name: string): string => join(folder, name);

const said: string[] = [];
const say = (_: object, sentence: string): void => void said.push(sentence);
const log = { trace: say, debug: say, info: say, warn: say, error: say };
const desk = () => createOrderFiles({ state: at('state'), runtime: at('runtime'), own: at('own') }, log);
const agent = () =>
  createUpdates({ STATE_DIRECTORY: at('state'), RUNTIME_DIRECTORY: at('runtime') }, at('own'));

const order = (id: string): UpdateOrder => ({ do: 'rollback', id });
const STATUS: UpdateStatus = {
  state: 'ready',
  from: '1.2.0',
  to: '1.3.0',
  reason: null,
  progress: null,
  order: 'order-1',
  asks: true,
  current: '1.2.0',
  installed: '1.2.0',
  previous: null,
};

describe('an order of the agent', () => {
  it('waits until the updater takes it, and a newer one in its place stays', async () => {
    const { order: waiting, took } = desk();
    expect(await waiting()).toBeNull();
    expect(await leaveOrder(at('state'), order('order-1'))).toBeNull();
    expect(await waiting()).toEqual(order('order-1'));
    expect(await leaveOrder(at('state'), order('order-2'))).toBeNull();
    await took('order-1');
    expect(await waiting()).toEqual(order('order-2'));
    await took('order-2');
    expect(await waiting()).toBeNull();
  });

  it('can be left although a power cut has left half of another one', async () => {
    writeFileSync(at('state/update-order.json.tmp'), '{"do":');
    expect(await leaveOrder(at('state'), order('order-1'))).toBeNull();
    expect(await desk().order()).toEqual(order('order-1'));
  });

  it('does not write through a link that the agent’s user has put there', async () => {
    writeFileSync(at('secret'), 'old');
    symlinkSync(at('secret'), at('state/update-order.json.tmp'));
    expect(await leaveOrder(at('state'), order('order-1'))).toBeNull();
    expect(readFileSync(at('secret'), 'utf8')).toBe('old');
  });

  it('that is none is removed, and the journal says so', async () => {
    for (const text of ['{', '{"do":"update"}', 'x'.repeat(9000)]) {
      said.length = 0;
      writeFileSync(at('state/update-order.json'), text);
      expect(await desk().order()).toBeNull();
      expect(existsSync(at('state/update-order.json'))).toBe(false);
      expect(said).toEqual(['an update order was unreadable and has been removed']);
    }
  });

  it('that cannot be left is answered with the reason', async () => {
    expect(await leaveOrder(at('nowhere'), order('order-1'))).toBe(
      `the order cannot be written to ${at('nowhere')}: there is no such file or folder`,
    );
  });

  it('has no place where the agent does not run under systemd', () => {
    expect(createUpdates({})).toBeNull();
    expect(createUpdates({ STATE_DIRECTORY: '/var/lib/dragoman' })).toBeNull();
  });
});

describe('the word of the agent for a restart', () => {
  it('counts for the order that it names, until the agent or the updater takes it back', async () => {
    const { isGoodMoment, forgetMoment } = desk();
    expect(await isGoodMoment('order-1')).toBe(false);
    await agent()?.allow('order-1');
    expect([await isGoodMoment('order-1'), await isGoodMoment('order-2')]).toEqual([true, false]);
    await agent()?.allow(null);
    expect(await isGoodMoment('order-1')).toBe(false);
    await agent()?.allow('order-1');
    await forgetMoment();
    expect(await isGoodMoment('order-1')).toBe(false);
  });
});

it('the report of the updater is read as it was written, and null while there is none', async () => {
  expect(await readStatus(at('own'))).toBeNull();
  await desk().publish(STATUS);
  await desk().publish({ ...STATUS, state: 'done' });
  expect(await readStatus(at('own'))).toEqual({ ...STATUS, state: 'done' });
  writeFileSync(at('own/status.json'), '{"state":');
  expect(await readStatus(at('own'))).toBeNull();
});

describe('an unpacked release', () => {
  const RELEASE = {
    version: '1.3.0-1',
    built_at: 1_767_225_600,
    node: { least: '20.12', private: '24.21.0-1' },
  };
  const PROGRAM = 'versions/1.3.0-1/usr/lib/dragoman';
  const sum = (text: string): string => createHash('sha256').update(text).digest('hex');
  const put = (name: string, text: string): void => writeFileSync(at(`${PROGRAM}/${name}`), text);
  const read = () => createReleases(folder).read('versions/1.3.0-1');
  beforeEach(() => {
    mkdirSync(at(PROGRAM), { recursive: true });
    const files: [string, string][] = [
      ['release.json', JSON.stringify(RELEASE)],
      ['dragoman.mjs', 'program'],
      ['audio@2.wasm', 'wasm'],
    ];
    for (const [name, text] of files) put(name, text);
    put('SHA256SUMS', files.map(([name, text]) => `${sum(text)}  ${name}\n`).join(''));
  });

  it('is read when all files are as its list says', async () => {
    expect(await read()).toEqual(RELEASE);
  });

  it.each<[string, () => void]>([
    ['the last file of the list differs', () => put('audio@2.wasm', 'wasn')],
    [
      'the first file of the list differs',
      () => put('release.json', JSON.stringify({ ...RELEASE, built_at: 1 })),
    ],
    ['a file is missing', () => rmSync(at(`${PROGRAM}/dragoman.mjs`))],
    ['a file is in no list', () => put('preload.mjs', 'more')],
    ['a line names another folder', () => put('SHA256SUMS', `${sum('x')}  ../x\n`)],
    ['the list has no release', () => put('SHA256SUMS', `${sum('program')}  dragoman.mjs\n`)],
    ['the list is empty', () => put('SHA256SUMS', '')],
    ['there is no list', () => rmSync(at(`${PROGRAM}/SHA256SUMS`))],
    ['there is no folder', () => rmSync(at(PROGRAM), { recursive: true })],
  ])('is null when %s', async (_, spoil) => {
    spoil();
    expect(await read()).toBeNull();
  });
});

describe('the updater’s folder', () => {
  it('does what the model of the disk does', async () => {
    const files = createUpdateFiles(at('own'));
    expect([await files.read('a'), await files.readLink('a'), await files.list('b')]).toEqual([
      null,
      null,
      [],
    ]);
    await files.write('a', 'text');
    await files.sync('a');
    await files.makeFolder('b/c');
    await files.write('b/c/d', 'deep');
    await files.link('b/c', 'current');
    await files.syncAll('b');
    await files.sync('');
    expect([await files.read('a'), await files.readLink('current'), await files.list('b')]).toEqual([
      'text',
      'b/c',
      ['c'],
    ]);
    await files.rename('a', 'e');
    expect([await files.read('a'), await files.read('e')]).toEqual([null, 'text']);
    await files.remove('b');
    await files.remove('b');
    expect(existsSync(at('own/b'))).toBe(false);
    expect(await files.free()).toBeGreaterThan(0);
  });

  it('brings each file and folder of a new version to the disk, so that a power cut leaves no empty ones', async () => {
    const files = createUpdateFiles(at('own'));
    await files.makeFolder('b/c');
    await files.write('b/c/d', 'deep');
    await files.write('b/e', 'flat');
    await files.link('e', 'b/f');
    const probe = await open(at('own'));
    const handles: FileHandle = Object.getPrototypeOf(probe);
    await probe.close();
    const synced: string[] = [];
    const sync = vi.spyOn(handles, 'sync').mockImplementation(async function (this: FileHandle) {
      synced.push(readlinkSync(`/proc/self/fd/${this.fd}`));
    });
    try {
      await files.syncAll('b');
    } finally {
      sync.mockRestore();
    }
    expect(synced.sort()).toEqual(['own/b', 'own/b/c', 'own/b/c/d', 'own/b/e'].map(at));
  });

  it('says in a sentence why a file cannot be used', async () => {
    await expect(createUpdateFiles(at('own')).write('x/y', '')).rejects.toThrow(
      `${at('own/x/y')} cannot be used: there is no such file or folder`,
    );
  });
});
