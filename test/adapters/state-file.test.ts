import { execFileSync } from 'node:child_process';
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSystemClock } from '../../src/adapters/clock.ts';
import {
  agentStateFolder,
  createSlots,
  openStateFile,
  runningWith,
  stateDirectory,
} from '../../src/adapters/state-file.ts';
import type { StateFile } from '../../src/ports/state-file.ts';
import { needs } from '../needs.ts';
import { createVirtualClock } from '../virtual-clock.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'dragoman-state-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** The content at the next start. */
async function found(path: string) {
  const file = openStateFile(path, createSystemClock());
  await file.opened;
  return file.read();
}
async function opened(path: string): Promise<StateFile> {
  const file = openStateFile(path, createSystemClock());
  await file.opened;
  return file;
}

describe('a state file', () => {
  it('is created with its directory, for its owner alone, and read again', async () => {
    const path = join(folder, 'a', 'b', 'commands.json');
    const file = await opened(path);
    expect(file.read()).toEqual({ kind: 'none' });
    expect(await file.write('one')).toEqual({ ok: true });
    expect(await file.write('two')).toEqual({ ok: true });
    expect(await found(path)).toEqual({ kind: 'text', text: 'two' });
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect(readdirSync(join(folder, 'a', 'b'))).toEqual(['commands.json']);
  });

  it('stays beside the new content when it was put aside, and only the first time', async () => {
    const path = join(folder, 'commands.json');
    writeFileSync(path, 'of a later version');
    const file = await opened(path);
    file.putAside?.();
    expect(readFileSync(path, 'utf8')).toBe('of a later version');
    expect(await file.write('one')).toEqual({ ok: true });
    expect(await file.write('two')).toEqual({ ok: true });
    expect(readFileSync(path, 'utf8')).toBe('two');
    expect(readFileSync(`${path}.aside`, 'utf8')).toBe('of a later version');
  });

  it('keeps its content when it cannot be written, and reports why', async () => {
    const path = join(folder, 'commands.json');
    const file = await opened(path);
    await file.write('old');
    // A directory with the draft's name blocks the write, even for root.
    mkdirSync(`${path}.tmp`);
    const failed = await file.write('new');
    expect(failed).toEqual({
      ok: false,
      message: expect.stringContaining('cannot be written: it is a folder'),
    });
    expect(readFileSync(path, 'utf8')).toBe('old');
    rmSync(`${path}.tmp`, { recursive: true, force: true });
    expect(await file.write('new')).toEqual({ ok: true });
  });

  it('replaces a draft that a power cut has left', async () => {
    const path = join(folder, 'commands.json');
    writeFileSync(`${path}.tmp`, 'half of a lin');
    const file = await opened(path);
    expect(file.read()).toEqual({ kind: 'none' });
    expect(await file.write('whole')).toEqual({ ok: true });
    expect(existsSync(`${path}.tmp`)).toBe(false);
  });

  it(
    'reports a missing write permission',
    needs(process.getuid?.() === 0 && 'needs a user who is not root'),
    async () => {
      chmodSync(folder, 0o500);
      expect(await (await opened(join(folder, 'x'))).write('a')).toMatchObject({ ok: false });
      chmodSync(folder, 0o700);
    },
  );

  it.each<[string, (path: string) => void, RegExp]>([
    ['a directory', (path) => mkdirSync(path), /^it is not a file$/],
    ['a pipe without a writer', (path) => execFileSync('mkfifo', [path]), /^it is not a file$/],
    [
      'far too large',
      (path) => writeFileSync(path, 'x'.repeat(5_000_000)),
      /^it is too large: 5000000 bytes$/,
    ],
    ['a link to itself', (path) => symlinkSync(path, path), /^its links form a loop$/],
    [
      'below a file',
      (path) => rmSync(path.replace(/commands\.json$/, ''), { recursive: true }),
      /^a part of its path is a file, not a folder$/,
    ],
  ])('is unreadable, and not missing, when it is %s', async (how, make, why) => {
    const path = join(folder, 'state', 'commands.json');
    mkdirSync(join(folder, 'state'));
    make(path);
    if (how === 'below a file') writeFileSync(join(folder, 'state'), '');
    expect(await found(path)).toEqual({ kind: 'unreadable', why: expect.stringMatching(why) });
  });

  it('is skipped when the disk takes longer than 2 s, and not overwritten', async () => {
    const path = join(folder, 'commands.json');
    writeFileSync(path, 'old');
    const clock = createVirtualClock();
    const file = openStateFile(path, clock);
    const late: unknown[] = [];
    clock.advance(2000);
    await file.opened;
    const reading = file.read();
    if (reading.kind !== 'awaited') throw new Error('it was read in no time');
    reading.whenFound((brought) => late.push(brought));
    expect(reading.isOverdue).toBe(true);
    expect(await file.write('new')).toEqual({ ok: false, message: `the file ${path} has not been read yet` });
    await expect.poll(() => late).toEqual([{ kind: 'text', text: 'old' }]);
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(await file.write('new')).toEqual({ ok: true });
  });
});

describe('slots', () => {
  it('limit running tasks, in order, even when some never end', async () => {
    const inTurn = createSlots(2);
    const begun: string[] = [];
    const work = (name: string, end: Promise<unknown>) =>
      inTurn(async () => {
        begun.push(name);
        await end;
      });
    void work('stuck', new Promise(() => {}));
    const failing = work('failing', Promise.reject(new Error('no')));
    const last = [work('third', Promise.resolve()), work('fourth', Promise.resolve())];
    expect(begun).toEqual(['stuck', 'failing']);
    await expect(failing).rejects.toThrow('no');
    await Promise.all(last);
    expect(begun).toEqual(['stuck', 'failing', 'third', 'fourth']);
  });
});

describe("an agent's state folder", () => {
  const home = { HOME: '/x' };
  it('differs for each configuration file outside of a service', () => {
    const [here, there] = ['/a/config.json', '/b/config.json'].map((file) =>
      agentStateFolder(runningWith(file, home)),
    );
    expect(here).toMatch(/^\/x\/.local\/state\/dragoman\/[0-9a-f]{12}$/);
    expect(there).not.toBe(here);
    expect(agentStateFolder(runningWith('/b/../a/config.json', home))).toBe(here);
  });

  it('is that of the service under systemd', () => {
    const env = { ...home, STATE_DIRECTORY: '/var/lib/dragoman' };
    expect(agentStateFolder(runningWith('/a/config.json', env))).toBe('/var/lib/dragoman');
  });
});

describe('the state directory', () => {
  it.each([
    [{ STATE_DIRECTORY: '/var/lib/dragoman:/var/lib/other', HOME: '/x' }, '/var/lib/dragoman'],
    [{ XDG_STATE_HOME: '/s', HOME: '/x' }, '/s/dragoman'],
    [{ XDG_STATE_HOME: 'relative', HOME: '/x' }, '/x/.local/state/dragoman'],
    [{ STATE_DIRECTORY: '' }, null],
    [{}, null],
  ])('is read from the environment %j: %s', (env, expected) => {
    expect(stateDirectory(env)).toBe(expected);
  });
});
