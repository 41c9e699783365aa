import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { findKept, type Kept, keep, type Wanted } from '../../../scripts/image/kept.ts';
import { keptSteps } from '../../../scripts/image/kept-steps.ts';
import { packagesAreMadeFrom } from '../../../scripts/image/made-from.ts';
import { ROOT } from './made-image.ts';

const WANTED: Wanted = { kind: 'image-root', madeFrom: ['packages 1', 2, true] };
const HOUR_MS = 3_600_000;

let cache: string;
beforeEach(() => {
  cache = mkdtempSync(join(tmpdir(), 'dragoman-kept-'));
});
afterEach(() => rmSync(cache, { recursive: true }));

const make = (wanted = WANTED, content = 'all bytes of a root') =>
  keep(
    wanted,
    async (folder) => {
      writeFileSync(join(folder, 'root.img'), content);
      writeFileSync(join(folder, 'packages'), 'dash 1');
    },
    cache,
  );
const find = (wanted = WANTED) => findKept(wanted, cache);

describe('what an earlier run has made', () => {
  it('is found when it is made from the same', async () => {
    expect(await find()).toBe('missing');
    const made = await make();
    expect(await find()).toEqual(made);
    expect(readFileSync(join(made.folder, 'root.img'), 'utf8')).toBe('all bytes of a root');
  });

  it.each([
    ['an input differs', { ...WANTED, madeFrom: ['packages 2', 2, true] }],
    ['it is of another kind', { ...WANTED, kind: 'image' }],
  ])('is not found when %s', async (_, other) => {
    await make();
    expect(await find(other)).toBe('missing');
  });

  it('is not found when it is too old', async () => {
    const { folder } = await make();
    const then = Date.now() / 1000 - 3600;
    utimesSync(join(folder, 'SHA256SUMS'), then, then);
    expect(await find({ ...WANTED, longestMs: HOUR_MS - 1000 })).toBe('missing');
    expect(await find({ ...WANTED, longestMs: HOUR_MS + 60_000 })).toMatchObject({ folder });
  });

  it('replaces the one of its kind, and no other', async () => {
    const other = await make({ ...WANTED, kind: 'image' });
    writeFileSync(join(cache, 'image-0123456789abcdef.tar'), 'from an earlier version of this program');
    const first = await make();
    const second = await make({ ...WANTED, madeFrom: [] });
    expect(existsSync(first.folder)).toBe(false);
    expect([existsSync(second.folder), existsSync(other.folder)]).toEqual([true, true]);
    await make({ ...WANTED, kind: 'image', madeFrom: [] });
    expect(readdirSync(cache)).toHaveLength(2);
  });

  it.each<[string, (folder: string) => void]>([
    ['cut short', (folder) => truncateSync(join(folder, 'root.img'), 5)],
    ['longer', (folder) => appendFileSync(join(folder, 'root.img'), '\0')],
    ['changed', (folder) => writeFileSync(join(folder, 'root.img'), 'all bytes of A root')],
    ['missing', (folder) => rmSync(join(folder, 'root.img'))],
    ['not in the list', (folder) => writeFileSync(join(folder, 'more'), '')],
  ])('is damaged when a file is %s', async (_, damage) => {
    damage((await make()).folder);
    expect(await find()).toBe('damaged');
  });

  it.each<[string, (list: string) => void]>([
    ['missing', (list) => rmSync(list)],
    ['empty', (list) => truncateSync(list, 0)],
    ['cut after a line', (list) => writeFileSync(list, readFileSync(list, 'utf8').split('\n')[0] ?? '')],
  ])('is damaged when its list is %s', async (_, damage) => {
    damage(join((await make()).folder, 'SHA256SUMS'));
    expect(await find()).toBe('damaged');
  });

  it('is made anew when it is damaged, and the step says so', async () => {
    const { folder } = await make();
    truncateSync(join(folder, 'root.img'), 5);
    const remarks: string[] = [];
    const step = async (_: string, work: () => Promise<string>) => void remarks.push(await work());
    const steps = keptSteps({ step }, false, cache);
    const again = (): Promise<Kept> =>
      steps.take('Root', WANTED, async (draft) => {
        writeFileSync(join(draft, 'root.img'), 'again');
        return 'made';
      });
    await again();
    expect(readFileSync(join((await again()).folder, 'root.img'), 'utf8')).toBe('again');
    const today = new Date().toISOString().slice(0, 10);
    expect(remarks).toEqual(['made; the kept one was damaged', `kept from ${today}`]);
    expect(steps.taken).toEqual(['Root']);
    const fresh = keptSteps({ step }, true, cache);
    expect(await fresh.find('Root', WANTED)).toBeNull();
    await fresh.take('Root', WANTED, async () => 'made');
    expect([remarks.at(-1), fresh.taken]).toEqual(['made', []]);
  });

  it('stays, and nothing else is left, when making its successor fails', async () => {
    const { folder } = await make();
    const failing = keep({ ...WANTED, madeFrom: [] }, () => Promise.reject(new Error('mke2fs')), cache);
    await expect(failing).rejects.toThrow('mke2fs');
    expect(readdirSync(cache)).toHaveLength(1);
    expect(await find()).toMatchObject({ folder });
  });

  it('has the leftovers of a killed run removed, and not those of a running one', async () => {
    const child = spawn('true');
    await once(child, 'exit');
    const draft = (owner: number | undefined) => join(cache, `image-root-0123456789abcdef.draft-${owner}`);
    for (const owner of [child.pid, process.ppid]) mkdirSync(draft(owner));
    await make();
    expect([existsSync(draft(child.pid)), existsSync(draft(process.ppid))]).toEqual([false, true]);
  });
});

describe('the sources of the packages', () => {
  it('count when they change, and the tests do not', () => {
    // In a copy, because other tests build from the repository.
    const copy = join(cache, 'sources');
    mkdirSync(join(copy, 'src'), { recursive: true });
    mkdirSync(join(copy, 'test'));
    writeFileSync(join(copy, 'package.json'), readFileSync(join(ROOT, 'package.json')));
    writeFileSync(join(copy, 'src/main.ts'), 'one');
    const made = () => packagesAreMadeFrom(copy, 1);
    expect(made()).toBeNull();
    const git = (...words: string[]) => execFileSync('git', ['-C', copy, ...words], { stdio: 'pipe' });
    git('init');
    git('-c', 'user.name=a', '-c', 'user.email=a@b.example', 'commit', '--allow-empty', '--message', 'One');
    const before = made();
    writeFileSync(join(copy, 'test/main.test.ts'), 'one');
    expect(made()).toEqual(before);
    writeFileSync(join(copy, 'src/main.ts'), 'two');
    expect(made()).not.toEqual(before);
    expect(packagesAreMadeFrom(copy, 2)).not.toEqual(made());
  });
});
